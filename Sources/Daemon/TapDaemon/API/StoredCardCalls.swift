// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Configuration
import Crypto
import Journal
import LocalHTTP
import POSAPI
import PaymentValues

/// Stored cards and agreements: for administrators and the group of `[credentials]`, never for a till.
extension PointOfSaleAPI {
    func storedCards(_ request: HTTPRequest) async throws(ErrorBody) -> StoredCardList {
        let (mode, token) = (settings.snapshot.mode, request.parameter("token"))
        if let token, !token.isReference(upTo: 128) { throw ErrorBody(.requestInvalidParameter, field: "token") }
        return StoredCardList(
            try await inJournal { (journal) throws(JournalError) in
                try journal.storedCards(mode: mode, token: token)
            })
    }

    func storedCard(
        _ name: String, deletedBy owner: Principal? = nil
    ) async throws(ErrorBody) -> StoredCard {
        guard let id = StoredCardID(rawValue: name) else { throw ErrorBody(.storedCardUnknown) }
        let mode = settings.snapshot.mode
        let found = try await inJournal { (journal) throws(JournalError) in
            guard let owner else { return try journal.storedCard(id) }
            return try journal.beginDeletion(of: id, mode: mode, by: owner, at: .now)
        }
        guard let found, found.mode == mode else { throw ErrorBody(.storedCardUnknown) }
        if owner != nil { await deleter.look() }
        return found
    }

    /// A cashier charges the tab that this cashier has opened, and no other stored card.
    func requireOwnTab(_ charge: ChargeOptions, _ caller: Caller) async throws(ErrorBody) {
        let owner = caller.principal
        let isOwn = try await inJournal { (journal) throws(JournalError) in
            try journal.hasOpened(charge.agreement, owner)
        }
        guard isOwn, charge.initiator == .merchant else { throw ErrorBody(.authAdminRequired, field: "type") }
    }

    func agree(about name: String, _ request: HTTPRequest, _ caller: Caller) async throws(ErrorBody) -> HTTPResponse {
        guard let id = StoredCardID(rawValue: name) else { throw ErrorBody(.storedCardUnknown) }
        let key = try request.idempotencyKey()
        let terms = try request.message(AgreementTerms.self)
        guard !terms.text.namesCard else { throw ErrorBody(.requestInvalidField, field: "text") }
        let hash: String
        do { hash = Hex.string(SHA256.hash(data: try WireJSON.encode(terms) + Array(id.rawValue.utf8))) } catch {
            throw ErrorBody(error)
        }
        let (owner, mode) = (caller.principal, settings.snapshot.mode)
        let creation = try await inJournal { (journal) throws(JournalError) -> AgreementCreation in
            guard try journal.storedCard(id)?.mode == mode else { return .unknown }
            return try journal.agree(
                terms, about: id, owner: owner, idempotencyKey: key, requestHash: hash, at: .now)
        }
        switch creation {
        case .created(let agreement): return .message(201, agreement)
        case .repeated(let agreement):
            return .message(201, agreement, fields: ["Idempotency-Replayed": "true"])
        case .keyReused: throw ErrorBody(.idempotencyKeyReused)
        case .unknown: throw ErrorBody(.storedCardUnknown)
        case .deleted: throw ErrorBody(.storedCardDeleted)
        }
    }

    /// No charge under it from here on; the text stays as proof.
    func endAgreement(_ name: String, _ caller: Caller) async throws(ErrorBody) -> Agreement {
        guard let id = AgreementID(rawValue: name) else { throw ErrorBody(.agreementMissing) }
        let owner = caller.principal
        let ended = try await inJournal { (journal) throws(JournalError) in
            try journal.endAgreement(id, by: owner, at: .now)
        }
        guard let ended else { throw ErrorBody(.agreementMissing) }
        return ended
    }
}

extension Route {
    static let storedCards: [Route] = [
        Route(.get, "v1/credentials", ["token"], for: .charger) { (api, call) throws(ErrorBody) in
            .message(200, try await api.storedCards(call.request))
        },
        Route(.get, "v1/credentials/{id}", for: .charger) { (api, call) throws(ErrorBody) in
            .message(200, try await api.storedCard(call.name))
        },
        Route(.delete, "v1/credentials/{id}", for: .charger) { (api, call) throws(ErrorBody) in
            .message(200, try await api.storedCard(call.name, deletedBy: call.caller.principal))
        },
        Route(.post, "v1/credentials/{id}/agreements", for: .charger) { (api, call) throws(ErrorBody) in
            try await api.agree(about: call.name, call.request, call.caller)
        },
        Route(.delete, "v1/agreements/{id}", for: .charger) { (api, call) throws(ErrorBody) in
            .message(200, try await api.endAgreement(call.name, call.caller))
        },
    ]
}
