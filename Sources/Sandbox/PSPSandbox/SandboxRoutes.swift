// SPDX-License-Identifier: Apache-2.0
import Envelope
import LocalHTTP
import PINDeviceAPI
import PSPAPI
import PaymentValues

/// Paths and methods of the adapter contract.
struct SandboxRoutes: Sendable {
    let sandbox: Sandbox

    func answer(_ request: HTTPRequest) async -> HTTPResponse {
        do throws(StoreError) {
            return try await route(request)
        } catch {
            return SandboxAnswer.storeFailed.response
        }
    }

    private func route(_ request: HTTPRequest) async throws(StoreError) -> HTTPResponse {
        switch (request.method, request.path) {
        case (.get, ["v1", "health"]):
            var health = AdapterHealth(
                status: .ok, protocolVersions: ["v1"],
                supports: AdapterFeature.allCases.filter(sandbox.features.contains).map(\.rawValue),
                keyLife: AdapterHealth.defaultKeyLife)
            health.terminals = sandbox.features.contains(.handover) ? SandboxLinks.terminals : nil
            return SandboxAnswer(200, health).response
        case (.get, ["v1", "keys"]):
            return .json(200, Array(sandbox.recipients.jwks.utf8))
        case (.get, ["v1", "profile"]):
            guard let token = await sandbox.profileToken() else {
                return SandboxAnswer.error(404, .credentialMissing).response
            }
            return HTTPResponse(
                status: 200, fields: ["Content-Type": "application/jose"], body: .bytes(Array(token.utf8)))
        case (.get, ["debug", "ledger"]):
            return SandboxAnswer(200, try await sandbox.report()).response
        case (.post, ["debug", "batches"]):
            guard let batch = try? WireJSON.decode(QueueBatch.self, from: request.body) else {
                return SandboxAnswer.error(400, .requestMalformedJSON).response
            }
            return try await sandbox.receive(batch).response
        case (.post, ["v1", "authorizations"]):
            return try await authorize(request)
        case (.post, ["v1", "charges"]):
            return try await charge(request)
        case (.post, ["v1", "token-deletions"]):
            let answer = try await once(request, TokenDeletionRequest.self) { (message) throws(StoreError) in
                let isOwnKey = request.fields.only("Idempotency-Key") == message.id.rawValue
                return try await sandbox.forget(message, isOwnKey: isOwnKey)
            }
            return answer.response
        case (.post, ["v1", "receipts"]):
            let answer = try await once(request, ReceiptDelivery.self) { (message) throws(StoreError) in
                await message.answer(from: sandbox)
            }
            return answer.response
        case (_, let path) where path.starts(with: ["v1", "links"]) || path.starts(with: ["v1", "handovers"]):
            return try await linked(request, Array(path.dropFirst()))
        case (_, let path) where path.count >= 3 && path[0] == "v1" && path[1] == "authorizations":
            guard let id = TransactionID(path[2]) else { return SandboxAnswer.error(404, .transactionUnknown).response }
            return try await answer(request, about: id, part: path.dropFirst(3).joined(separator: "/"))
        case (.get, let path) where path.count == 3 && path[0] == "v1" && path[1] == "operations":
            guard let id = OperationID(path[2]), let answer = try await sandbox.status(ofOperation: id) else {
                return SandboxAnswer.error(404, .transactionUnknown).response
            }
            if let operation = answer.operation { try await sandbox.answered(operation) }
            return answer.response
        case (_, let path) where path.starts(with: ["v1", "reconciliations"]):
            return try await reconcile(request, Array(path.dropFirst(2)))
        case (_, ["v1", "health"]), (_, ["v1", "keys"]), (_, ["v1", "profile"]), (_, ["debug", "ledger"]),
            (_, ["v1", "authorizations"]), (_, ["v1", "charges"]), (_, ["v1", "token-deletions"]),
            (_, ["v1", "receipts"]):
            return SandboxAnswer.error(405, .requestMethodNotAllowed).response
        default:
            return SandboxAnswer.error(404, .requestUnknownPath).response
        }
    }

