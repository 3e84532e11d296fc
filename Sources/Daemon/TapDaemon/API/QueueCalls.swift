// SPDX-License-Identifier: Apache-2.0
import Journal
import LocalHTTP
import POSAPI
import PaymentValues

/// The calls under `/v1/queue`. Cashiers see the queue and hasten it; batches are for administrators.
extension PointOfSaleAPI {
    func answerAboutQueue(
        _ path: ArraySlice<String>, _ request: HTTPRequest, _ caller: Caller
    ) async throws(ErrorBody) -> HTTPResponse {
        try caller.roles.require(path.first == "batches" ? .admin : .cashier)
        switch (path.count, path.first) {
        case (0, _):
            try request.only(.get, parameters: [])
            return .message(200, try await storedPayments(caller))
        case (1, "flush"):
            try request.only(.post, parameters: [])
            return .message(202, try await flush(caller))
        case (_, "batches"):
            return try await answerAboutBatches(path.dropFirst(), request, caller)
        default:
            throw ErrorBody(.requestUnknownPath)
        }
    }

    private func storedPayments(_ caller: Caller) async throws(ErrorBody) -> QueueStatus {
        do throws(JournalError) { return try await payments.status(of: caller.scope) } catch {
            throw ErrorBody(ErrorCode(error))
        }
    }

    private func flush(_ caller: Caller) async throws(ErrorBody) -> QueueStatus {
        guard caller.roles.contains(.admin) else {
            return try await telling { () throws(QueueRefusal) in try await payments.flush(for: caller.scope) }
        }
        return try await administerQueue("flush", "", caller, outcome: { "stored: \($0.count)" }) {
            () throws(QueueRefusal) in try await payments.flush()
        }
    }

    private func answerAboutBatches(
        _ path: ArraySlice<String>, _ request: HTTPRequest, _ caller: Caller
    ) async throws(ErrorBody) -> HTTPResponse {
        let id = path.first ?? ""
        // Whatever else it may be, it is no text for the audit chain.
        let subject = TransactionID(id)?.text ?? ""
        switch (path.count, path.last) {
        case (0, _):
            try request.only(.post, parameters: [])
            let size = request.body.isEmpty ? nil : try request.message(BatchRequest.self).size
            let batch = try await administerQueue(
                "open batch", "", caller, outcome: { "\($0.id), payments: \($0.count)" }
            ) { () throws(QueueRefusal) in
                try await payments.openBatch(size: size ?? Limits.batchSize.upperBound)
            }
            return .message(201, batch)
        case (1, _):
            try request.only(.get, parameters: [])
            let batch = try await administerQueue(
                "export batch", subject, caller, outcome: { "payments: \($0.count)" }
            ) {
                () throws(QueueRefusal) in try await payments.batch(id)
            }
            return .message(200, batch)
        case (2, "reset"):
            try request.only(.post, parameters: [])
            let answer = try await administerQueue("reset batch", subject, caller, outcome: \.summary) {
                () throws(QueueRefusal) in try await payments.reset(id)
            }
            return .message(200, answer)
        case (2, "resolve"):
            try request.only(.post, parameters: [])
            let token = try request.message(BatchResolution.self).token
            let answer = try await administerQueue("resolve batch", subject, caller, outcome: \.summary) {
                () throws(QueueRefusal) in try await payments.resolve(id, token: token)
            }
            return .message(200, answer)
        default:
            throw ErrorBody(.requestUnknownPath)
        }
    }
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
