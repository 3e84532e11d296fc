// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

extension Journal {
    /// The transaction that tries a sale once more and has not ended without money; `nil` where there is none.
    public func retry(of id: TransactionID) throws(JournalError) -> TransactionID? {
        try database.query(
            """
            SELECT id FROM payment WHERE retry_of = ? AND state NOT IN ('declined', 'cancelled', 'failed', 'reversed')
            """, [.text(id.text)]
        ) { (row) throws(JournalError) in try row.transactionID(0) }.first
    }
}