    /// Links and hand-overs.
    private func linked(_ request: HTTPRequest, _ path: [String]) async throws(StoreError) -> HTTPResponse {
        switch (request.method, path.count) {
        case (.post, 1):
            let answer = try await once(request, LinkRequest.self) { (message) throws(StoreError) in
                let isOwnKey = request.fields.only("Idempotency-Key") == message.id.text
                var message = message
                // To a link the member is unknown, and a hand-over names a terminal or none that there is.
                message.to = path == ["links"] ? nil : message.to ?? ""
                return try await SandboxLinks.open(message, isOwnKey: isOwnKey, in: sandbox)
            }
            return answer.response
        case (.get, 2), (.delete, 2):
            guard let id = path.last.flatMap({ TransactionID($0) }) else {
                return SandboxAnswer.error(404, .transactionUnknown).response
            }
            return try await SandboxLinks.link(id, closing: request.method == .delete, in: sandbox).response
        case (_, 1): return SandboxAnswer.error(405, .requestMethodNotAllowed).response
        default: return SandboxAnswer.error(404, .requestUnknownPath).response
        }
    }

    private func answer(
        _ request: HTTPRequest, about id: TransactionID, part: String
    ) async throws(StoreError) -> HTTPResponse {
        switch (request.method, part) {
        case (.get, ""):
            guard let answer = try await sandbox.status(of: id) else {
                return SandboxAnswer.error(404, .transactionUnknown).response
            }
            if answer.outcome != .pending { try await sandbox.answered(id) }
            return SandboxAnswer(200, answer).response
        case (.post, "reversals"):
            let answer = try await once(request, ReversalRequest.self) { (message) throws(StoreError) in
                try await sandbox.reverse(id, message)
            }
            return answer.response
        case (.post, "continuations"):
            let key = request.fields.only("Idempotency-Key")
            let answer = try await once(request, ContinuationRequest.self) { (message) throws(StoreError) in
                guard message.id.text == key else { return .error(400, .idempotencyKeyInvalid, field: "id") }
                return try await SandboxContinuations.proceed(id, message, in: sandbox)
            }
            return try await told(answer, to: request)
        case (.get, let part) where part.hasPrefix("continuations/"):
            guard let attempt = PINAttemptID(String(part.dropFirst("continuations/".count))),
                let answer = try await SandboxContinuations.status(of: attempt, on: id, in: sandbox)
            else { return SandboxAnswer.error(404, .transactionUnknown).response }
            return try await told(answer, to: request)
        case (.post, "captures"):
            return try await operation(request, CaptureRequest.self, \.id.text) { (message) throws(StoreError) in
                try await sandbox.complete(id, message)
            }
        case (.post, "adjustments"):
            return try await operation(request, AdjustmentRequest.self, \.id.text) { (message) throws(StoreError) in
                try await sandbox.adjust(id, message)
            }
        case (.post, "releases"):
            return try await operation(request, ReleaseRequest.self, \.id.text) { (message) throws(StoreError) in
                try await sandbox.release(id, message)
            }
        case (.post, "refunds"):
            return try await operation(request, RefundRequest.self, \.id.text) { (message) throws(StoreError) in
                try await sandbox.refund(id, message)
            }
        case (_, "continuations"), (_, ""), (_, "reversals"), (_, "captures"), (_, "adjustments"), (_, "releases"),
            (_, "refunds"):
            return SandboxAnswer.error(405, .requestMethodNotAllowed).response
        default:
            return SandboxAnswer.error(404, .requestUnknownPath).response
        }
    }

    private func authorize(_ request: HTTPRequest) async throws(StoreError) -> HTTPResponse {
        let answer = try await once(request, AuthorizationRequest.self) { (message) throws(StoreError) in
            let isOwnKey = request.fields.only("Idempotency-Key") == message.id.text
            return try await sandbox.authorize(message, isOwnKey: isOwnKey)
        }
        return try await told(answer, to: request)
    }

