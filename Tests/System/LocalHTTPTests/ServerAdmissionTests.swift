// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Logging
import Testing

@testable import LocalHTTP

/// How many may come in, and what the others are told.
@Suite(.timeLimit(.minutes(5))) struct ServerAdmissionTests {
    @Test func `The ninth connection of a user is refused, and a place that gets free is given away`() async throws {
        let connections = Seen<HTTPConnection>()
        let handler: HTTPHandler = { request in
            connections.add(request.connection)
            return HTTPResponse(status: 204)
        }
        try await withServer(handler: handler) { path, _ in
            let sockets = try await blocking {
                try (0..<8).map { _ in
                    let socket = try RawSocket(path)
                    socket.send("GET / HTTP/1.1\r\n\r\n")
                    _ = socket.read(until: "\r\n\r\n")
                    return socket
                }
            }
            let refused = try await exchange("GET / HTTP/1.1\r\n\r\n", at: path)
            #expect(refused.status == 429)
            #expect(refused.contains("http.tooManyConnectionsOfUser"), "\(refused)")
            #expect(refused.contains("Retry-After: 1"))
            let first = try #require(connections.all.first)
            sockets.first?.close()
            await first.closed()
            let admitted = try await exchange("GET / HTTP/1.1\r\nConnection: close\r\n\r\n", at: path)
            #expect(admitted.status == 204, "\(admitted)")
        }
    }

    @Test func `Beyond all connections the server says that it is busy`() async throws {
        var limits = HTTPLimits.patient
        limits.connections = 2
        try await withServer(limits: limits, handler: { _ in HTTPResponse(status: 204) }) { path, _ in
            let sockets = try await blocking {
                try (0..<2).map { _ in
                    let socket = try RawSocket(path)
                    socket.send("GET / HTTP/1.1\r\n\r\n")
                    _ = socket.read(until: "\r\n\r\n")
                    return socket
                }
            }
            let refused = try await exchange("GET / HTTP/1.1\r\n\r\n", at: path)
            #expect(refused.status == 503)
            #expect(refused.contains("http.tooManyConnections\""), "\(refused)")
            #expect(sockets.count == 2)
        }
    }

    @Test func `Of two hundred connections at once each is answered, refused or closed, and none hangs`() async throws {
        var limits = HTTPLimits.patient
        limits.connectionsPerUser = 32
        try await withServer(limits: limits, handler: echo) { path, _ in
            let statuses = try await withThrowingTaskGroup(of: Int?.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        try await exchange("GET /\(number) HTTP/1.1\r\nConnection: close\r\n\r\n", at: path).status
                    }
                }
                return try await group.reduce(into: [Int?]()) { $0.append($1) }
            }
            #expect(statuses.count == 200)
            #expect(Set(statuses).isSubset(of: [200, 429, 503, nil]), "\(Set(statuses))")
            #expect(statuses.filter { $0 == 200 }.count >= 32)
            // And afterwards it is as if nothing had been.
            let after = try await exchange("GET / HTTP/1.1\r\nConnection: close\r\n\r\n", at: path)
            #expect(after.status == 200)
        }
    }

    @Test func `C1 Who has no business here takes no place, and each standing leaves places to the next`() {
        var limits = HTTPLimits.patient
        (limits.connections, limits.connectionsPerUser, limits.reserved) = (6, 6, 2)
        let table = ConnectionTable(limits: limits) { peer in
            PeerStanding(rawValue: Int(peer.groupID)) ?? PeerStanding.none
        }
        var held: [HTTPConnection] = []
        func come(_ standing: PeerStanding, uid: UInt32) -> ConnectionTable.Verdict {
            let peer = PeerCredentials(processID: 1, userID: uid, groupID: UInt32(standing.rawValue))
            let connection = HTTPConnection(peer: peer)
            held.append(connection)
            return table.admit(connection) {}
        }
        #expect((0..<4).allSatisfy { _ in come(.none, uid: 9) == .refused(.notAllowed) })
        #expect(come(.watching, uid: 1) == .admitted)
        #expect(come(.watching, uid: 1) == .admitted)
        #expect(come(.watching, uid: 1) == .refused(.tooManyConnections))
        #expect(come(.working, uid: 2) == .admitted)
        #expect(come(.working, uid: 2) == .admitted)
        #expect(come(.working, uid: 2) == .refused(.tooManyConnections))
        #expect(come(.working, uid: 2) == .dropped, "as many are told so as may be served")
        #expect(come(.administering, uid: 0) == .admitted)
        held.first?.closing.happen()
        #expect(come(.working, uid: 2) == .refused(.tooManyConnections))
    }

    @Test func `Who speaks for others is counted apart from everybody, streams included`() {
        var limits = HTTPLimits.patient
        (limits.connections, limits.connectionsPerUser, limits.relayed) = (5, 1, 3)
        (limits.streams, limits.streamsPerUser) = (1, 1)
        let table = ConnectionTable(limits: limits) { $0.groupID == 50 ? .relaying : .working }
        func come(_ group: UInt32) -> (HTTPConnection, ConnectionTable.Verdict) {
            let connection = HTTPConnection(peer: PeerCredentials(processID: 1, userID: 7, groupID: group))
            return (connection, table.admit(connection) {})
        }
        let (other, verdict) = come(1)
        #expect(verdict == .admitted && come(1).1 == .refused(.tooManyConnectionsOfUser))
        let relayed = (0..<3).map { _ in come(50) }
        #expect(relayed.allSatisfy { $0.1 == .admitted }, "neither within those of all nor within those of the user")
        #expect(relayed.allSatisfy { table.beginStream($0.0) == nil }, "streams of all are not theirs")
        #expect(come(50).1 == .refused(.tooManyConnectionsOfUser), "a stream keeps its place")
        relayed[0].0.closing.happen()
        let (next, again) = come(50)
        #expect(again == .admitted)
        #expect(table.beginStream(other) == nil && table.beginStream(next) == nil)
    }

    @Test(
        "A4: two hundred idle connections of strangers keep nobody out who shows a token, nor anybody who comes after them"
    )
    func strangers() async throws {
        var limits = HTTPLimits.patient
        (limits.connections, limits.connectionsPerUser, limits.strangers) = (8, 8, 16)
        limits.strangerTime = limits.idleTime
        let handler: HTTPHandler = { request in
            if request.fields.contains("Authorization") { request.connection.vouch() }
            return HTTPResponse(status: 204)
        }
        let known = "GET / HTTP/1.1\r\nAuthorization: x\r\n\r\n"
        try await withServer(limits: limits, handler: handler) { path, _ in
            try await blocking {
                let before = try RawSocket(path)
                before.send(known)
                #expect(before.read(until: "\r\n\r\n").status == 204)
                let idle = try (0..<200).map { _ in try RawSocket(path) }
                for number in 0..<20 {
                    let socket = try RawSocket(path)
                    socket.send(number.isMultiple(of: 2) ? known : "GET / HTTP/1.1\r\n\r\n")
                    #expect(socket.read(until: "\r\n\r\n").status == 204, "\(number)")
                }
                before.send(known)
                #expect(before.read(until: "\r\n\r\n").status == 204, "its place is its own")
                #expect(idle.count == 200)
            }
        }
    }

    @Test(
        "A4: of strangers the one that was quiet for longest gives way, none while it is answered, and each place is counted once"
    )
    func strangersGiveWay() {
        var limits = HTTPLimits.patient
        (limits.connections, limits.connectionsPerUser, limits.strangers) = (1, 1, 2)
        let table = ConnectionTable(limits: limits)
        let gone = Seen<Int>()
        var all: [HTTPConnection] = []
        func come() -> ConnectionTable.Verdict {
            let (number, connection) = (all.count, HTTPConnection(peer: .unknown))
            all.append(connection)
            return table.admit(connection, dismiss: { gone.add(number) }) {}
        }
        #expect(come() == .admitted && come() == .admitted && all[0].isStranger)
        table.asks(all[0], true)
        table.asks(all[0], false)
        #expect(come() == .admitted && gone.all == [1], "the first has asked since")
        table.asks(all[0], true)
        table.asks(all[2], true)
        #expect(come() == .dropped && gone.all == [1], "nobody gives way who is being answered")
        table.asks(all[2], false)
        all[0].vouch()
        #expect(!all[0].isStranger && come() == .admitted && gone.all == [1], "whoever is vouched for leaves its place")
        all[2].vouch()
        #expect(come() == .admitted && gone.all == [1, 2], "beyond the known ones it stays a stranger's place")
        #expect(
            table.beginStream(all[4]) == nil && come() == .admitted && gone.all == [1, 2], "a stream takes no place")
        for connection in all { connection.closing.happen() }
        #expect(come() == .admitted && come() == .admitted && gone.all == [1, 2])
    }

    @Test("A4: a stranger's connection is short, and a vouched one is not")
    func strangersAreShort() async throws {
        var limits = HTTPLimits.patient
        (limits.strangers, limits.strangerTime) = (16, .seconds(3))
        let connections = Seen<HTTPConnection>()
        let handler: HTTPHandler = { request in
            connections.add(request.connection)
            if request.fields.contains("Authorization") { request.connection.vouch() }
            return HTTPResponse(status: 204)
        }
        try await withServer(limits: limits, handler: handler) { path, _ in
            let socket = try await blocking {
                let known = try RawSocket(path)
                known.send("GET / HTTP/1.1\r\nAuthorization: x\r\n\r\n")
                _ = known.read(until: "\r\n\r\n")
                let stranger = try RawSocket(path)
                stranger.send("GET / HTTP/1.1\r\n\r\n")
                _ = stranger.readToEnd()
                return known
            }
            #expect(connections.all.count == 2 && connections.all.first?.isClosed == false)
            socket.close()
        }
    }

    @Test func `A connection belongs to the first who speaks on it`() {
        let connection = HTTPConnection(peer: PeerCredentials(processID: 1, userID: 7, groupID: 7))
        #expect(connection.belongs(to: "a") && connection.belongs(to: "a"))
        #expect(!connection.belongs(to: "b") && connection.belongs(to: "a"))
    }

    @Test func `C1 A stream of events leaves its place to another connection, and there are only so many`() {
        var limits = HTTPLimits.patient
        (limits.connections, limits.connectionsPerUser) = (2, 2)
        (limits.streams, limits.streamsPerUser) = (3, 2)
        let table = ConnectionTable(limits: limits)
        func come(_ uid: UInt32) -> (HTTPConnection, ConnectionTable.Verdict) {
            let connection = HTTPConnection(peer: PeerCredentials(processID: 1, userID: uid, groupID: 1))
            return (connection, table.admit(connection) {})
        }
        var streams: [HTTPConnection] = []
        for _ in 0..<2 {
            let (connection, verdict) = come(1)
            #expect(verdict == .admitted)
            #expect(table.beginStream(connection) == nil)
            streams.append(connection)
        }
        let (third, verdict) = come(1)
        #expect(verdict == .admitted, "streams take no places")
        #expect(table.beginStream(third) == .tooManyStreams, "of this user")
        let (other, _) = come(2)
        #expect(table.beginStream(other) == nil)
        let (another, _) = come(3)
        #expect(table.beginStream(another) == .tooManyStreams, "of all")
        streams[0].closing.happen()
        #expect(table.beginStream(another) == nil)
    }

    @Test func `C3 A user who connects and closes in a loop is slowed down, and nobody else`() {
        var limits = HTTPLimits.patient
        limits.connectionsPerSecond = 10
        let table = ConnectionTable(limits: limits)
        func come(_ uid: UInt32, at milliseconds: Int64) -> Bool {
            table.isInPace(uid, at: 1_000_000_000 + UInt64(milliseconds) * 1_000_000)
        }
        #expect((0..<40).allSatisfy { _ in come(1, at: 0) })
        #expect(!come(1, at: 0))
        #expect(come(2, at: 0))
        #expect(!come(1, at: 99))
        #expect(come(1, at: 100))
    }

    @Test func `Shutting down answers what runs, closes what idles, and removes the socket`() async throws {
        try await withFolder { folder in
            let path = folder + "/s"
            let arrived = Gate()
            let mayAnswer = Gate()
            let server = HTTPServer(
                socket: try ListeningSocket(path: path), logger: Logger(label: "test"),
                handler: { request in
                    if request.path == ["idle"] { return HTTPResponse(status: 204) }
                    arrived.open()
                    await mayAnswer.wait()
                    return await echo(request)
                })
            let running = Task { try await server.run() }
            let idle = try await blocking {
                let socket = try RawSocket(path)
                socket.send("GET /idle HTTP/1.1\r\n\r\n")
                _ = socket.read(until: "\r\n\r\n")
                return socket
            }
            let busy = Task { try await exchange("GET /busy HTTP/1.1\r\n\r\n", at: path) }
            await arrived.wait()
            server.shutDown(grace: .seconds(60))
            #expect(try await blocking { idle.readToEnd() } == "")
            mayAnswer.open()
            let answer = try await busy.value
            #expect(answer.contains("[\"busy\"]"))
            #expect(answer.lowercased().contains("connection: close"))
            try await running.value
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test func `When the grace is over, run returns though a handler waits for its client`() async throws {
        try await withFolder { folder in
            let arrived = Gate()
            let server = HTTPServer(
                socket: try ListeningSocket(path: folder + "/s"), logger: Logger(label: "test"),
                handler: { request in
                    arrived.open()
                    await request.connection.closed()
                    return HTTPResponse(status: 204)
                })
            let running = Task { try await server.run() }
            let client = Task { try await exchange("GET / HTTP/1.1\r\n\r\n", at: folder + "/s") }
            await arrived.wait()
            server.shutDown(grace: .milliseconds(10))
            try await running.value
            #expect(try await client.value == "")
            await #expect(throws: ListenError.notListening) { try await server.run() }
        }
    }
}
