// SPDX-License-Identifier: Apache-2.0
import Ledger
import POSAPI
public import PaymentValues
public import Transactions

extension Journal {
    /// Writes a refund that names a payment down in state `created`, if that payment's books allow it: from then on it
    /// counts against whoever asks for more.
    ///
    /// - Parameters:
    ///   - new: its amount's currency is the payment's; the value is `amount`, or all that is refundable.
    ///   - amount: `nil` for all.
    public func createRefund(
        _ new: NewTransaction, of original: TransactionID, amount: Int64?
    ) throws(JournalError) -> RefundCreation {
        try database.transaction { () throws(JournalError) in
            if let earlier = try earlier(
                owner: new.owner, idempotencyKey: new.idempotencyKey, requestHash: new.requestHash)
            {
                return .known(earlier)
            }
            guard var books = try books(of: original),
                try records(where: "id = ?", [.text(original.text)]).first?.transaction.mode == new.mode
            else { return .originalUnknown }
            guard books.currency == new.amount.currency else { return .otherCurrency(books.currency) }
            let refund: LinkedRefund
            do throws(LedgerRefusal) {
                refund = try books.requestRefund(new.id, amount: amount)
            } catch {
                return .refused(error)
            }
            var new = new
            new.of = original
            new.amount.value = refund.amount
            let number = try insert(new)
            let why = new.details?.refundCard == .any ? " to another card: \(new.details?.refundReason ?? "")" : ""
            try note(
                AuditEntry(.refund, subject: new.id.text, detail: "of \(original) \(new.owner)\(why)", at: new.at))
            try renewAccount(of: original, at: new.at)
            return .created(number: number, amount: new.amount)
        }
    }

    /// What was read for a refund is not sent any more, and not kept.
    public func dropAuthorization(of id: TransactionID) throws(JournalError) {
        try database.transaction { () throws(JournalError) in
            try database.run("UPDATE payment SET authorization = NULL WHERE id = ?", [.text(id.text)])
        }
    }

    /// Begins to take an approved payment back as a whole, because somebody wishes it: where parts of it were given back or
    /// captured, there is no whole.
    public func beginWishedReversal(
        _ id: TransactionID, _ change: StateChange
    ) throws(JournalError) -> ReversalBeginning {
        try database.transaction { () throws(JournalError) in
            guard let record = try records(where: "id = ?", [.text(id.text)]).first,
                record.transaction.state == .approved
            else { return .notApproved }
            if var books = try books(of: id) {
                do throws(LedgerRefusal) { _ = try books.requestReversal() } catch { return .refused(error) }
            }
            try appendWithin([change], to: id)
            return .begun(record)
        }
    }
}
