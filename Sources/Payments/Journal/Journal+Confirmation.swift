// SPDX-License-Identifier: Apache-2.0
import POSAPI
public import PaymentValues
public import Transactions

/// What came of `Journal.confirm`.
public enum ConfirmationOutcome: Equatable, Sendable {
    /// Now, or by an earlier call.
    case confirmed
    case notWanted
    case tooLate
    case notApproved
}

extension Journal {
    /// An approval that the POS still has to confirm, in SQL. What a person has settled waits for nobody.
    static let awaitsConfirmation =
        "(state = 'approved' AND confirm_due IS NOT NULL AND confirmed_at IS NULL AND settlement IS NULL)"

    /// Writes down that the POS has confirmed an approval. Once its time is over nothing confirms it any more, whether
    /// its reversal has begun or not.
    ///
    /// - Parameter isInTime: by the clock that nobody sets; `nil` where the run that approved it is over, and the wall clock
    ///   is all there is.
    public func confirm(
        _ id: TransactionID, at time: Timestamp, isInTime: Bool? = nil
    ) throws(JournalError) -> ConfirmationOutcome {
        try database.transaction { () throws(JournalError) in
            guard let transaction = try records(where: "id = ?", [.text(id.text)]).first?.transaction else {
                throw .unknownTransaction
            }
            guard let confirmation = transaction.confirmation else {
                return transaction.state == .approved ? .notWanted : .notApproved
            }
            guard transaction.state == .approved else { return .tooLate }
            if confirmation.confirmedAt != nil { return .confirmed }
            guard isInTime ?? (time <= confirmation.due) else { return .tooLate }
            try database.run(
                "UPDATE payment SET confirmed_at = ? WHERE id = ?", [.integer(time.milliseconds), .text(id.text)])
            try touch(id, at: time)
            return .confirmed
        }
    }

    /// Approved payments whose POS has not confirmed them yet, the most urgent first, each with its time. Damaged ones are
    /// not among them.
    public func unconfirmed() throws(JournalError) -> [(id: TransactionID, due: Timestamp)] {
        try database.query(
            """
            SELECT id, confirm_due FROM payment
            WHERE \(Journal.awaitsConfirmation) AND \(isSoundRow)
            ORDER BY confirm_due
            """
        ) { (row) throws(JournalError) in
            guard let id = TransactionID(try row.text(0)) else { throw .damaged }
            return (id, Timestamp(milliseconds: try row.integer(1)))
        }
    }

    /// Begins to take an approved payment back.
    ///
    /// - Parameter unconfirmedOnly: leaves one alone that has been confirmed.
    /// - Returns: what it was in the moment before; `nil` where it is not approved (any more), or confirmed.
    public func beginReversal(
        _ id: TransactionID, _ change: StateChange, unconfirmedOnly: Bool
    ) throws(JournalError) -> JournalRecord? {
        try database.transaction { () throws(JournalError) in
            guard let record = try records(where: "id = ?", [.text(id.text)]).first,
                record.transaction.state == .approved
            else { return nil }
            if unconfirmedOnly, record.transaction.confirmation.map({ $0.confirmedAt != nil }) ?? false { return nil }
            try appendWithin([change], to: id)
            return record
        }
    }
}
