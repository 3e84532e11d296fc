// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import POSAPI
import PaymentValues
import Testing

@testable import TapClient

@Suite(.timeLimit(.minutes(5))) struct TapTransactionTests {
    @Test func `Starting sends the request with its key, and waiting goes over the same connection`() async throws {
        let started = try Sample.transaction(.created)
        let states: [TransactionState] = [.armed, .unknown, .approved]
        let questions = Journal<UInt64>()
        let starts = Journal<UInt64>()
        let request = try Sample.request()
        let settled = try states.map(Sample.transaction)
        let handler: HTTPHandler = { call in
            if call.method == .post {
                starts.add(call.connection.id)
                let isAsSent = (try? WireJSON.decode(TransactionRequest.self, from: call.body)) == request
                guard isAsSent, call.fields.only("Idempotency-Key") == "sale-1" else { return .refusal(.internalFault) }
                return .message(201, started)
            }
            let index = questions.add(call.connection.id)
            return .message(200, settled[min(index, 2)])
        }
        try await TestDaemon.run(handler) { client in
            let tap = try await client.start(request, idempotencyKey: "sale-1")
            #expect(tap.started == started)
            #expect(tap.id == Sample.id)
            #expect(try await tap.settled().state == .approved)
        }
        #expect(questions.all.count == 3)
        #expect(Set(questions.all) == Set(starts.all))
    }

    @Test func `A lost answer is asked for again with the same key, on another connection`() async throws {
        let keys = Journal<String?>()
        let started = try Sample.transaction(.created)
        let handler: HTTPHandler = { call in
            if keys.add(call.fields.only("Idempotency-Key")) == 0 {
                await call.connection.closed()
                return HTTPResponse(status: 204)
            }
            return .message(201, started)
        }
        try await TestDaemon.run(handler) { client in
            var client = client
            client.answerTime = .seconds(3)
            let tap = try await client.start(try Sample.request(), idempotencyKey: "sale-1")
            #expect(tap.id == started.id)
        }
        #expect(keys.all == ["sale-1", "sale-1"])
    }

    @Test func `A start that is never answered is given up, and said to be open`() async throws {
        let keys = Journal<String?>()
        let handler: HTTPHandler = { call in
            keys.add(call.fields.only("Idempotency-Key"))
            await call.connection.closed()
            return HTTPResponse(status: 204)
        }
        try await TestDaemon.run(handler) { client in
            var client = client
            client.answerTime = .seconds(1)
            await #expect(throws: error(.noAnswer)) {
                try await client.start(try Sample.request(), idempotencyKey: "k")
            }
        }
        #expect(keys.all == ["k", "k", "k"])
    }

    @Test func `A refused start is not repeated`() async throws {
        let calls = Journal<Int>()
        let handler: HTTPHandler = { _ in
            calls.add(1)
            return .refusal(.readerBusy)
        }
        try await TestDaemon.run(handler) { client in
            await #expect(throws: error(.init(.readerBusy))) {
                try await client.start(try Sample.request(), idempotencyKey: "k")
            }
        }
        #expect(calls.all == [1])
    }

    @Test func `Letting the transaction go closes its connection`() async throws {
        let connections = Journal<HTTPConnection>()
        let started = try Sample.transaction(.armed)
        let handler: HTTPHandler = { call in
            connections.add(call.connection)
            return .message(201, started)
        }
        try await TestDaemon.run(handler) { client in
            let connection: HTTPConnection
            do {
                let tap = try await client.start(try Sample.request(), idempotencyKey: "k")
                connection = try #require(connections.all.first)
                withExtendedLifetime(tap) { #expect(!connection.isClosed) }
            }
            await connection.closed()
        }
    }

    @Test func `Cancelling the wait closes the connection and says so`() async throws {
        let connections = Journal<HTTPConnection>()
        let started = try Sample.transaction(.armed)
        let handler: HTTPHandler = { call in
            if call.method == .get {
                connections.add(call.connection)
                await call.connection.closed()
            }
            return .message(201, started)
        }
        try await TestDaemon.run(handler) { client in
            let tap = try await client.start(try Sample.request(), idempotencyKey: "k")
            let waiting = Task { try await tap.settled() }
            while connections.all.isEmpty { await Task.yield() }
            waiting.cancel()
            await #expect(throws: error(.cancelled)) { try await waiting.value }
            await connections.all.first?.closed()
        }
    }

    @Test func `Waiting goes on when the daemon was restarted`() async throws {
        try await TestDaemon.withPath { path in
            let daemon = TestDaemon(path: path)
            let started = try Sample.transaction(.sent)
            let ended = try Sample.transaction(.approved)
            let tap = try await daemon.run({ _ in .message(201, started) }) {
                try await TapClient(path: path).start(try Sample.request(), idempotencyKey: "k")
            }
            let waiting = Task { try await tap.settled() }
            let transaction = try await daemon.run({ _ in .message(200, ended) }) { try await waiting.value }
            #expect(transaction.state == .approved)
        }
    }

    @Test func `Waiting ends when the daemon stays away`() async throws {
        try await TestDaemon.withPath { path in
            let started = try Sample.transaction(.sent)
            let tap = try await TestDaemon(path: path).run({ _ in .message(201, started) }) {
                try await TapClient(path: path).start(try Sample.request(), idempotencyKey: "k")
            }
            await #expect(throws: error(.daemonNotRunning)) {
                try await tap.settled(maximumOutage: .milliseconds(100))
            }
        }
    }

    private func error(_ code: TapClientError.Code) -> TapClientError { TapClientError(code, "", hint: "") }
}
