// SPDX-License-Identifier: Apache-2.0
public import POSAPI
public import PaymentValues
public import Transactions

/// A stored payment as it is to be written down.
public struct NewQueueRecord: Equatable, Sendable {
    /// Signed; holds the sealed card record.
    public var record: String
    /// Payment service that it is for.
    public var serviceName: String
    public var storedAt: Timestamp

    public init(record: String, serviceName: String, storedAt: Timestamp) {
        self.record = record
        self.serviceName = serviceName
        self.storedAt = storedAt
    }
}

/// A stored payment that waits for its answer.
public struct QueueEntry: Equatable, Sendable {
    public var transaction: Transaction
    public var owner: Principal
    public var serviceName: String
    /// Whom it was sent to, once it was.
    public var service: AskedService?
    /// Why a person has to look after it.
    public var open: OpenReason?
    public var storedAt: Timestamp
    /// The open batch that it is in.
    public var batch: String?
    /// How often it was forwarded without success.
    public var attempts: Int
    /// When it is forwarded next.
    public var due: Timestamp
}

/// How much waits, without a look into what it is.
public struct QueueExtent: Equatable, Sendable {
    public var count: Int
    /// When the oldest was stored.
    public var oldest: Timestamp?

    public init(count: Int, oldest: Timestamp?) {
        self.count = count
        self.oldest = oldest
    }
}

/// What counts for the next payment that is to be stored.
public struct QueueFacts: Equatable, Sendable {
    public var count: Int
    /// Sums by currency code.
    public var totals: [String: Int64]
    public var serviceNames: Set<String>
    /// Stored payments of the card in question.
    public var ofCard: Int

    public init(_ entries: [QueueEntry], ofCard: Int = 0) {
        count = entries.count
        totals = Dictionary(grouping: entries, by: \.transaction.amount.currency.code).mapValues { entries in
            entries.reduce(0) { sum, entry in
                let (total, overflow) = sum.addingReportingOverflow(entry.transaction.amount.value)
                return overflow ? .max : total
            }
        }
        serviceNames = Set(entries.map(\.serviceName))
        self.ofCard = ofCard
    }
}

extension Journal {
    /// Writes down that a payment is stored, with its signed record: both or nothing.
    ///
    /// - Parameters:
    ///   - since: from when on the card's stored payments count.
    ///   - refusal: decides by what is in the queue at that very moment; no other payment gets in between.
    /// - Returns: what `refusal` says; `nil` where it is stored.
    public func store<Refusal>(
        _ changes: [StateChange], _ new: NewQueueRecord, to id: TransactionID, card: MaskedCard, since: Timestamp,
        unless refusal: (QueueFacts) -> Refusal?
    ) throws(JournalError) -> Refusal? {
        try database.transaction { () throws(JournalError) in
            let facts = QueueFacts(try queue(), ofCard: try storedCount(of: card, since: since))
            if let refused = refusal(facts) { return refused }
            try appendWithin(changes, to: id)
            try database.run(
                "INSERT INTO queue_record (payment, record, issuer, stored_at, due) VALUES (?, ?, ?, ?, ?)",
                [
                    .text(id.text), .text(new.record), .text(new.serviceName), .integer(new.storedAt.milliseconds),
                    .integer(new.storedAt.milliseconds),
                ])
            return nil
        }
    }

    /// What is stored or being forwarded, oldest first.
    ///
    /// - Throws: `.damaged` where one of the payments cannot be read: what they come to is not known then.
    public func queue() throws(JournalError) -> [QueueEntry] {
        let found = try readableQueue()
        guard found.unreadable == 0 else { throw .damaged }
        return found.entries
    }

    /// The same without payments that cannot be read, and how many those are: they keep nobody else from being forwarded.
    public func readableQueue() throws(JournalError) -> (entries: [QueueEntry], unreadable: Int) {
        let rows = try database.query(
            "SELECT payment, issuer, stored_at, batch, attempts, due FROM queue_record ORDER BY sequence"
        ) { (row) throws(JournalError) in
            (
                try row.text(0), try row.text(1), try row.integer(2), row.optionalText(3), try row.integer(4),
                try row.integer(5)
            )
        }
        var entries: [QueueEntry] = []
        for (id, serviceName, storedAt, batch, attempts, due) in rows {
            // Its signed record proves what was stored.
            guard let found = try readable(id) else { continue }
            entries.append(
                QueueEntry(
                    transaction: found.transaction, owner: found.owner, serviceName: serviceName,
                    service: found.service,
                    open: found.open, storedAt: Timestamp(milliseconds: storedAt), batch: batch,
                    attempts: Int(attempts),
                    due: Timestamp(milliseconds: due)))
        }
        return (entries, rows.count - entries.count)
    }