    private func charge(_ request: HTTPRequest) async throws(StoreError) -> HTTPResponse {
        let answer = try await once(request, ChargeRequest.self) { (message) throws(StoreError) in
            let isOwnKey = request.fields.only("Idempotency-Key") == message.id.text
            return try await sandbox.charge(message, isOwnKey: isOwnKey)
        }
        return try await told(answer, to: request)
    }

    private func told(_ answer: SandboxAnswer, to request: HTTPRequest) async throws(StoreError) -> HTTPResponse {
        if answer.fault == .neverAnswers {
            await request.connection.closed()
        } else if answer.isProper, let transaction = answer.transaction, !request.connection.isClosed {
            try await sandbox.answered(transaction)
        }
        return answer.response
    }

    private func reconcile(_ request: HTTPRequest, _ path: [String]) async throws(StoreError) -> HTTPResponse {
        switch (request.method, path.count, path.last) {
        case (.post, 0, _):
            let key = request.fields.only("Idempotency-Key")
            return try await once(request, ReconciliationRequest.self) { (message) throws(StoreError) in
                guard message.id == key else { return .error(400, .idempotencyKeyInvalid, field: "id") }
                return try await SandboxDays.reconcile(message, in: sandbox)
            }.response
        case (.get, 1, let id?):
            let answer = try await SandboxDays.figures(of: id, in: sandbox)
            return (answer ?? SandboxAnswer.error(404, .transactionUnknown)).response
        case (.get, 2, "items"):
            func parameter(_ name: String) -> String? { request.query.first { $0.name == name }?.value }
            let page = try await SandboxDays.items(
                in: sandbox, of: path[0], kind: parameter("kind"), currency: parameter("currency"),
                scheme: parameter("scheme"),
                after: parameter("after"))
            return page.response
        case (_, 0, _), (_, 1, _), (_, 2, "items"):
            return SandboxAnswer.error(405, .requestMethodNotAllowed).response
        default:
            return SandboxAnswer.error(404, .requestUnknownPath).response
        }
    }

    /// An operation, whose key is its own id.
    private func operation<Message: Decodable & Sendable>(
        _ request: HTTPRequest, _ type: Message.Type, _ id: @Sendable (Message) -> String,
        _ carryOut: (Message) async throws(StoreError) -> SandboxAnswer
    ) async throws(StoreError) -> HTTPResponse {
        let key = request.fields.only("Idempotency-Key")
        let answer = try await once(request, type) { (message) throws(StoreError) in
            guard id(message) == key else { return .error(400, .idempotencyKeyInvalid, field: "id") }
            return try await carryOut(message)
        }
        if answer.isProper, let operation = answer.operation, !request.connection.isClosed {
            try await sandbox.answered(operation)
        }
        return answer.response
    }

    /// Idempotency: the same key and body get the same answer, another body 422, one that is still running 409.
    private func once<Message: Decodable & Sendable>(
        _ request: HTTPRequest, _ type: Message.Type,
        _ carryOut: (Message) async throws(StoreError) -> SandboxAnswer
    ) async throws(StoreError) -> SandboxAnswer {
        guard let key = request.fields.only("Idempotency-Key") else { return .error(400, .idempotencyKeyMissing) }
        guard Limits.idempotencyKeyLength.contains(key.utf8.count) else { return .error(400, .idempotencyKeyInvalid) }
        let message: Message
        do throws(WireError) {
            message = try WireJSON.decode(type, from: request.body)
        } catch {
            return .refusal(error)
        }
        let name = RequestName(path: request.path.joined(separator: "/"), key: key)
        switch try await sandbox.begin(name, body: request.body) {
        case .running: return .error(409, .idempotencyInProgress)
        case .otherContent: return .error(422, .idempotencyKeyReused)
        case .answered(let answer): return answer
        case .new: break
        }
        let answer = try await carryOut(message)
        try await sandbox.finish(name, with: answer)
        return answer
    }
}
