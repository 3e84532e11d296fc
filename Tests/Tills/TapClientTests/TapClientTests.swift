// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import POSAPI
import PaymentValues
import Testing

@testable import TapClient

@Suite(.timeLimit(.minutes(5))) struct TapClientTests {
    @Test func `Status, lanes and transactions come as the daemon tells them`() async throws {
        let transaction = try Sample.transaction(.approved)
        let handler: HTTPHandler = { request in
            switch request.path {
            case ["v1", "status"]: .message(200, Sample.status)
            case ["v1", "lanes"]: .message(200, LaneList(lanes: Sample.status.lanes))
            case ["v1", "lanes", "till-1/left"]: .message(200, Sample.status.lanes[0])
            case ["v1", "transactions", Sample.id.text]: .message(200, transaction)
            case ["v1", "transactions"] where request.query == [.init(name: "order", value: "A+1&2")]:
                .message(200, TransactionList(transactions: [transaction]))
            default: .refusal(.requestUnknownPath)
            }
        }
        try await TestDaemon.run(handler) { client in
            let status = try await client.status()
            #expect(status == Sample.status)
            #expect(try await client.lanes() == Sample.status.lanes)
            #expect(try await client.lane("till-1/left").name == "till-1")
            #expect(try await client.transaction(Sample.id).state == .approved)
            #expect(try await client.transactions(order: "A+1&2").map(\.id) == [Sample.id])
        }
    }

    @Test func `An answer as long as a whole batch arrives, one without end does not`() async throws {
        let batch = QueueBatch(
            id: Sample.id.text, count: 100, hash: String(repeating: "0", count: 64), createdAt: .now,
            records: Array(repeating: String(repeating: "r", count: 10_000), count: 100), signature: "s", key: "k")
        try await TestDaemon.run({ _ in .message(200, batch) }) { client in
            let exported = try await client.batch(Sample.id.text)
            #expect(exported.records.count == 100)
        }
        let endless = [UInt8](repeating: 0x20, count: 5 << 20)
        try await TestDaemon.run({ _ in HTTPResponse(status: 200, body: .bytes(endless)) }) { client in
            await #expect(throws: error(.unexpectedAnswer)) { try await client.queue() }
        }
    }

    @Test func `Connecting shows whether a daemon is there`() async throws {
        try await TestDaemon.withPath { path in
            let nobody = await #expect(throws: error(.daemonNotRunning)) { try await TapClient.connect(to: path) }
            #expect(nobody?.message == "nfc-tapd is not running: no socket at the path (\(path))")
            try await TestDaemon(path: path).run({ _ in .message(200, Sample.status) }) {
                _ = try await TapClient.connect(to: path)
            }
            try await TestDaemon(path: path).run({ _ in HTTPResponse(status: 200, body: .bytes([0x7B])) }) {
                await #expect(throws: error(.unexpectedAnswer)) { try await TapClient.connect(to: path) }
            }
        }
    }

    @Test func `An error of the daemon's keeps its code, its words and its advice`() async throws {
        try await TestDaemon.run({ _ in .refusal(.readerBusy) }) { client in
            do throws(TapClientError) {
                _ = try await client.status()
                Issue.record("no error")
            } catch {
                #expect(error.code == .init(.readerBusy))
                #expect(error.code.rawValue == "reader.busy")
                #expect(error.message == ErrorCode.readerBusy.texts(in: .english).message)
                #expect(error.hint == ErrorCode.readerBusy.texts(in: .english).resolution)
                #expect(error.isRetryable == ErrorCode.readerBusy.entry.retryable)
                #expect(error.detail?.docs.contains("reader.busy") == true)
            }
        }
    }

    @Test func `An error without the daemon's form is none of the daemon's`() async throws {
        try await TestDaemon.run({ _ in HTTPResponse(status: 502) }) { client in
            await #expect(throws: error(.unexpectedAnswer)) { try await client.status() }
        }
    }

    @Test func `Cancelling tells what came of it, in time or too late`() async throws {
        let journal = Journal<String>()
        let answer = CancelAnswer(outcome: .tooLate, phase: .sent, transaction: try Sample.transaction(.sent))
        let handler: HTTPHandler = { request in
            journal.add("\(request.method.rawValue) \(request.path.joined(separator: "/"))")
            return .message(200, answer)
        }
        try await TestDaemon.run(handler) { client in
            let cancelled = try await client.cancel(Sample.id)
            #expect(cancelled == answer)
        }
        #expect(journal.all == ["DELETE v1/transactions/\(Sample.id)"])
    }

    static let transportErrors: [(HTTPClientError, TapClientError.Code)] = [
        (.notConnected(.noServer), .daemonNotRunning), (.notConnected(.refused), .daemonNotRunning),
        (.notConnected(.timedOut), .daemonNotRunning), (.notConnected(.accessDenied), .accessDenied),
        (.notConnected(.pathNotUsable), .notSent), (.notConnected(.closed), .notSent),
        (.notConnected(.unsendable), .notSent), (.notConnected(.system(errno: 5)), .notSent),
        (.notConnected(.cancelled), .cancelled), (.noAnswer(.cancelled), .cancelled),
        (.noAnswer(.timedOut), .noAnswer), (.noAnswer(.closed), .noAnswer), (.badAnswer(.truncated), .noAnswer),
        (.badAnswer(.malformed), .unexpectedAnswer), (.badAnswer(.tooLarge), .unexpectedAnswer),
        (.badAnswer(.notAnEventStream), .unexpectedAnswer),
    ]

    @Test(arguments: transportErrors)
    func `What the socket did is told by what the caller can do about it`(
        _ cause: HTTPClientError, _ code: TapClientError.Code
    ) {
        let error = TapClientError(cause, at: "/run/shop/pos.sock")
        #expect(error.code == code)
        #expect(!error.hint.isEmpty && !error.message.hasSuffix("."))
        #expect("\(error)".contains(code.rawValue))
        // Whatever may have been carried out must not be called unsent.
        #expect(cause.isSafeToRepeat || ![.notSent, .daemonNotRunning].contains(error.code))
    }

    private func error(_ code: TapClientError.Code) -> TapClientError { TapClientError(code, "", hint: "") }
}
