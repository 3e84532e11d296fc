// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// What backends far away have begun: docs/internals/decisions/0187.
extension Journal {
    /// What backends may still ask for within 24 hours, in minor units.
    ///
    /// - Returns: `nil` where no limit holds for it.
    func leftOfDay(for new: NewTransaction) throws(JournalError) -> Int64? {
        guard let limit = new.remote?.dayLimit, new.amount.value > 0 else { return nil }
        return try leftOfDay(limit, new.amount.currency, new.mode, at: new.at)
    }

    /// What backends may still ask for within 24 hours, in minor units: whatever may have been charged counts, and what waits for its card.
    ///
    /// - Parameter limit: all of 24 hours, in minor units.
    /// - Throws: `JournalError` where it cannot be read.
    public func leftOfDay(
        _ limit: Int64, _ currency: Currency, _ mode: Mode, at now: Timestamp
    ) throws(JournalError) -> Int64 {
        let over: [TransactionState] = [.declined, .cancelled, .failed, .reversed, .completed]
        let sum = try database.query(
            """
            SELECT coalesce(sum(value), 0) FROM payment WHERE created_at > ? AND till GLOB ? AND mode = ? AND currency = ?
                AND state NOT IN (\(over.map { "'\($0.rawValue)'" }.joined(separator: ", ")))
            """,
            [
                .integer(now.advanced(bySeconds: -86_400).milliseconds), .text(TillName.remotePrefix + "*"),
                .text(mode.rawValue), .text(currency.code),
            ]
        ) { (row) throws(JournalError) in try row.integer(0) }
        return max(0, limit - (sum.first ?? 0))
    }

    /// Who has signed the order behind it, in the chain.
    func noteOrder(of new: NewTransaction) throws(JournalError) {
        guard let origin = new.remote else { return }
        let signer = origin.signer.map { " of \($0)" } ?? ""
        let key = origin.key.map { " key \($0)" } ?? ""
        try note(
            AuditEntry(
                .remote, subject: new.id.text, detail: "order \(new.idempotencyKey)\(signer)\(key) \(new.owner)",
                at: new.at))
    }
}
