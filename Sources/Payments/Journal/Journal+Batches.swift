// SPDX-License-Identifier: Apache-2.0
public import PaymentValues
public import Transactions

/// A batch of stored payments. One is open at a time.
public struct BatchRecord: Equatable, Sendable {
    public enum State: String, Sendable {
        case open
        /// Let go without a receipt; its payments were put back.
        case reset
        /// The payment service has signed its receipt.
        case resolved
    }

    public var id: String
    public var state: State
    public var serviceName: String
    public var count: Int
    /// Of the signed records.
    public var hash: String
    /// Over number and hash.
    public var signature: String
    public var createdAt: Timestamp

    public init(id: String, serviceName: String, count: Int, hash: String, signature: String, createdAt: Timestamp) {
        self.id = id
        state = .open
        self.serviceName = serviceName
        self.count = count
        self.hash = hash
        self.signature = signature
        self.createdAt = createdAt
    }
}

extension Journal {
    /// Opens a batch of these payments.
    ///
    /// - Returns: `false` where another batch is open, or one of the payments is not stored or in a batch (any more).
    public func begin(_ batch: BatchRecord, of payments: [TransactionID]) throws(JournalError) -> Bool {
        do throws(JournalError) {
            try database.transaction { () throws(JournalError) in
                guard try openBatch() == nil else { throw .unknownTransaction }
                try database.run(
                    """
                    INSERT INTO batch (id, state, issuer, count, hash, signature, created_at)
                        VALUES (?, 'open', ?, ?, ?, ?, ?)
                    """,
                    [
                        .text(batch.id), .text(batch.serviceName), .integer(Int64(batch.count)), .text(batch.hash),
                        .text(batch.signature), .integer(batch.createdAt.milliseconds),
                    ])
                for id in payments {
                    try database.run(
                        """
                        UPDATE queue_record SET batch = ? WHERE payment = ? AND batch IS NULL
                            AND (SELECT state FROM payment WHERE id = ?) = 'stored'
                        """, [.text(batch.id), .text(id.text), .text(id.text)])
                    guard database.changes == 1 else { throw .unknownTransaction }
                }
            }
            return true
        } catch {
            guard error == .unknownTransaction else { throw error }
            return false
        }
    }

    public func openBatch() throws(JournalError) -> BatchRecord? { try batches("state = 'open'", []).first }

    public func batch(_ id: String) throws(JournalError) -> BatchRecord? {
        try batches("id = ?", [.text(id)]).first
    }

    /// The signed records of an open batch, in its order, with their payments.
    public func records(of batch: String) throws(JournalError) -> [(id: TransactionID, record: String)] {
        try database.query("SELECT payment, record FROM queue_record WHERE batch = ? ORDER BY sequence", [.text(batch)])
        {
            (row) throws(JournalError) in
            guard let id = TransactionID(try row.text(0)) else { throw .damaged }
            return (id, try row.text(1))
        }
    }

    /// Puts the payments of an open batch back into the queue.
    ///
    /// - Returns: `false` where the batch is not open.
    public func reset(_ batch: String, at time: Timestamp) throws(JournalError) -> Bool {
        try database.transaction { () throws(JournalError) in
            guard try end(batch, .reset, at: time, receipt: nil) else { return false }
            try database.run("UPDATE queue_record SET batch = NULL WHERE batch = ?", [.text(batch)])
            return true
        }
    }

    /// Lets the payments of an open batch go: the payment service has signed that it has them.
    ///
    /// - Parameter receipt: its word, which is kept.
    /// - Returns: the payments; `nil` where the batch is not open.
    public func resolve(
        _ batch: String, _ change: StateChange, receipt: String
    ) throws(JournalError) -> [TransactionID]? {
        try database.transaction { () throws(JournalError) in
            let payments = try records(of: batch).map(\.id)
            guard try end(batch, .resolved, at: change.at, receipt: receipt) else { return nil }
            for id in payments { try appendWithin([change], to: id) }
            return payments
        }
    }

    private func end(
        _ batch: String, _ state: BatchRecord.State, at time: Timestamp, receipt: String?
    ) throws(JournalError) -> Bool {
        try database.run(
            "UPDATE batch SET state = ?, ended_at = ?, receipt = ? WHERE id = ? AND state = 'open'",
            [.text(state.rawValue), .integer(time.milliseconds), SQLValue(receipt), .text(batch)])
        return database.changes == 1
    }

    private func batches(_ condition: String, _ values: [SQLValue]) throws(JournalError) -> [BatchRecord] {
        try database.query(
            "SELECT id, state, issuer, count, hash, signature, created_at FROM batch WHERE \(condition)", values
        ) { (row) throws(JournalError) in
            guard let state = BatchRecord.State(rawValue: try row.text(1)) else { throw .damaged }
            var batch = BatchRecord(
                id: try row.text(0), serviceName: try row.text(2), count: Int(try row.integer(3)),
                hash: try row.text(4),
                signature: try row.text(5), createdAt: Timestamp(milliseconds: try row.integer(6)))
            batch.state = state
            return batch
        }
    }
}
