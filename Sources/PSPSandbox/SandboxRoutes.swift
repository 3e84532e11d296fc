// SPDX-License-Identifier: Apache-2.0
import Envelope
import LocalHTTP
import Wire

/// Paths and methods of the adapter contract.
struct SandboxRoutes: Sendable {
    let sandbox: Sandbox

    func answer(_ request: HTTPRequest) async -> HTTPResponse {
        switch (request.method, request.path) {
        case (.get, ["v1", "health"]):
            return SandboxAnswer(
                200,
                AdapterHealth(
                    status: .ok, protocolVersions: ["v1"],
                    supports: AuthorizationRequest.Kind.allCases.map(\.rawValue),
                    keyLife: AdapterHealth.defaultKeyLife)
            ).response
        case (.get, ["v1", "keys"]):
            return .json(200, Array(sandbox.recipients.jwks.utf8))
        case (.get, ["v1", "profile"]):
            guard let token = await sandbox.profileToken() else {
                return SandboxAnswer.error(404, .credentialMissing).response
            }
            return HTTPResponse(
                status: 200, fields: ["Content-Type": "application/jose"], body: .bytes(Array(token.utf8)))
        case (.get, ["debug", "ledger"]):
            return SandboxAnswer(200, await sandbox.ledger).response
        case (.post, ["debug", "batches"]):
            guard let batch = try? WireJSON.decode(QueueBatch.self, from: request.body) else {
                return SandboxAnswer.error(400, .requestMalformedJSON).response
            }
            return await sandbox.receive(batch).response
        case (.post, ["v1", "authorizations"]):
            return await authorize(request)
        case (_, let path) where path.count >= 3 && path[0] == "v1" && path[1] == "authorizations":
            guard let id = TransactionID(path[2]) else { return SandboxAnswer.error(404, .transactionUnknown).response }
            return await answer(request, about: id, part: path.dropFirst(3).joined(separator: "/"))
        case (_, ["v1", "health"]), (_, ["v1", "keys"]), (_, ["v1", "profile"]), (_, ["debug", "ledger"]),
            (_, ["v1", "authorizations"]):
            return SandboxAnswer.error(405, .requestMethodNotAllowed).response
        default:
            return SandboxAnswer.error(404, .requestUnknownPath).response
        }
    }

    private func answer(_ request: HTTPRequest, about id: TransactionID, part: String) async -> HTTPResponse {
        switch (request.method, part) {
        case (.get, ""):
            guard let answer = await sandbox.status(of: id) else {
                return SandboxAnswer.error(404, .transactionUnknown).response
            }
            if answer.outcome != .pending { await sandbox.answered(id) }
            return SandboxAnswer(200, answer).response
        case (.post, "reversals"):
            return await once(request, ReversalRequest.self) { await sandbox.reverse(id, $0) }.response
        case (.post, "completions"):
            return await once(request, CompletionRequest.self) { await sandbox.complete(id, $0) }.response
        case (.post, "refunds"):
            return await once(request, RefundRequest.self) { await sandbox.refund(id, $0) }.response
        case (_, ""), (_, "reversals"), (_, "completions"), (_, "refunds"):
            return SandboxAnswer.error(405, .requestMethodNotAllowed).response
        default:
            return SandboxAnswer.error(404, .requestUnknownPath).response
        }
    }

    private func authorize(_ request: HTTPRequest) async -> HTTPResponse {
        let answer = await once(request, AuthorizationRequest.self) { await sandbox.authorize($0) }
        if answer.fault == .neverAnswers {
            await request.connection.closed()
        } else if answer.isProper, let transaction = answer.transaction, !request.connection.isClosed {
            await sandbox.answered(transaction)
        }
        return answer.response
    }

    /// Idempotency: the same key and body get the same answer, another body 422, one that is still running 409.
    private func once<Message: Decodable & Sendable>(
        _ request: HTTPRequest, _ type: Message.Type, _ carryOut: (Message) async -> SandboxAnswer
    ) async -> SandboxAnswer {
        guard let key = request.fields.only("Idempotency-Key") else { return .error(400, .idempotencyKeyMissing) }
        guard Limits.idempotencyKeyLength.contains(key.utf8.count) else { return .error(400, .idempotencyKeyInvalid) }
        let message: Message
        do throws(WireError) {
            message = try WireJSON.decode(type, from: request.body)
        } catch {
            return .refusal(error)
        }
        let path = request.path.joined(separator: "/")
        switch await sandbox.begin(path: path, key: key, body: request.body) {
        case .running: return .error(409, .idempotencyInProgress)
        case .otherContent: return .error(422, .idempotencyKeyReused)
        case .answered(let answer): return answer
        case .new: break
        }
        let answer = await carryOut(message)
        await sandbox.finish(path: path, key: key, with: answer)
        return answer
    }
}
