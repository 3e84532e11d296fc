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
    func answerAboutStoredCards(
        _ path: ArraySlice<String>, _ request: HTTPRequest, _ caller: Caller
    ) async throws(ErrorBody) -> HTTPResponse {
        guard caller.mayCharge else { throw ErrorBody(.authAdminRequired) }
        let mode = settings.snapshot.mode
        guard let name = path.first else {
            try request.only(.get, parameters: ["token"])
            let token = request.parameter("token")
            if let token, !token.isReference(upTo: 128) {
                throw ErrorBody(.requestInvalidParameter, field: "token")
            }
            let found = try await inJournal { (journal) throws(JournalError) in
                try journal.storedCards(mode: mode, token: token)
            }
            return .message(200, StoredCardList(found))
        }
        guard let id = StoredCardID(rawValue: name) else { throw ErrorBody(.storedCardUnknown) }
        switch path.count {
        case 1:
            try request.only(.get, .delete, parameters: [])
            let owner = caller.principal
            let isDeletion = request.method == .delete
            let found = try await inJournal { (journal) throws(JournalError) in
                isDeletion
                    ? try journal.beginDeletion(of: id, mode: mode, by: owner, at: .now) : try journal.storedCard(id)
            }
            guard let found, found.mode == mode else { throw ErrorBody(.storedCardUnknown) }
            guard isDeletion else { return .message(200, found) }
            await deleter.look()
            return .message(200, found)
        case 2 where path.last == "agreements":
            try request.only(.post, parameters: [])
            return try await agree(about: id, request, caller)
        default: throw ErrorBody(.requestUnknownPath)
        }
    }

    private func agree(
        about id: StoredCardID, _ request: HTTPRequest, _ caller: Caller
    ) async throws(ErrorBody) -> HTTPResponse {
        let key = try request.idempotencyKey()
        let terms = try request.message(AgreementTerms.self)
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

    /// `DELETE /v1/agreements/{id}`: no charge under it from here on; the text stays as proof.
    func endAgreement(
        _ name: String, _ request: HTTPRequest, _ caller: Caller
    ) async throws(ErrorBody) -> HTTPResponse {
        guard caller.mayCharge else { throw ErrorBody(.authAdminRequired) }
        try request.only(.delete, parameters: [])
        guard let id = AgreementID(rawValue: name) else { throw ErrorBody(.agreementMissing) }
        let owner = caller.principal
        let ended = try await inJournal { (journal) throws(JournalError) in
            try journal.endAgreement(id, by: owner, at: .now)
        }
        guard let ended else { throw ErrorBody(.agreementMissing) }
        return .message(200, ended)
    }
}
