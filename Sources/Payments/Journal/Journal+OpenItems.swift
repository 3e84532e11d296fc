// SPDX-License-Identifier: Apache-2.0
public import POSAPI
public import PaymentValues
public import Transactions

extension Journal {
    /// Writes down that a person has to look after a payment, with changes of state that come before, and with the next
    /// attempt at its reversal. What is open for the same reason stays open since when it was.
    public func keepOpen(
        _ reason: OpenReason, _ changes: [StateChange] = [], _ plan: ReversalPlan? = nil, for id: TransactionID,
        at time: Timestamp = .now
    ) throws(JournalError) {
        try database.transaction { () throws(JournalError) in
            try appendWithin(changes, to: id)
            if let plan { try planWithin(plan, for: id) }
            try database.run(
                """
                INSERT INTO open_item (payment, reason, since) VALUES (?, ?, ?)
                ON CONFLICT (payment) DO UPDATE SET reason = excluded.reason WHERE reason IS NOT excluded.reason
                """, [.text(id.text), .text(reason.rawValue), .integer(time.milliseconds)])
            guard database.changes == 1 else { return }
            try touch(id, at: time)
            try note(AuditEntry(.openItem, subject: id.text, detail: "open: \(reason.rawValue)", at: time))
        }
    }

    /// The same for a stored payment, where nothing is known that says more: the reason that it has stays, and what has ended
    /// since is no open item.
    ///
    /// - Returns: whether it has become one.
    @discardableResult
    public func keepOpen(
        _ reason: OpenReason, whileQueued id: TransactionID, at time: Timestamp = .now
    ) throws(JournalError) -> Bool {
        try database.transaction { () throws(JournalError) in
            try database.run(
                """
                INSERT INTO open_item (payment, reason, since) SELECT payment, ?, ? FROM queue_record WHERE payment = ?
                ON CONFLICT (payment) DO NOTHING
                """, [.text(reason.rawValue), .integer(time.milliseconds), .text(id.text)])
            guard database.changes == 1 else { return false }
            try touch(id, at: time)
            try note(AuditEntry(.openItem, subject: id.text, detail: "open: \(reason.rawValue)", at: time))
            return true
        }
    }

    /// Ends an open item as a person says.
    ///
    /// - Returns: why not; `nil` where it has ended.
    public func settle(
        _ id: TransactionID, _ change: StateChange, _ settlement: Settlement
    ) throws(JournalError) -> ErrorCode? {
        try database.transaction { () throws(JournalError) in
            guard let found = try records(where: "id = ?", [.text(id.text)]).first else { throw .unknownTransaction }
            guard found.open != nil else { return found.transaction.settlementRefusal }
            let batch = try database.query("SELECT batch FROM queue_record WHERE payment = ?", [.text(id.text)]) {
                (row) throws(JournalError) in row.optionalText(0)
            }.first
            guard batch.flatMap(\.self) == nil else { return .queueInBatch }
            try appendWithin([change], to: id)
            try note(
                AuditEntry(
                    .openItem, subject: id.text, detail: "settled as \(settlement.evidence)", at: settlement.at))
            return nil
        }
    }

    /// Writes down that the payment service has said the contrary of what a person had.
    public func contradict(_ id: TransactionID, at time: Timestamp) throws(JournalError) {
        try database.transaction { () throws(JournalError) in
            guard var settlement = try records(where: "id = ?", [.text(id.text)]).first?.transaction.settlement else {
                throw .unknownTransaction
            }
            guard settlement.contradictedAt == nil else { return }
            settlement.contradictedAt = time
            try database.run(
                "UPDATE payment SET settlement = ? WHERE id = ?", [try json(settlement), .text(id.text)])
            try touch(id, at: time)
            try note(
                AuditEntry(
                    .openItem, subject: id.text,
                    detail: "contradicted by the payment service, settled as \(settlement.outcome.rawValue)", at: time))
        }
    }

    /// Payments that a person has to look after, the oldest first.
    ///
    /// - Parameter owner: whose they have to be; `nil` for all.
    public func openItems(
        limit: Int = Limits.openItems, of owner: Principal? = nil
    ) throws(JournalError) -> [OpenItem] {
        let (condition, values) = Journal.owned(by: owner)
        let found = try database.query(
            """
            SELECT payment, since FROM open_item JOIN payment ON payment.id = open_item.payment WHERE \(condition)
            ORDER BY since, open_item.payment LIMIT ?
            """, values + [.integer(Int64(limit))]
        ) { (row) throws(JournalError) in (try row.text(0), Timestamp(milliseconds: try row.integer(1))) }
        var items: [OpenItem] = []
        for (id, since) in found {
            // A damaged one is told of by the status: it hides none of the others.
            guard let record = try records(where: "id = ?", [.text(id)], .leaveOut).first else { continue }
            guard let reason = record.open else { throw .damaged }
            items.append(OpenItem(record.transaction, reason, since: since, service: record.service))
        }
        return items
    }

    /// How many they are.
    public func openItemExtent(of owner: Principal? = nil) throws(JournalError) -> OpenItemExtent {
        let (condition, values) = Journal.owned(by: owner)
        let found = try database.query(
            "SELECT count(*), min(since) FROM open_item WHERE payment IN (SELECT id FROM payment WHERE \(condition))",
            values
        ) { (row) throws(JournalError) in
            OpenItemExtent(
                count: Int(try row.integer(0)), oldest: row.optionalInteger(1).map { Timestamp(milliseconds: $0) })
        }
        guard let extent = found.first else { throw .damaged }
        return extent
    }
}
