// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import POSAPI
import PaymentValues

/// The way to the daemon, under the name of a sender's till.
struct DaemonDoor: Sendable {
    private let client: HTTPClient
    /// How long the daemon may take for an answer that waits for nothing.
    private static let answerTime = Duration.seconds(10)

    init(path: String) {
        var client = HTTPClient(path: path)
        client.maximumAnswerBytes = 1 << 20
        self.client = client
    }

    struct Identity: Decodable, Sendable {
        /// Name of this installation.
        var support: String
        var mode: Mode
        var clock: ClockStatus?
    }

    /// - Returns: `nil` while the daemon does not answer.
    func identity(till: String) async -> Identity? {
        let request = HTTPClientRequest(.get, "/v1/status", fields: Self.fields(till))
        guard let answer = try? await client.send(request, answerWithin: Self.answerTime), answer.status == 200 else {
            return nil
        }
        return try? WireJSON.decode(Identity.self, from: answer.body)
    }

    /// Carries out a step that is the daemon's.
    func ask(_ step: OrderStep, for entry: OrderEntry, of sender: OrderSender) async -> DaemonAnswer {
        var fields = Self.fields(sender.till)
        fields.set("NFC-Tap-Order-Issuer", sender.name)
        fields.set("NFC-Tap-Order-Key", entry.keyID)
        switch step {
        case .begin(let body):
            fields.set("Content-Type", "application/json")
            fields.set("Idempotency-Key", entry.key.id)
            let request = HTTPClientRequest(.post, "/v1/transactions", fields: fields, body: Array(body.utf8))
            return await send(request, sender, isBegin: true)
        case .find(let id): return await find(id, fields, sender)
        case .look(let id, let wait):
            let target = "/v1/transactions/\(id)" + (wait > 0 ? "?wait=\(wait)" : "")
            return await send(HTTPClientRequest(.get, target, fields: fields), sender, wait: wait)
        case .withdraw(let id): return await withdraw(id, fields, sender)
        case .confirm(let id):
            return await send(HTTPClientRequest(.post, "/v1/transactions/\(id)/confirmation", fields: fields), sender)
        case .say, .wait, .rest: return .unsent
        }
    }

    private func find(_ id: String, _ fields: HTTPFields, _ sender: OrderSender) async -> DaemonAnswer {
        let target = "/v1/transactions?key=\(HTTPClientRequest.percentEncoded(id))"
        switch await answer(to: HTTPClientRequest(.get, target, fields: fields)) {
        case .failure(let answer): return answer
        case .success(let answer):
            guard answer.status == 200 else { return Self.refusal(answer, isBegin: false) }
            guard let list = try? WireJSON.decode(TransactionList.self, from: answer.body) else { return .unclear }
            return list.transactions.first.map { .transaction(Snapshot($0, sender.telling)) } ?? .unknown
        }
    }

    /// By the key; where the daemon does not know that call, by what it has under the key.
    private func withdraw(_ id: String, _ fields: HTTPFields, _ sender: OrderSender) async -> DaemonAnswer {
        let target = "/v1/transactions?key=\(HTTPClientRequest.percentEncoded(id))"
        let answer = await cancel(target, fields)
        guard answer == nil else { return answer ?? .unclear }
        switch await find(id, fields, sender) {
        case .transaction(let snapshot): return await cancel("/v1/transactions/\(snapshot.id)", fields) ?? .unclear
        case let other: return other
        }
    }

    private struct Cancelled: Decodable {
        struct Found: Decodable {
            var state: TransactionState
        }

        var outcome: CancelAnswer.Outcome
        var phase: TransactionState?
        var becomesReversal: Bool?
        var transaction: Found?
    }

    /// - Returns: `nil` where the daemon has no such call.
    private func cancel(_ target: String, _ fields: HTTPFields) async -> DaemonAnswer? {
        switch await answer(to: HTTPClientRequest(.delete, target, fields: fields)) {
        case .failure(let answer): return answer
        case .success(let answer):
            guard answer.status == 200 else {
                return answer.status == 405 ? nil : Self.refusal(answer, isBegin: false)
            }
            guard let said = try? WireJSON.decode(Cancelled.self, from: answer.body) else { return .unclear }
            guard let found = said.transaction else { return .outcome(.neverBegan) }
            var outcome = OrderEntry.Outcome(outcome: said.outcome.rawValue, becomesReversal: said.becomesReversal)
            if said.outcome != .cancelled { outcome.state = said.phase ?? found.state }
            return .outcome(outcome)
        }
    }

    private func send(
        _ request: HTTPClientRequest, _ sender: OrderSender, wait: Int = 0, isBegin: Bool = false
    ) async -> DaemonAnswer {
        switch await answer(to: request, wait: wait) {
        case .failure(let answer): return answer
        case .success(let answer):
            guard (200...299).contains(answer.status) else { return Self.refusal(answer, isBegin: isBegin) }
            guard let transaction = try? WireJSON.decode(Transaction.self, from: answer.body) else { return .unclear }
            return .transaction(Snapshot(transaction, sender.telling))
        }
    }

    private enum Heard {
        case success(HTTPClientAnswer)
        case failure(DaemonAnswer)
    }

    private func answer(to request: HTTPClientRequest, wait: Int = 0) async -> Heard {
        do throws(HTTPClientError) {
            return .success(try await client.send(request, answerWithin: Self.answerTime + .seconds(wait)))
        } catch {
            return .failure(error.isSafeToRepeat ? .unsent : .unclear)
        }
    }

    /// What an error of the daemon means: only what is said of this very request ends an order.
    static func refusal(_ answer: HTTPClientAnswer, isBegin: Bool) -> DaemonAnswer {
        guard let error = try? WireJSON.decode(ErrorBody.self, from: answer.body).error else { return .unclear }
        switch ErrorCode(rawValue: error.code) {
        case .idempotencyKeyUnknown, .transactionUnknown: return .unknown
        case .idempotencyInProgress, .idempotencyKeyReused, .internalFault: return .unclear
        // Said at the door, before anybody has looked at the request.
        case .requestTooManyConnections, .requestTooManyConnectionsOfUser: return isBegin ? .unsent : .unclear
        case .some, nil:
            // What this program may not see says nothing of an order that was begun: whoever has taken its rights away gives them back.
            let isOver = isBegin || [409, 410].contains(answer.status)
            return isOver ? .refused(error.code, isRetryable: error.retryable) : .unclear
        }
    }

    private static func fields(_ till: String) -> HTTPFields {
        ["NFC-Tap-On-Behalf-Of": till, "NFC-Tap-Roles": "cashier"]
    }
}
