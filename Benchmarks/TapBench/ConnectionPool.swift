// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocalHTTP
import POSAPI
import PaymentValues

/// A few connections for many lanes: the daemon gives one user eight.
actor ConnectionPool {
    private var free: [HTTPClientConnection] = []
    private var waiting: [CheckedContinuation<HTTPClientConnection, Never>] = []

    init(_ client: HTTPClient, count: Int) async throws {
        for _ in 0..<count { free.append(try await client.connect()) }
    }

    /// Asks for a sale on a lane and returns its id.
    func start(lane: String) async throws -> String {
        let connection = await take()
        defer { give(connection) }
        let body =
            #"{"type":"purchase","amount":{"value":\#(LoadRun.amount),"currency":"EUR"},"lane":"\#(lane)","detached":true}"#
        let fields: HTTPFields = [
            "Content-Type": "application/json", "Idempotency-Key": "load-\(UInt64.random(in: .min ... .max))",
        ]
        let answer = try await connection.send(
            HTTPClientRequest(.post, "/v1/transactions", fields: fields, body: Array(body.utf8)),
            answerWithin: .seconds(30))
        guard answer.status == 201 else {
            throw BenchmarkError.wrongResult(String(decoding: answer.body.prefix(300), as: UTF8.self))
        }
        return try WireJSON.decode(Transaction.self, from: answer.body).id.text
    }

    private func take() async -> HTTPClientConnection {
        if let connection = free.popLast() { return connection }
        return await withCheckedContinuation { waiting.append($0) }
    }

    private func give(_ connection: HTTPClientConnection) {
        if waiting.isEmpty { free.append(connection) } else { waiting.removeFirst().resume(returning: connection) }
    }
}
