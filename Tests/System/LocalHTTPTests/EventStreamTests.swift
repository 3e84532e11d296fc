// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import Testing

/// Streams of events over real sockets, from the server to the client of this module.
@Suite(.timeLimit(.minutes(5))) struct EventStreamTests {
    private let get = HTTPClientRequest(.get, "/events", fields: ["Last-Event-ID": "41"])

    @Test func `Events arrive while the stream is open, and the end is an end`() async throws {
        let queue = EventQueue()
        try await withServer(handler: { _ in .events(queue) }) { path, _ in
            var events = try await HTTPClient(path: path).events(get, answerWithin: .seconds(20)).makeAsyncIterator()
            for number in 1...3 {
                queue.send(ServerSentEvent(id: "\(number)", name: "n", data: "d"))
                #expect(try await events.next() == ServerSentEvent(id: "\(number)", name: "n", data: "d"))
            }
            queue.finish()
            #expect(try await events.next() == nil)
        }
    }

    @Test
    func `T51: The handler sees the cursor, the client the stream's type, and a proxy that it may hold nothing back`()
        async throws
    {
        let cursors = Seen<String?>()
        let handler: HTTPHandler = { request in
            cursors.add(request.fields.only("last-event-id"))
            let queue = EventQueue()
            queue.send(ServerSentEvent(data: "x"))
            queue.finish()
            return .events(queue)
        }
        try await withServer(handler: handler) { path, _ in
            let text = try await exchange("GET / HTTP/1.1\r\nLast-Event-ID: 41\r\n\r\n", at: path)
            #expect(text.contains("Content-Type: text/event-stream\r\n"))
            #expect(text.contains("Cache-Control: no-store\r\n"))
            #expect(text.contains("X-Accel-Buffering: no\r\n"))
            #expect(text.contains("data: x\n\n"), "\(text)")
        }
        #expect(cursors.all == ["41"])
    }

    @Test func `A quiet stream carries a comment now and then`() async throws {
        var limits = HTTPLimits.patient
        limits.heartbeat = .milliseconds(30)
        try await withServer(limits: limits, handler: { _ in .events(EventQueue()) }) { path, _ in
            let text = try await blocking {
                let socket = try RawSocket(path)
                socket.send("GET / HTTP/1.1\r\n\r\n")
                return socket.read(until: ":\n\n") + socket.read(until: ":\n\n")
            }
            #expect(text.contains(":\n\n"))
        }
    }

    @Test func `When the client leaves, the producer is told and may stop`() async throws {
        let queue = EventQueue()
        let ended = Gate()
        queue.onEnd { ended.open() }
        try await withServer(handler: { _ in .events(queue) }) { path, _ in
            let socket = try await blocking {
                let socket = try RawSocket(path)
                socket.send("GET / HTTP/1.1\r\n\r\n")
                _ = socket.read(until: "\r\n\r\n")
                return socket
            }
            #expect(queue.send(ServerSentEvent(data: "x")) == .queued)
            socket.close()
            await ended.wait()
            #expect(queue.send(ServerSentEvent(data: "x")) == .closed)
        }
    }

    @Test func `A client that does not read overflows, is told so last, and is let go`() async throws {
        let queue = EventQueue()
        let ended = Gate()
        queue.onEnd { ended.open() }
        try await withServer(handler: { _ in .events(queue) }) { path, _ in
            let socket = try await blocking {
                let socket = try RawSocket(path)
                socket.send("GET / HTTP/1.1\r\n\r\n")
                _ = socket.read(until: "\r\n\r\n")
                return socket
            }
            let event = ServerSentEvent(name: "n", data: String(repeating: "x", count: 10_000))
            var sent = 0
            while queue.send(event) == .queued, sent < 10_000 {
                sent += 1
                await Task.yield()
            }
            #expect(sent < 10_000, "the queue is bounded")
            let text = try await blocking { socket.readToEnd() }
            await ended.wait()
            #expect(text.contains("event: overflow\n"), "\(text.suffix(100))")
            #expect(text.utf8.count < 2_000_000)
        }
    }

    @Test func `A client that never reads again is closed, overflow or not`() async throws {
        var limits = HTTPLimits.patient
        limits.drainTime = .milliseconds(100)
        let queue = EventQueue()
        let ended = Gate()
        queue.onEnd { ended.open() }
        try await withServer(limits: limits, handler: { _ in .events(queue) }) { path, _ in
            let socket = try await blocking {
                let socket = try RawSocket(path)
                socket.send("GET / HTTP/1.1\r\n\r\n")
                _ = socket.read(until: "\r\n\r\n")
                return socket
            }
            let event = ServerSentEvent(data: String(repeating: "x", count: 10_000))
            while queue.send(event) == .queued { await Task.yield() }
            await ended.wait()
            #expect(socket.isReadable(within: 0))
        }
    }

    @Test func `A client too slow for its events loses none while the server's queue holds them`() async throws {
        let queue = EventQueue(maximumEvents: 100_000, maximumBytes: 100_000_000)
        try await withServer(handler: { _ in .events(queue) }) { path, _ in
            let stream = try await HTTPClient(path: path).events(get, answerWithin: .seconds(20))
            for number in 0..<5_000 { queue.send(ServerSentEvent(id: "\(number)", data: "d")) }
            queue.finish()
            var expected = 0
            for try await event in stream {
                #expect(event.id == "\(expected)")
                expected += 1
            }
            #expect(expected == 5_000)
        }
    }

    @Test func `Shutting down ends the streams after what is queued`() async throws {
        let queue = EventQueue()
        try await withServer(handler: { _ in .events(queue) }) { path, server in
            var events = try await HTTPClient(path: path).events(get, answerWithin: .seconds(20)).makeAsyncIterator()
            queue.send(ServerSentEvent(data: "last"))
            server.shutDown(grace: .seconds(60))
            #expect(try await events.next()?.data == "last")
            #expect(try await events.next() == nil)
        }
    }

    @Test func `Another answer than a stream is an error with the answer in it`() async throws {
        let handler: HTTPHandler = { request in
            request.path == ["text"] ? HTTPResponse(status: 200, body: .bytes([1])) : .json(403, Array("{}".utf8))
        }
        try await withServer(handler: handler) { path, _ in
            let client = HTTPClient(path: path)
            await #expect(throws: HTTPClientError.badAnswer(.notAnEventStream)) {
                try await client.events(HTTPClientRequest(.get, "/text"), answerWithin: .seconds(20))
            }
            do throws(HTTPClientError) {
                _ = try await client.events(get, answerWithin: .seconds(20))
                Issue.record("a stream in spite of status 403")
            } catch .badAnswer(.refused(let answer)) {
                #expect(answer.status == 403)
                #expect(answer.body == Array("{}".utf8))
            } catch {
                Issue.record("\(error)")
            }
        }
    }
}
