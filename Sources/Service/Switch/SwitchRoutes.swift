// SPDX-License-Identifier: Apache-2.0
import Envelope
import Linux
import LocalHTTP
import PSPAPI
import PaymentValues
import PostgreSQL

/// Paths and methods of the contract.
struct SwitchRoutes: Sendable {
    let service: SwitchService
    /// The field in which the proxy tells the name of the till's certificate; `nil` where whoever reaches the socket is trusted.
    let tillField: String?
    private let places = TillPlaces()
    private let health = CachedAnswer()
    private let keys = CachedAnswer()

    init(service: SwitchService, tillField: String?) {
        (self.service, self.tillField) = (service, tillField)
    }

    func answer(_ request: HTTPRequest) async -> HTTPResponse {
        do throws(DatabaseError) {
            return Self.response(try await route(request))
        } catch {
            return Self.response(error == .busy ? .busy : .unknown)
        }
    }

    private static func response(_ answer: SwitchAnswer) -> HTTPResponse {
        var fields = HTTPFields()
        if let seconds = answer.retryAfter { fields.set("Retry-After", "\(seconds)") }
        return .json(answer.status, answer.body, fields: fields)
    }

    private func route(_ request: HTTPRequest) async throws(DatabaseError) -> SwitchAnswer {
        let isHealth = request.path == ["v1", "health"]
        // Books that were away may be others when they are back: nothing is asked of them before the lease was renewed there.
        let isServed = !service.memory.isBehind && service.lease.isFresh(at: MachineClock.awake)
        guard isHealth || isServed else { return request.method == .post ? .notHandedOn : .unknown }
        var merchant: String?
        var entered: String?
        defer { if let entered { places.leave(entered) } }
        // The proxy's own question after a replica comes without the field that it sets for tills.
        if let tillField, !isHealth || request.fields.contains(tillField) {
            guard let till = request.fields.only(tillField) else { return .error(403, .pspRefused) }
            let version = request.fields.only("User-Agent")
            switch try await service.roster.admit(till, version: version, at: MachineClock.awake) {
            case .merchant(let known):
                merchant = known
                guard places.enter(till) else {
                    service.measures.count(.throttled)
                    return .later(429, .rateExceeded, 1)
                }
                entered = till
            case .refused: return .error(403, .pspRefused)
            case .tooOften(let seconds):
                service.measures.count(.throttled)
                return .later(429, .rateExceeded, seconds)
            }
        }
        switch (request.method, request.path) {
        case (.get, ["v1", "health"]): return await health.answer { await service.health() }
        case (.get, ["v1", "keys"]): return await keys.answer { await service.recipients() }
        case (_, ["v1", "health"]), (_, ["v1", "keys"]): return .error(405, .requestMethodNotAllowed)
        case (.post, ["v1", "authorizations"]):
            return try await once(request, AuthorizationRequest.self, \.id.text) { (message) throws(DatabaseError) in
                try await service.authorize(message, merchant: merchant, connection: request.connection)
            }
        case (_, let path) where path.count >= 3 && path[0] == "v1" && path[1] == "authorizations":
            guard let id = TransactionID(path[2]) else { return .error(404, .transactionUnknown) }
            return try await answer(request, id, path.dropFirst(3).joined(separator: "/"), merchant)
        case (.get, let path) where path.count == 3 && path[0] == "v1" && path[1] == "operations":
            guard let id = OperationID(path[2]) else { return .error(404, .transactionUnknown) }
            return try await service.status(ofOperation: id, merchant: merchant)
        case (.post, ["v1", "receipts"]):
            guard let key = request.fields.only("Idempotency-Key") else { return .error(400, .idempotencyKeyMissing) }
            guard Limits.idempotencyKeyLength.contains(key.utf8.count),
                key.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
            else { return .error(400, .idempotencyKeyInvalid) }
            let message: ReceiptDelivery
            do throws(WireError) { message = try WireJSON.decode(ReceiptDelivery.self, from: request.body) } catch {
                return SwitchAnswer(400, ErrorBody(error))
            }
            return try await service.sendReceipt(message, key: key, merchant: merchant)
        case (_, ["v1", "authorizations"]), (_, ["v1", "receipts"]): return .error(405, .requestMethodNotAllowed)
        default: return .error(404, .requestUnknownPath)
        }
    }

    private func answer(
        _ request: HTTPRequest, _ id: TransactionID, _ part: String, _ merchant: String?
    ) async throws(DatabaseError) -> SwitchAnswer {
        switch (request.method, part) {
        case (.get, ""): return try await service.status(of: id, merchant: merchant)
        case (.post, "reversals"):
            return try await once(request, ReversalRequest.self, { _ in id.text }) { (message) throws(DatabaseError) in
                try await service.reverse(id, message, merchant: merchant)
            }
        case (.post, "captures"):
            return try await once(request, CaptureRequest.self, \.id.text) { (message) throws(DatabaseError) in
                try await service.complete(id, message, merchant: merchant)
            }
        case (.post, "releases"):
            return try await once(request, ReleaseRequest.self, \.id.text) { (message) throws(DatabaseError) in
                try await service.release(id, message, merchant: merchant)
            }
        case (.post, "refunds"):
            return try await once(request, RefundRequest.self, \.id.text) { (message) throws(DatabaseError) in
                try await service.refund(id, message, merchant: merchant)
            }
        // Not in `supports`, so that nobody who keeps the contract asks for it.
        case (.post, "adjustments"): return .error(403, .adjustmentNotSupported)
        case (_, ""), (_, "reversals"), (_, "captures"), (_, "adjustments"), (_, "releases"), (_, "refunds"):
            return .error(405, .requestMethodNotAllowed)
        default: return .error(404, .requestUnknownPath)
        }
    }

    /// What is carried out once: its key is its own id.
    private func once<Message: Decodable>(
        _ request: HTTPRequest, _ type: Message.Type, _ id: (Message) -> String,
        _ carryOut: (Message) async throws(DatabaseError) -> SwitchAnswer
    ) async throws(DatabaseError) -> SwitchAnswer {
        guard let key = request.fields.only("Idempotency-Key") else { return .error(400, .idempotencyKeyMissing) }
        let message: Message
        do throws(WireError) {
            message = try WireJSON.decode(type, from: request.body)
        } catch {
            return SwitchAnswer(400, ErrorBody(error))
        }
        guard id(message) == key else { return .error(400, .idempotencyKeyInvalid, field: "id") }
        return try await carryOut(message)
    }
}
