// SPDX-License-Identifier: Apache-2.0
import Journal
import POSAPI
import PaymentValues

extension EventOutlet {
    /// Tells of the card that a transaction has stored; nothing where the payment service gave no name for it. Who listens for
    /// events learns it, and everybody else from the transaction.
    func tellOfCard(_ transaction: Transaction, _ journal: JournalThread) async {
        let stored = try? await journal.use { (journal) throws(JournalError) in
            try journal.storedCard(with: transaction.id)
        }
        guard let stored else { return }
        var event = Event(.cardStored, about: transaction)
        (event.credential, event.card) = (stored.id, stored.card.withoutToken)
        publish(event)
    }
}
