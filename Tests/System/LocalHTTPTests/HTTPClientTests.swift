// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Testing

@testable import LocalHTTP

/// What the client says of servers that are not there, go away, or talk nonsense.
@Suite(.timeLimit(.minutes(5))) struct HTTPClientTests {
    private let get = HTTPClientRequest(.get, "/")

    /// The error of one request; `nil` where there was an answer.
    private func failure(
        _ path: String, _ request: HTTPClientRequest, within time: Duration = .seconds(20), limit: Int? = nil
    ) async -> HTTPClientError? {
        var client = HTTPClient(path: path)
        if let limit { client.maximumAnswerBytes = limit }
        do throws(HTTPClientError) {
            _ = try await client.send(request, answerWithin: time)
            return nil
        } catch {
            return error
        }
    }

    @Test func `A request arrives as it was meant, and the answer too`() async throws {
        try await withServer(handler: echo) { path, _ in
            let segment = HTTPClientRequest.percentEncoded("a/b ä%")
            #expect(segment == "a%2Fb%20%C3%A4%25")
            let request = HTTPClientRequest(.post, "/v1/\(segment)?q=\(segment)", body: Array("body".utf8))
            let answer = try await HTTPClient(path: path).send(request, answerWithin: .seconds(20))
            #expect(answer.status == 200)
            #expect(answer.fields.only("content-type") == "text/plain")
            #expect(String(decoding: answer.body, as: UTF8.self) == "POST [\"v1\", \"a/b ä%\"] [q=a/b ä%] body")
        }
    }

    @Test func `Without a server nothing was sent, and the reason is told`() async throws {
        try await withFolder { folder in
            #expect(await failure(folder + "/none", get) == .notConnected(.noServer))
            let stale = try ScriptedServer.listen(at: folder + "/stale")
            _ = close(stale)
            #expect(await failure(folder + "/stale", get) == .notConnected(.refused))
            #expect(await failure("/" + String(repeating: "x", count: 107), get) == .notConnected(.pathNotUsable))
            #expect(await failure("", get) == .notConnected(.pathNotUsable))
        }
    }

    @Test func `A server that accepts nobody is given up after the connect time`() async throws {
        try await withFolder { folder in
            let listener = try ScriptedServer.listen(at: folder + "/s", backlog: 0)
            defer { _ = close(listener) }
            let first = try RawSocket(folder + "/s")
            #expect(await failure(folder + "/s", get) == .notConnected(.timedOut))
            first.close()
        }
    }

    @Test(arguments: ["no/slash", "/a b", "/ä", "/a\r\nX: y", ""])
    func `A target that would change the request is not sent`(_ target: String) async {
        #expect(await failure("/nowhere", HTTPClientRequest(.get, target)) == .notConnected(.unsendable))
    }

    @Test func `A method or field name that is none is not sent`() async {
        let method = HTTPClientRequest(HTTPMethod(rawValue: "GET /x"), "/")
        #expect(await failure("/nowhere", method) == .notConnected(.unsendable))
        let field = HTTPClientRequest(.get, "/", fields: ["a: b\r\nc": "d"])
        #expect(await failure("/nowhere", field) == .notConnected(.unsendable))
    }

    struct Script: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let answer: String
        let ending: ScriptedServer.Ending
        let expected: HTTPClientError
    }

    static let scripts: [Script] = [
        Script(testDescription: "closes at once", answer: "", ending: .close, expected: .noAnswer(.closed)),
        Script(testDescription: "says nothing", answer: "", ending: .stayOpen, expected: .noAnswer(.timedOut)),
        Script(
            testDescription: "no HTTP", answer: "SSH-2.0-OpenSSH\r\n\r\n", ending: .stayOpen,
            expected: .badAnswer(.malformed)),
        Script(
            testDescription: "half a head", answer: "HTTP/1.1 200 OK\r\nConte", ending: .close,
            expected: .badAnswer(.truncated)),
        Script(
            testDescription: "half a body", answer: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", ending: .close,
            expected: .badAnswer(.truncated)),
        Script(
            testDescription: "half a body, then silence",
            answer: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", ending: .stayOpen,
            expected: .badAnswer(.truncated)),
        Script(
            testDescription: "half a chunk", answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf",
            ending: .close, expected: .badAnswer(.truncated)),
        Script(
            testDescription: "broken chunk", answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
            ending: .stayOpen, expected: .badAnswer(.malformed)),
        Script(
            testDescription: "too large",
            answer: "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"
                + String(repeating: "a", count: 99), ending: .stayOpen, expected: .badAnswer(.tooLarge)),
        Script(
            testDescription: "endless header", answer: "HTTP/1.1 200 OK\r\nX: " + String(repeating: "a", count: 20_000),
            ending: .stayOpen, expected: .badAnswer(.tooLarge)),
    ]

    @Test(arguments: scripts)
    func `A server that misbehaves is told apart from one that is away`(_ script: Script) async throws {
        try await withFolder { folder in
            try await ScriptedServer.serve(at: folder + "/s", Array(script.answer.utf8), script.ending) {
                // Long enough for the half that comes, on a busy machine too.
                let isSilent = [.noAnswer(.timedOut), .badAnswer(.truncated)].contains(script.expected)
                let time: Duration = isSilent && script.ending == .stayOpen ? .seconds(3) : .seconds(20)
                let error = await failure(folder + "/s", HTTPClientRequest(.post, "/"), within: time, limit: 50)
                #expect(error == script.expected)
                #expect(error?.isSafeToRepeat == false)
            }
        }
    }

    @Test func `An answer that ends with the connection is whole`() async throws {
        try await withFolder { folder in
            let text = "HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{}"
            try await ScriptedServer.serve(at: folder + "/s", Array(text.utf8), .close) {
                let answer = try await HTTPClient(path: folder + "/s").send(get, answerWithin: .seconds(20))
                #expect(answer.body == Array("{}".utf8))
            }
        }
    }

    /// Laravel's and Django's pages of an error have more than 64 KiB: their status is an answer all the same.
    @Test(arguments: [
        (String(repeating: "a", count: 400_000), 400_000, ScriptedServer.Ending.stayOpen), ("half", 9, .close),
        ("half", 9, .stayOpen),
    ])
    func `H6: where the head is all that counts, a body of any size takes nothing back`(
        _ body: String, _ length: Int, _ ending: ScriptedServer.Ending
    ) async throws {
        try await withFolder { folder in
            let text = "HTTP/1.1 410 Gone\r\nContent-Length: \(length)\r\n\r\n\(body)"
            try await ScriptedServer.serve(at: folder + "/s", Array(text.utf8), ending) {
                var client = HTTPClient(path: folder + "/s")
                client.wantsHeadOnly = true
                let time: Duration = body.utf8.count == length || ending == .close ? .seconds(20) : .seconds(1)
                let answer = try await client.send(HTTPClientRequest(.post, "/"), answerWithin: time)
                #expect(answer.status == 410 && answer.body.isEmpty)
            }
        }
    }

    @Test func `A request that was begun arrives although nobody waits for its answer yet`() async throws {
        let arrived = Gate()
        let handler: HTTPHandler = { request in
            arrived.open()
            return await echo(request)
        }
        try await withServer(handler: handler) { path, _ in
            var connection: HTTPClientConnection? = try await HTTPClient(path: path).connect()
            let pending = try connection?.begin(HTTPClientRequest(.get, "/early"), answerWithin: .seconds(20))
            await arrived.wait()
            // What is pending keeps the connection.
            connection = nil
            let answer = try await #require(pending).answer()
            #expect(String(decoding: answer.body, as: UTF8.self).hasPrefix("GET [\"early\"]"))
        }
    }

    @Test func `What cannot be sent is not begun, and on a connection that is closed nothing is sent`() async throws {
        try await withServer(handler: echo) { path, _ in
            let connection = try await HTTPClient(path: path).connect()
            #expect(throws: HTTPClientError.notConnected(.unsendable)) {
                try connection.begin(HTTPClientRequest(.get, "no/slash"), answerWithin: .seconds(1))
            }
            await connection.close()
            let pending = try connection.begin(get, answerWithin: .seconds(20))
            await #expect(throws: HTTPClientError.notConnected(.closed)) { try await pending.answer() }
        }
    }

    @Test func `A kept connection serves request after request, also when they are sent at once`() async throws {
        let connections = Seen<UInt64>()
        let handler: HTTPHandler = { request in
            connections.add(request.connection.id)
            return await echo(request)
        }
        try await withServer(handler: handler) { path, _ in
            let connection = try await HTTPClient(path: path).connect()
            try await withThrowingTaskGroup(of: (Int, String).self) { group in
                for number in 0..<10 {
                    group.addTask {
                        let request = HTTPClientRequest(.get, "/\(number)")
                        let answer = try await connection.send(request, answerWithin: .seconds(20))
                        return (number, String(decoding: answer.body, as: UTF8.self))
                    }
                }
                for try await (number, text) in group { #expect(text.hasPrefix("GET [\"\(number)\"]")) }
            }
            #expect(connection.isOpen)
            await connection.close()
            await #expect(throws: HTTPClientError.notConnected(.closed)) {
                try await connection.send(get, answerWithin: .seconds(20))
            }
        }
        #expect(Set(connections.all).count == 1)
        #expect(connections.all.count == 10)
    }

    @Test func `Letting go of a kept connection closes it`() async throws {
        let connections = Seen<HTTPConnection>()
        let handler: HTTPHandler = { request in
            connections.add(request.connection)
            return HTTPResponse(status: 204)
        }
        try await withServer(handler: handler) { path, _ in
            _ = try await HTTPClient(path: path).connect().send(get, answerWithin: .seconds(20))
            let connection = try #require(connections.all.first)
            await connection.closed()
        }
    }

    @Test func `Cancelling a request in flight ends it, and the server sees the client go`() async throws {
        let arrived = Gate()
        let gone = Gate()
        let handler: HTTPHandler = { request in
            arrived.open()
            await request.connection.closed()
            gone.open()
            return HTTPResponse(status: 204)
        }
        try await withServer(handler: handler) { path, _ in
            let asking = Task { await failure(path, get) }
            await arrived.wait()
            asking.cancel()
            #expect(await asking.value == .noAnswer(.cancelled))
            await gone.wait()
        }
    }

    @Test func `A request of a task that is cancelled already is not sent`() async throws {
        try await withServer(handler: echo) { path, _ in
            let mayAsk = Gate()
            let asking = Task {
                await mayAsk.wait()
                return await failure(path, get)
            }
            asking.cancel()
            mayAsk.open()
            #expect(await asking.value == .notConnected(.cancelled))
        }
    }
}
