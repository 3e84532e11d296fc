// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Testing

@testable import LocalHTTP

/// Whole connections: kept, counted, told apart, noticed when they go.
@Suite(.timeLimit(.minutes(5))) struct ServerConnectionTests {
    @Test func `Requests of one connection are answered one after the other`() async throws {
        try await withServer(handler: echo) { path, _ in
            let text = try await blocking {
                let socket = try RawSocket(path)
                socket.send("GET /v1/lanes/a%2Fb?wait=3&order=A+%C3%A4&flag HTTP/1.1\r\nHost: x\r\n\r\n")
                let first = socket.read(until: "\"]")
                socket.send("POST /two HTTP/1.1\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc")
                return first + socket.readToEnd()
            }
            #expect(text.contains("GET [\"v1\", \"lanes\", \"a/b\"] [wait=3,order=A ä,flag=]"), "\(text)")
            #expect(text.contains("POST [\"two\"] [] abc"), "\(text)")
        }
    }

    @Test func `A request cut into single bytes is understood`() async throws {
        try await withServer(handler: echo) { path, _ in
            let text = try await blocking {
                let socket = try RawSocket(path)
                for byte in "POST /cut HTTP/1.1\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody".utf8 {
                    socket.send([byte])
                }
                return socket.readToEnd()
            }
            #expect(text.contains("POST [\"cut\"] [] body"), "\(text)")
        }
    }

    @Test func `A body that is not UTF-8 reaches the handler as bytes`() async throws {
        try await withServer(handler: echo) { path, _ in
            let head = "POST / HTTP/1.1\r\nConnection: close\r\nContent-Length: 2\r\n\r\n"
            let answer = try await exchange(Array(head.utf8) + [0xFF, 0xFE], at: path)
            #expect(answer.hasSuffix("not UTF-8"), "\(answer)")
        }
    }

    @Test func `HEAD is answered like GET, without the body`() async throws {
        try await withServer(handler: echo) { path, _ in
            let answer = try await exchange("HEAD / HTTP/1.1\r\nConnection: close\r\n\r\n", at: path)
            #expect(answer.status == 200)
            #expect(answer.hasSuffix("\r\n\r\n"), "\(answer)")
            #expect(answer.contains("Content-Length: \("GET [] [] ".utf8.count)"), "\(answer)")
        }
    }

    @Test func `A client that waits for 100 Continue gets it, then the answer`() async throws {
        try await withServer(handler: echo) { path, _ in
            let answer = try await blocking {
                let socket = try RawSocket(path)
                socket.send("POST / HTTP/1.1\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
                let interim = socket.read(until: "\r\n\r\n")
                socket.send("body")
                return interim + socket.readToEnd()
            }
            #expect(answer.hasPrefix("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"), "\(answer)")
        }
    }

    @Test func `An answer with status 204 has neither body nor length`() async throws {
        try await withServer(handler: { _ in HTTPResponse(status: 204, body: .bytes([1])) }) { path, _ in
            let answer = try await exchange("DELETE / HTTP/1.1\r\nConnection: close\r\n\r\n", at: path)
            #expect(answer.status == 204)
            #expect(!answer.lowercased().contains("content-length"), "\(answer)")
        }
    }

    @Test func `A field's value cannot start a line of its own`() async throws {
        let split: HTTPHandler = { _ in HTTPResponse(status: 200, fields: ["X": "a\r\nSet-Cookie: b"]) }
        try await withServer(handler: split) { path, _ in
            let answer = try await exchange("GET / HTTP/1.1\r\nConnection: close\r\n\r\n", at: path)
            #expect(answer.contains("X: a  Set-Cookie: b\r\n"), "\(answer)")
        }
    }

    @Test func `The handler knows the peer's process, user and groups`() async throws {
        let peers = Seen<PeerCredentials>()
        try await withServer(
            handler: { request in
                peers.add(request.peer)
                return HTTPResponse(status: 204)
            }
        ) { path, _ in
            _ = try await exchange("GET / HTTP/1.1\r\nConnection: close\r\n\r\n", at: path)
        }
        let peer = try #require(peers.all.first)
        #expect(peer.processID == getpid())
        #expect(peer.userID == getuid())
        #expect(peer.groupID == getgid())
        var groups = [gid_t](repeating: 0, count: 65_536)
        let count = unsafe getgroups(65_536, &groups)
        #expect(peer.supplementaryGroupIDs.sorted() == groups.prefix(Int(count)).sorted())
        #expect(peer.isMember(ofGroup: getgid()))
        #expect(!peer.isMember(ofGroup: 4_000_000_000))
    }

    @Test func `A half-closed client gets its answer, and counts as connected until then`() async throws {
        let connections = Seen<HTTPConnection>()
        let mayAnswer = Gate()
        let arrived = Gate()
        try await withServer(
            handler: { request in
                connections.add(request.connection)
                arrived.open()
                await mayAnswer.wait()
                return await echo(request)
            }
        ) { path, _ in
            let answer = Task {
                try await blocking {
                    let socket = try RawSocket(path)
                    socket.send("GET /half HTTP/1.1\r\n\r\n")
                    socket.halfClose()
                    return socket.readToEnd()
                }
            }
            await arrived.wait()
            let connection = try #require(connections.all.first)
            #expect(!connection.isClosed)
            mayAnswer.open()
            #expect(try await answer.value.contains("[\"half\"]"))
            await connection.closed()
            #expect(connection.isClosed)
        }
    }

    @Test func `A handler that still works is told that its client has gone`() async throws {
        let gone = Gate()
        let arrived = Gate()
        try await withServer(
            handler: { request in
                request.connection.onClose { gone.open() }
                arrived.open()
                await request.connection.closed()
                return HTTPResponse(status: 204)
            }
        ) { path, _ in
            let socket = try await blocking {
                let socket = try RawSocket(path)
                socket.send("GET / HTTP/1.1\r\n\r\n")
                return socket
            }
            await arrived.wait()
            #expect(!gone.isOpen)
            socket.close()
            await gone.wait()
        }
    }

    @Test func `A forgotten observer is not called, a late one at once`() async throws {
        let connection = HTTPConnection(peer: PeerCredentials(processID: 1, userID: 2, groupID: 3))
        let called = Gate()
        let observation = connection.onClose { Issue.record("called in spite of cancel") }
        observation.cancel()
        let waiting = Task { await connection.closed() }
        waiting.cancel()
        await waiting.value
        #expect(!connection.isClosed)
        connection.closing.happen()
        connection.onClose { called.open() }
        #expect(called.isOpen)
    }

    @Test func `An idle connection is closed without a word, one that is held is not`() async throws {
        var limits = HTTPLimits.patient
        limits.idleTime = .milliseconds(1_500)
        let connections = Seen<HTTPConnection>()
        let handler: HTTPHandler = { request in
            if request.path == ["hold"] { request.connection.hold() }
            connections.add(request.connection)
            return HTTPResponse(status: 204)
        }
        try await withServer(limits: limits, handler: handler) { path, _ in
            #expect(try await exchange("", at: path) == "")
            let held = try await blocking {
                let socket = try RawSocket(path)
                socket.send("GET /hold HTTP/1.1\r\n\r\n")
                _ = socket.read(until: "\r\n\r\n")
                return socket
            }
            // Another comes and is closed for being idle, while this one stays.
            #expect(try await exchange("", at: path) == "")
            #expect(!held.isReadable(within: 0))
            connections.all.first?.release()
            #expect(try await blocking { held.readToEnd() } == "")
        }
    }

    @Test func `A client that does not read its answer is freed`() async throws {
        var limits = HTTPLimits.patient
        limits.drainTime = .milliseconds(100)
        let connections = Seen<HTTPConnection>()
        let large: HTTPHandler = { request in
            connections.add(request.connection)
            return HTTPResponse(status: 200, body: .bytes([UInt8](repeating: 0x61, count: 4_000_000)))
        }
        try await withServer(limits: limits, handler: large) { path, _ in
            let socket = try await blocking {
                let socket = try RawSocket(path)
                socket.send("GET / HTTP/1.1\r\n\r\n")
                _ = socket.isReadable(within: 20_000)
                return socket
            }
            let connection = try #require(connections.all.first)
            await connection.closed()
            let rest = try await blocking { socket.readToEnd() }
            #expect(rest.utf8.count < 4_000_000)
        }
    }
}
