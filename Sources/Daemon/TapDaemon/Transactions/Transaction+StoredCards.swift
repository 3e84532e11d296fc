// SPDX-License-Identifier: Apache-2.0
import Journal
import POSAPI
import PaymentValues

extension Transaction {
    /// What the answer to a read says beyond the read: the card that was stored, and what the journal has of a card
    /// that was looked up. Nothing is asked of the service.
    mutating func addStoredCards(from journal: JournalThread) async throws(JournalError) {
        guard type == .verification || details?.store == true, state == .approved else { return }
        let asked = self
        switch asked.details?.store == true ? .saveCard : asked.details?.reason {
        case .saveCard, .openTab:
            credential = try await journal.use { (journal) throws(JournalError) in
                try journal.storedCard(with: asked.id)?.withoutToken
            }
        case .lookUp:
            earlier = try await journal.use { (journal) throws(JournalError) in
                try journal.earlier(than: asked).map(EarlierTransaction.init)
            }
        case .other, nil: break
        }
    }
}
