// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocalHTTP
import Logging
import POSAPI
import PaymentValues
import Synchronization
import TapClient

/// The daemon's side of the POS socket as far as a client can tell, answering by a script: the real server, real
/// messages, no readers.
struct TestDaemon {
    let path: String

    /// Runs a server with `handler` at `path` for the time of `body`.
    @discardableResult
    func run<Value: Sendable>(_ handler: @escaping HTTPHandler, _ body: () async throws -> Value) async throws -> Value
    {
        var limits = HTTPLimits()
        // A connection that ends in a test was ended by somebody.
        limits.idleTime = .seconds(3600)
        let server = HTTPServer(
            socket: try ListeningSocket(path: path), limits: limits, logger: Logger(label: "test"), handler: handler)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            let value: Value
            do { value = try await body() } catch {
                group.cancelAll()
                throw error
            }
            // The next daemon at this path must not find this one's socket.
            server.shutDown(grace: .zero)
            try await group.waitForAll()
            return value
        }
    }

    /// In a folder of its own.
    @discardableResult
    static func run<Value: Sendable>(
        _ handler: @escaping HTTPHandler, _ body: (TapClient) async throws -> Value
    ) async throws -> Value {
        try await withPath { path in
            try await TestDaemon(path: path).run(handler) { try await body(TapClient(path: path)) }
        }
    }

    static func withPath<Value>(_ body: (String) async throws -> Value) async throws -> Value {
        let folder = NSTemporaryDirectory() + "tc-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        return try await body(folder + "/s")
    }
}

extension HTTPResponse {
    static func message(_ status: Int, _ message: some Encodable) -> HTTPResponse {
        do throws(WireError) { return .json(status, try WireJSON.encode(message)) } catch {
            return HTTPResponse(status: 500)
        }
    }

    static func refusal(_ code: ErrorCode) -> HTTPResponse { .message(code.entry.status, ErrorBody(code)) }
}

/// What the handler has been asked, in order.
final class Journal<Entry: Sendable>: Sendable {
    private let entries = Mutex<[Entry]>([])

    var all: [Entry] { entries.withLock { $0 } }

    /// Adds, and tells how many there were before.
    @discardableResult
    func add(_ entry: Entry) -> Int {
        entries.withLock { entries in
            entries.append(entry)
            return entries.count - 1
        }
    }
}

enum Sample {
    static let id = TransactionID(at: .now)

    static func request() throws -> TransactionRequest {
        let message = #"{"type":"purchase","amount":{"value":1250,"currency":"EUR"}}"#
        return try WireJSON.decode(TransactionRequest.self, from: Array(message.utf8))
    }

    static func transaction(_ state: TransactionState) throws -> Transaction {
        var transaction = Transaction(
            id: id, type: .purchase, mode: .test, lane: "till-1", amount: try request().amount, createdAt: .now)
        transaction.state = state
        return transaction
    }

    static let status = Status(
        mode: .test, version: "1", ready: true, accepting: true, terms: .notRequired,
        lanes: [LaneStatus(name: "till-1", state: .ready, features: [.purchase])],
        queue: Status.Queue(stored: 0, reversals: 0), psp: Status.AdapterLink(state: .up), support: "abc")
}