    /// - Returns: `nil` where there is no such payment, or where it cannot be read.
    private func readable(_ id: String) throws(JournalError) -> JournalRecord? {
        do throws(JournalError) { return try records(where: "id = ?", [.text(id)], .read).first } catch {
            guard error == .damagedPayment else { throw error }
            return nil
        }
    }

    /// How much is stored or being forwarded.
    public func queueExtent() throws(JournalError) -> QueueExtent {
        let found = try database.query("SELECT count(*), min(stored_at) FROM queue_record") {
            (row) throws(JournalError) in
            QueueExtent(
                count: Int(try row.integer(0)), oldest: row.optionalInteger(1).map { Timestamp(milliseconds: $0) })
        }
        guard let extent = found.first else { throw .damaged }
        return extent
    }

    /// The signed record of a payment; `nil` where it is not in the queue.
    public func queueRecord(_ id: TransactionID) throws(JournalError) -> String? {
        try database.query("SELECT record FROM queue_record WHERE payment = ?", [.text(id.text)]) {
            (row) throws(JournalError) in try row.text(0)
        }.first
    }

    /// Payments with this card that were stored since `time`, answered or not.
    public func storedCount(of card: MaskedCard, since time: Timestamp) throws(JournalError) -> Int {
        try database.query(
            """
            SELECT count(*) FROM payment WHERE card = ? AND EXISTS (SELECT 1 FROM state_change
                WHERE payment = payment.id AND state_change.state = 'stored' AND at >= ?)
            """, [try json(card), .integer(time.milliseconds)]
        ) { (row) throws(JournalError) in Int(try row.integer(0)) }.first ?? 0
    }

    /// Takes a stored payment out of the queue to forward it.
    ///
    /// - Returns: `false` where it is not stored (any more), or in a batch: then it must not be sent.
    public func beginForward(_ id: TransactionID, _ change: StateChange) throws(JournalError) -> Bool {
        try database.transaction { () throws(JournalError) in
            guard try state(of: id) == .stored, try batch(of: id) == .some(nil) else { return false }
            try appendWithin([change], to: id)
            return true
        }
    }

    /// Notes an attempt that came to nothing.
    public func postpone(_ id: TransactionID, attempts: Int, due: Timestamp) throws(JournalError) {
        try database.transaction { () throws(JournalError) in
            try database.run(
                "UPDATE queue_record SET attempts = ?, due = ? WHERE payment = ?",
                [.integer(Int64(attempts)), .integer(due.milliseconds), .text(id.text)])
        }
    }

    /// Makes all that waits due now.
    public func hasten(_ now: Timestamp) throws(JournalError) {
        try database.transaction { () throws(JournalError) in
            try database.run(
                "UPDATE queue_record SET due = ? WHERE due > ?",
                [.integer(now.milliseconds), .integer(now.milliseconds)])
        }
    }

    /// Declines a stored payment where `time` allows it.
    public func declineStored(
        _ id: TransactionID, _ change: StateChange, isInTime: (Timestamp) -> Bool
    ) throws(JournalError) -> StoredDecline {
        try database.transaction { () throws(JournalError) in
            let found = try database.query(
                "SELECT batch, stored_at FROM queue_record WHERE payment = ?", [.text(id.text)]
            ) { (row) throws(JournalError) in (row.optionalText(0), Timestamp(milliseconds: try row.integer(1))) }
            guard try state(of: id) == .stored, let (batch, storedAt) = found.first else { return .notStored }
            guard batch == nil else { return .inBatch }
            guard isInTime(storedAt) else { return .tooLate }
            try appendWithin([change], to: id)
            return .declined
        }
    }

    /// - Returns: `nil` where the payment is not in the queue, `.some(nil)` where it is in no batch.
    private func batch(of id: TransactionID) throws(JournalError) -> String?? {
        try database.query("SELECT batch FROM queue_record WHERE payment = ?", [.text(id.text)]) {
            (row) throws(JournalError) in row.optionalText(0)
        }.first
    }

    /// When the payment service was last reached.
    public func noteOnline(at: Timestamp, boot: String, serviceName: String) throws(JournalError) {
        try database.run(
            "INSERT OR REPLACE INTO online_contact (only_row, at, boot, issuer) VALUES (1, ?, ?, ?)",
            [.integer(at.milliseconds), .text(boot), .text(serviceName)])
    }

    /// - Returns: `nil` where it was never reached.
    public func lastOnline() throws(JournalError) -> (at: Timestamp, boot: String, serviceName: String)? {
        try database.query("SELECT at, boot, issuer FROM online_contact") { (row) throws(JournalError) in
            (Timestamp(milliseconds: try row.integer(0)), try row.text(1), try row.text(2))
        }.first
    }
}

/// What came of `Journal.declineStored`.
public enum StoredDecline: Equatable, Sendable {
    case declined, notStored, inBatch, tooLate
}
