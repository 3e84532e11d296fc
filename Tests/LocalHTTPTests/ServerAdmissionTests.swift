// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LocalHTTP
import Logging
import Testing

/// How many may come in, and what the others are told.
@Suite(.timeLimit(.minutes(1))) struct ServerAdmissionTests {
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
