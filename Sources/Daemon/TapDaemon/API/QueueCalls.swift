// SPDX-License-Identifier: Apache-2.0
import Journal
import LocalHTTP
import POSAPI
import PaymentValues

/// The calls under `/v1/queue`. Cashiers see the queue and hasten it; batches are for administrators.
extension PointOfSaleAPI {
    func storedPayments(_ caller: Caller) async throws(ErrorBody) -> QueueStatus {
        do throws(JournalError) { return try await queue.status(of: caller.scope) } catch {
            throw ErrorBody(ErrorCode(error))
        }
    }

    func flush(_ caller: Caller) async throws(ErrorBody) -> QueueStatus {
        guard caller.roles.contains(.admin) else {
            return try await telling { () throws(QueueRefusal) in try await queue.flush(for: caller.scope) }
        }
        return try await administerQueue("flush", "", caller, outcome: { "stored: \($0.count)" }) {
            () throws(QueueRefusal) in try await queue.flush()
        }
    }

    func openBatch(_ request: HTTPRequest, _ caller: Caller) async throws(ErrorBody) -> QueueBatch {
        let size = request.body.isEmpty ? nil : try request.message(BatchRequest.self).size
        return try await administerQueue("open batch", "", caller, outcome: { "\($0.id), payments: \($0.count)" }) {
            () throws(QueueRefusal) in try await queue.openBatch(size: size ?? Limits.batchSize.upperBound)
        }
    }

    func batch(_ id: String, _ caller: Caller) async throws(ErrorBody) -> QueueBatch {
        try await administerQueue("export batch", Self.subject(id), caller, outcome: { "payments: \($0.count)" }) {
            () throws(QueueRefusal) in try await queue.batch(id)
        }
    }

    func reset(_ id: String, _ caller: Caller) async throws(ErrorBody) -> BatchAnswer {
        try await administerQueue("reset batch", Self.subject(id), caller, outcome: \.summary) {
            () throws(QueueRefusal) in try await queue.reset(id)
        }
    }

    func resolve(batch id: String, _ request: HTTPRequest, _ caller: Caller) async throws(ErrorBody) -> BatchAnswer {
        let token = try request.message(BatchResolution.self).token
        return try await administerQueue("resolve batch", Self.subject(id), caller, outcome: \.summary) {
            () throws(QueueRefusal) in try await queue.resolve(id, token: token)
        }
    }

    /// Whatever else it may be, it is no text for the audit chain.
    private static func subject(_ id: String) -> String { TransactionID(id)?.text ?? "" }
}

extension Route {
    static let queue: [Route] = [
        Route(.get, "v1/queue", for: .cashier) { (api, call) throws(ErrorBody) in
            .message(200, try await api.storedPayments(call.caller))
        },
        Route(.post, "v1/queue/flush", for: .cashier) { (api, call) throws(ErrorBody) in
            .message(202, try await api.flush(call.caller))
        },
        Route(.post, "v1/queue/batches", for: .oneOf([.admin])) { (api, call) throws(ErrorBody) in
            .message(201, try await api.openBatch(call.request, call.caller))
        },
        Route(.get, "v1/queue/batches/{id}", for: .oneOf([.admin])) { (api, call) throws(ErrorBody) in
            .message(200, try await api.batch(call.name, call.caller))
        },
        Route(.post, "v1/queue/batches/{id}/reset", for: .oneOf([.admin])) { (api, call) throws(ErrorBody) in
            .message(200, try await api.reset(call.name, call.caller))
        },
        Route(.post, "v1/queue/batches/{id}/resolve", for: .oneOf([.admin])) { (api, call) throws(ErrorBody) in
            .message(200, try await api.resolve(batch: call.name, call.request, call.caller))
        },
    ]
}

extension PointOfSaleAPI {
    private func administerQueue<Answer>(
        _ action: String, _ subject: String, _ caller: Caller, outcome: (Answer) -> String,
        _ body: () async throws(QueueRefusal) -> Answer
    ) async throws(ErrorBody) -> Answer {
        try await administer(action, subject, caller, outcome: outcome) { () throws(ErrorBody) in
            try await telling(body)
        }
    }
}

extension BatchAnswer {
    fileprivate var summary: String { "left in the queue: \(left)" }
}
