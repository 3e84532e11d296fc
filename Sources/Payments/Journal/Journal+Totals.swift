// SPDX-License-Identifier: Apache-2.0
public import POSAPI
public import PaymentValues

extension Journal {
    /// Sums over the ledger's rows of a day, with what is open now.
    ///
    /// - Parameter owner: whose transactions count; `nil` for all.
    public func totals(
        of day: BusinessDay, by groups: Set<TotalsGroup>, for owner: Principal? = nil
    ) throws(JournalError) -> Totals {
        let rows: (String, [SQLValue]) =
            day.state == .open ? ("ledger.day IS NULL", []) : ("ledger.day = ?", [.integer(day.number)])
        var totals = try totals(
            rows, from: day.openedAt, to: day.closedAt ?? Timestamp(milliseconds: .max), by: groups, for: owner)
        totals.day = day
        return totals
    }

    /// Sums over what was booked in a span of time, half open.
    public func totals(
        from: Timestamp, to: Timestamp, by groups: Set<TotalsGroup>, for owner: Principal? = nil
    ) throws(JournalError) -> Totals {
        var totals = try totals(
            ("ledger.at >= ? AND ledger.at < ?", [.integer(from.milliseconds), .integer(to.milliseconds)]), from: from,
            to: to, by: groups, for: owner)
        totals.byTime = true
        return totals
    }

    private func totals(
        _ condition: (String, [SQLValue]), from: Timestamp, to: Timestamp, by groups: Set<TotalsGroup>,
        for owner: Principal?
    ) throws(JournalError) -> Totals {
        var lines: [Key: TotalsLine] = [:]
        let owned = Journal.owned(by: owner)
        func change(
            _ key: Key, _ body: (inout TotalsLine) throws(JournalError) -> Void
        ) throws(JournalError) {
            var line: TotalsLine
            if let known = lines[key] { line = known } else { line = try key.line() }
            try body(&line)
            lines[key] = line
        }
        for (key, entry, money, hold, figures) in try sums(condition, groups, owned) {
            try change(key) { (line) throws(JournalError) in
                try line.add(entry, money: money, hold: hold, figures)
            }
        }
        for (key, state, count) in try ends(from: from, to: to, groups, owned) {
            try change(key) { (line) throws(JournalError) in
                if state == .declined { line.declined += count } else { line.cancelled += count }
            }
        }
        let sorted = lines.sorted { $0.key < $1.key }.map(\.value)
        let open = try openEntries(of: owner)
        // Of the whole shop's days a till knows nothing.
        return Totals(
            lines: sorted, net: try Journal.net(sorted), open: open.entries, openCount: open.count,
            days: owner == nil ? try unsettledDays() : nil)
    }

    private static func net(_ lines: [TotalsLine]) throws(JournalError) -> [NetSum] {
        var sums: [NetSum] = []
        for line in lines {
            guard let index = sums.firstIndex(where: { $0.mode == line.mode && $0.currency == line.currency }) else {
                sums.append(NetSum(mode: line.mode, currency: line.currency, value: line.net))
                continue
            }
            sums[index].value = try added(sums[index].value, line.net)
        }
        return sums
    }

    /// What lines differ in; what is not asked for is the same for all.
    private struct Key: Hashable, Comparable {
        let mode, currency, scheme, type, lane, cashier: String

        private var parts: [String] { [mode, currency, scheme, type, lane, cashier] }

        static func < (left: Key, right: Key) -> Bool { left.parts.lexicographicallyPrecedes(right.parts) }

        func line() throws(JournalError) -> TotalsLine {
            guard let mode = Mode(rawValue: mode), let currency = Currency(currency) else { throw .damaged }
            var line = TotalsLine(mode: mode, currency: currency)
            line.scheme = scheme.isEmpty ? nil : scheme
            line.type = TransactionType(rawValue: type)
            line.lane = lane.isEmpty ? nil : lane
            line.cashier = cashier.isEmpty ? nil : cashier
            return line
        }
    }

    /// - Parameter table: one of those of a query that has `payment` in it.
    private static func columns(of table: String, _ groups: Set<TotalsGroup>) -> String {
        let optional = TotalsGroup.allCases.map { group in
            guard groups.contains(group) else { return "''" }
            let own = "\(table).\(group.rawValue)"
            // A refund that reads no card is of the scheme of its sale.
            return group != .scheme
                ? "coalesce(\(own), '')"
                : "coalesce(\(own), (SELECT sale.scheme FROM payment AS sale WHERE sale.id = payment.of), '')"
        }
        return (["\(table).mode", "\(table).currency"] + optional).joined(separator: ", ")
    }

