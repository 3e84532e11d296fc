// SPDX-License-Identifier: Apache-2.0
import Journal
import LocalHTTP
import Wire

/// The calls under `/v1/queue`. Cashiers see the queue and hasten it; batches are for administrators.
extension PointOfSaleAPI {
    func answerAboutQueue(
        _ path: ArraySlice<String>, _ request: HTTPRequest, _ roles: Set<Role>
    ) async throws(ErrorBody) -> HTTPResponse {
        try roles.require(path.first == "batches" ? .admin : .cashier)
        switch (path.count, path.first) {
        case (0, _):
            try request.only(.get, parameters: [])
            return .message(200, try await storedPayments())
        case (1, "flush"):
            try request.only(.post, parameters: [])
            return .message(202, try await flush(request, roles))
        case (_, "batches"):
            return try await answerAboutBatches(path.dropFirst(), request)
        default:
            throw ErrorBody(.requestUnknownPath)
        }
    }

    private func storedPayments() async throws(ErrorBody) -> QueueStatus {
        do throws(JournalError) { return try await payments.status() } catch { throw ErrorBody(ErrorCode(error)) }
    }

    private func flush(_ request: HTTPRequest, _ roles: Set<Role>) async throws(ErrorBody) -> QueueStatus {
        guard roles.contains(.admin) else {
            return try await telling { () throws(QueueRefusal) in try await payments.flush() }
        }
        return try await administerQueue("flush", "", request, outcome: { "stored: \($0.count)" }) {
            () throws(QueueRefusal) in try await payments.flush()
        }
    }

    private func answerAboutBatches(
        _ path: ArraySlice<String>, _ request: HTTPRequest
    ) async throws(ErrorBody) -> HTTPResponse {
        let id = path.first ?? ""
        // Whatever else it may be, it is no text for the audit chain.
        let subject = TransactionID(id)?.text ?? ""
        switch (path.count, path.last) {
        case (0, _):
            try request.only(.post, parameters: [])
            let size = request.body.isEmpty ? nil : try request.message(BatchRequest.self).size
            let batch = try await administerQueue(
                "open batch", "", request, outcome: { "\($0.id), payments: \($0.count)" }
            ) { () throws(QueueRefusal) in
                try await payments.openBatch(size: size ?? Limits.batchSize.upperBound)
            }
            return .message(201, batch)
        case (1, _):
            try request.only(.get, parameters: [])
            let batch = try await administerQueue(
                "export batch", subject, request, outcome: { "payments: \($0.count)" }
            ) {
                () throws(QueueRefusal) in try await payments.batch(id)
            }
            return .message(200, batch)
        case (2, "reset"):
            try request.only(.post, parameters: [])
            let answer = try await administerQueue("reset batch", subject, request, outcome: \.summary) {
                () throws(QueueRefusal) in try await payments.reset(id)
            }
            return .message(200, answer)
        case (2, "resolve"):
            try request.only(.post, parameters: [])
            let token = try request.message(BatchResolution.self).token
            let answer = try await administerQueue("resolve batch", subject, request, outcome: \.summary) {
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
        _ action: String, _ subject: String, _ request: HTTPRequest, outcome: (Answer) -> String,
        _ body: () async throws(QueueRefusal) -> Answer
    ) async throws(ErrorBody) -> Answer {
        try await administer(action, subject, request, outcome: outcome) { () throws(ErrorBody) in
            try await telling(body)
        }
    }
}

extension BatchAnswer {
    fileprivate var summary: String { "left in the queue: \(left)" }
}
