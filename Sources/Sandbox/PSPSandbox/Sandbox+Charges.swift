// SPDX-License-Identifier: Apache-2.0
import PSPAPI
import PaymentValues

/// Stored cards: charged by the name that the sandbox gave them, until that is forgotten.
extension Sandbox {
    /// As an authorisation: decides by the amount, writes the books, waits where the amount asks for it, and answers.
    func charge(_ request: ChargeRequest, isOwnKey: Bool) async throws(StoreError) -> SandboxAnswer {
        guard isOwnKey else { return .error(400, .idempotencyKeyInvalid, field: "id") }
        guard features.contains(.charge) else { return .error(403, .chargeNotSupported) }
        guard (1...Limits.amount).contains(request.amount.value) else {
            return .error(400, .requestInvalidField, field: "amount.value")
        }
        return try await answer(request.id, request.amount) { (rule) throws(StoreError) in
            try store.atomically { () throws(StoreError) in
                var payment = try store.payment(request.id) ?? BookedPayment(id: request.id)
                if let answer = payment.answer { return answer }
                let stored = try store.storedCards(request.token).first
                guard var entry = LedgerEntry(request, card: stored?.entry?.card) else { throw .damaged }
                var answer = AmountRule.answer(rule, to: request.amount)
                if stored == nil {
                    entry.failedCheck = "unknownToken"
                    answer = AuthorizationAnswer(outcome: .declined, responseCode: "14")
                } else if payment.isUnwanted {
                    answer = AuthorizationAnswer(outcome: .declined, responseCode: "94")
                }
                if answer.outcome == .declined {
                    answer.retry = Self.stops.contains(answer.responseCode ?? "") ? .never : .later
                }
                payment.cardToken = stored?.cardToken
                payment.terminal = request.terminal
                return try book(&payment, entry, answer, rule)
            }
        }
    }

    /// What an issuer never takes back: picked up, no such card, lost, stolen, not permitted. By the codes' meaning; networks
    /// keep lists of their own, which were not at hand.
    private static let stops: Set<String> = ["04", "07", "14", "41", "43", "57"]

    /// Forgets a card.
    func forget(_ request: TokenDeletionRequest, isOwnKey: Bool) throws(StoreError) -> SandboxAnswer {
        guard isOwnKey else { return .error(400, .idempotencyKeyInvalid, field: "id") }
        guard features.contains(.tokenDeletion) else { return .error(403, .chargeNotSupported) }
        return try store.atomically { () throws(StoreError) in
            let stored = try store.storedCards(request.token)
            guard !stored.isEmpty else { return .error(404, .storedCardUnknown) }
            for var payment in stored {
                payment.isStored = nil
                try store.save(payment)
            }
            return SandboxAnswer(200, TokenDeletionAnswer(id: request.id))
        }
    }
}

extension SandboxStore {
    /// The checks that have stored the card, as far as it is not forgotten.
    func storedCards(_ token: String) throws(StoreError) -> [BookedPayment] {
        try payments().filter { $0.isStored == true && $0.cardToken == token }
    }
}