    private static func key(_ row: borrowing Row) throws(JournalError) -> Key {
        Key(
            mode: try row.text(0), currency: try row.text(1), scheme: try row.text(2), type: try row.text(3),
            lane: try row.text(4), cashier: try row.text(5))
    }

    private typealias Sum = (Key, LedgerSum, money: Int64, hold: Int64, LedgerFigures)

    private func sums(
        _ condition: (String, [SQLValue]), _ groups: Set<TotalsGroup>, _ owned: (String, [SQLValue])
    ) throws(JournalError) -> [Sum] {
        let sql = """
            SELECT \(Journal.columns(of: "ledger", groups)), CASE
                    WHEN entry = 'reversed' AND ledger.type = 'refund' THEN 'corrected'
                    WHEN entry = 'reversed' AND money = 0 THEN 'released'
                    WHEN entry = 'expired' THEN 'released' ELSE entry END AS kind,
                coalesce(sum(money), 0), coalesce(sum(hold), 0), count(*), coalesce(sum(ledger.tip > 0), 0),
                coalesce(sum(ledger.tip), 0), coalesce(sum(CASE WHEN entry = 'delivered' THEN payment.value END), 0)
            FROM ledger LEFT JOIN payment ON payment.id = ledger.payment WHERE \(condition.0) AND \(owned.0)
            GROUP BY 1, 2, 3, 4, 5, 6, 7
            """
        return try database.query(sql, condition.1 + owned.1) { (row) throws(JournalError) -> Sum in
            (
                try Journal.key(row), try row.name(6), try row.integer(7), try row.integer(8),
                LedgerFigures(
                    count: Int(try row.integer(9)),
                    tips: Figure(count: Int(try row.integer(10)), value: try row.integer(11)),
                    handedOver: try row.integer(12))
            )
        }
    }

    /// How many transactions ended without money.
    private func ends(
        from: Timestamp, to: Timestamp, _ groups: Set<TotalsGroup>, _ owned: (String, [SQLValue])
    ) throws(JournalError) -> [(Key, TransactionState, Int)] {
        try database.query(
            """
            SELECT \(Journal.columns(of: "payment", groups)), state, count(*) FROM payment
            WHERE created_at >= ? AND created_at < ? AND state IN ('declined', 'cancelled')
                AND type IN ('purchase', 'charge', 'link', 'handover', 'refund') AND \(owned.0) GROUP BY 1, 2, 3, 4, 5, 6, 7
            """, [.integer(from.milliseconds), .integer(to.milliseconds)] + owned.1
        ) { (row) throws(JournalError) in (try Journal.key(row), try row.name(6), Int(try row.integer(7))) }
    }
}

/// What rows of the ledger are summed up as.
private enum LedgerSum: String {
    case authorised, adjusted, captured, released, reversed, refunded, delivered, corrected
}

private struct LedgerFigures {
    var count: Int
    var tips: Figure
    var handedOver: Int64
}

extension TotalsLine {
    /// The sums are SQLite's, which refuses to overflow; lines of one kind of row are added once.
    fileprivate mutating func add(
        _ entry: LedgerSum, money: Int64, hold: Int64, _ figures: LedgerFigures
    ) throws(JournalError) {
        net = try added(net, money)
        switch entry {
        case .authorised: held = Figure(count: figures.count, value: try added(held.value, hold))
        case .adjusted: held.value = try added(held.value, hold)
        case .captured:
            captured = Figure(count: figures.count, value: money)
            tips = figures.tips
        case .released: released = Figure(count: figures.count, value: hold)
        case .reversed: reversed = Figure(count: figures.count, value: money)
        case .refunded: refunded = Figure(count: figures.count, value: money)
        case .delivered: handedOver = Figure(count: figures.count, value: figures.handedOver)
        case .corrected: corrected = Figure(count: figures.count, value: money)
        }
    }
}

private func added(_ left: Int64, _ right: Int64) throws(JournalError) -> Int64 {
    let (sum, overflow) = left.addingReportingOverflow(right)
    guard !overflow else { throw .damaged }
    return sum
}
