// SPDX-License-Identifier: Apache-2.0
public import POSAPI
public import PaymentValues

/// A wish to close the open day.
public struct NewEndOfDay: Equatable, Sendable {
    public var owner: Principal
    /// Keys of ends of day are apart from those of transactions and operations.
    public var idempotencyKey: String
    public var requestHash: String
    /// What the shop calls the day.
    public var label: String
    /// What keeps the day open.
    public var blockOn: Set<OpenEntry.Kind>
    public var merchant: Merchant?
    public var terminal: String?
    /// Whom its figures are held against; `nil` for nobody.
    public var reconciliation: ReconciliationPlan?
    public var at: Timestamp

    public init(
        owner: Principal, idempotencyKey: String, requestHash: String, label: String, blockOn: Set<OpenEntry.Kind> = [],
        merchant: Merchant? = nil, terminal: String? = nil, reconciliation: ReconciliationPlan? = nil, at: Timestamp
    ) {
        self.reconciliation = reconciliation
        self.owner = owner
        self.idempotencyKey = idempotencyKey
        self.requestHash = requestHash
        self.label = label
        self.blockOn = blockOn
        self.merchant = merchant
        self.terminal = terminal
        self.at = at
    }
}

/// What came of `Journal.closeDay`.
public enum DayClosing: Equatable, Sendable {
    case closed(EndOfDay)
    /// The same principal has closed a day with this key.
    case repeated(EndOfDay)
    /// The same principal has used this key for another request.
    case keyReused
    /// Something is open that keeps the day open.
    case blocked([OpenEntry])
}

extension Journal {
    /// Closes the open day with its report and opens the next: every row of the ledger that has no day gets the one that
    /// closes, so that none is lost and none is counted twice. A report is written once and never altered.
    public func closeDay(_ new: NewEndOfDay) throws(JournalError) -> DayClosing {
        try database.transaction { () throws(JournalError) in
            if let earlier = try earlierDay(new) { return earlier }
            let open = try openEntries()
            let blocking = open.entries.filter { new.blockOn.contains($0.kind) }
            guard blocking.isEmpty else { return .blocked(blocking) }
            var day = try openDay()
            var totals = try totals(of: day, by: [.scheme])
            totals.day = nil
            // A clock that was set back closes no day before it was opened.
            day.closedAt = max(new.at, day.openedAt)
            day.label = new.label
            day.state = .closed
            day.closedBy = new.owner
            var end = EndOfDay(day: day, totals: totals, merchant: new.merchant, terminal: new.terminal)
            try database.run("UPDATE ledger SET day = ? WHERE day IS NULL", [.integer(day.number)])
            try database.run(
                """
                UPDATE business_day SET state = 'closed', label = ?, closed_at = ?, uid = ?, till = ?, idempotency_key = ?,
                    request_hash = ?, report = ? WHERE number = ? AND state = 'open'
                """,
                [
                    .text(new.label), SQLValue(day.closedAt?.milliseconds), new.owner.uidValue,
                    new.owner.tillValue, .text(new.idempotencyKey), .text(new.requestHash), try json(end),
                    .integer(day.number),
                ])
            if let plan = new.reconciliation {
                try self.plan(plan, for: end)
                try addFigures(to: &end)
            }
            try database.run(
                Schema.openDay, [.text(TransactionID(at: new.at).text), SQLValue(day.closedAt?.milliseconds)])
            try note(
                AuditEntry(
                    .dayEnd, subject: day.id, detail: "day \(day.number) closed \(new.owner)", at: new.at))
            return .closed(end)
        }
    }

    /// The day that takes whatever is booked now.
    public func openDay() throws(JournalError) -> BusinessDay {
        guard let day = try days(where: "state = 'open'", []).first else { throw .damaged }
        return day
    }

    /// Days, newest first.
    ///
    /// - Parameter owner: who has closed them, besides the open one; `nil` for all.
    public func days(limit: Int, closedBy owner: Principal? = nil) throws(JournalError) -> [BusinessDay] {
        let (condition, values) = Journal.owned(by: owner)
        return try days(
            where: "state = 'open' OR (\(condition)) ORDER BY number DESC LIMIT ?", values + [.integer(Int64(limit))])
    }

    /// A day by its id, or by its number; `nil` where there is none.
    public func day(_ name: String) throws(JournalError) -> BusinessDay? {
        try days(where: "id = ? OR number = ?", [.text(name), Int64(name).map(SQLValue.integer) ?? .null]).first
    }

    /// The report of a day as it was closed; `nil` for the open one, and for what was before there were reports.
    public func report(of day: BusinessDay) throws(JournalError) -> EndOfDay? {
        try database.query(
            "SELECT report, \(digests.isSound("business_day", by: "id")) FROM business_day WHERE number = ?",
            [.integer(day.number)]
        ) { (row) throws(JournalError) -> EndOfDay? in
            guard try row.integer(1) == 1 else { throw .damaged }
            guard var end: EndOfDay = try row.message(0) else { return nil }
            end.day = day
            try addFigures(to: &end)
            return end
        }.first ?? nil
    }

    private func earlierDay(_ new: NewEndOfDay) throws(JournalError) -> DayClosing? {
        let found = try database.query(
            "SELECT id, request_hash FROM business_day WHERE \(Journal.isOwned) AND idempotency_key = ?",
            new.owner.values + [.text(new.idempotencyKey)]
        ) { (row) throws(JournalError) in (try row.text(0), row.optionalText(1)) }
        guard let (id, hash) = found.first else { return nil }
        guard hash == new.requestHash else { return .keyReused }
        guard let day = try day(id), let end = try report(of: day) else { throw .damaged }
        return .repeated(end)
    }

    func days(where condition: String, _ values: [SQLValue]) throws(JournalError) -> [BusinessDay] {
        try database.query(
            "SELECT id, number, label, state, opened_at, closed_at, uid, till FROM business_day WHERE \(condition)",
            values
        ) { (row) throws(JournalError) in
            let label = try row.text(2)
            return BusinessDay(
                id: try row.text(0), number: try row.integer(1), label: label.isEmpty ? nil : label,
                state: try row.name(3), openedAt: try row.instant(4), closedAt: row.time(5),
                closedBy: row.optionalInteger(6) == nil ? nil : try row.principal(6, till: 7))
        }
    }
}
