// SPDX-License-Identifier: Apache-2.0
import Ledger
public import POSAPI
public import PSPAPI
public import PaymentValues

/// Whom a day's figures are held against.
public struct ReconciliationPlan: Equatable, Sendable {
    public var service: AskedService
    public var mode: Mode
    /// As authorisations name it.
    public var terminal: String

    public init(service: AskedService, mode: Mode, terminal: String) {
        self.service = service
        self.mode = mode
        self.terminal = terminal
    }
}

/// A closed day of which the payment service has not given its figures.
public struct OpenReconciliation: Equatable, Sendable {
    public let day: BusinessDay
    public let service: AskedService
    /// Byte for byte as it is sent each time.
    public let body: String
    public let lines: [FigureLine]
    /// How many movements belong to another service.
    public let elsewhere: Int
    public let attempts: Int
    public let due: Timestamp
}

/// What came of asking for a day's figures.
public struct ReconciliationEnd: Equatable, Sendable {
    public var figures: ServiceFigures
    public var differences: [DayDifference]
    public var state: BusinessDay.State

    public init(figures: ServiceFigures, differences: [DayDifference], state: BusinessDay.State) {
        self.figures = figures
        self.differences = differences
        self.state = state
    }
}

/// What is kept of it.
private struct KeptFigures: Codable {
    var reference: String?
    var lines: [FigureLine]?
    var contradiction: Bool?
    var differences: [DayDifference]
}

extension Journal {
    /// The name of the payment service in a column of JSON; `NULL` if that is none. Rows from before 2026-11-28 have it as `issuer`.
    static func serviceName(in column: String) -> String {
        """
        CASE WHEN json_valid(\(column)) THEN
            coalesce(json_extract(\(column), '$.serviceName'), json_extract(\(column), '$.issuer')) END
        """
    }

    /// One movement of money a row: what it is of, whose it is, and how much. What came to nothing is none.
    private static let movements = """
        SELECT ledger.mode AS mode, ledger.currency AS currency,
            coalesce(ledger.scheme, payment.scheme, original.scheme, '') AS scheme,
            CASE WHEN entry IN ('captured', 'refunded') THEN entry ELSE 'reversed' END AS kind,
            CASE WHEN entry = 'captured' AND operation <> '' THEN operation ELSE ledger.payment END AS item,
            sum(money) AS value,
            coalesce(\(serviceName(in: "payment.service")), ?1) IS ?1 AS isOurs
        FROM ledger LEFT JOIN payment ON payment.id = ledger.payment
            LEFT JOIN payment AS original ON original.id = payment.of
        WHERE day = ?2 GROUP BY 1, 2, 3, 4, 5, 7 HAVING sum(money) <> 0
        """

    /// Writes down what the payment service is to be told of a day that is being closed.
    func plan(_ plan: ReconciliationPlan, for end: EndOfDay) throws(JournalError) {
        let values: [SQLValue] = [.text(plan.service.serviceName), .integer(end.day.number)]
        let lines = try database.query(
            """
            SELECT mode, currency, scheme, kind, count(*), sum(value) FROM (\(Journal.movements)) WHERE isOurs
            GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
            """, values
        ) { (row) throws(JournalError) in
            guard let currency = Currency(journalled: try row.text(1)) else { throw .damaged }
            let scheme = try row.text(2)
            return FigureLine(
                mode: try row.name(0), currency: currency, scheme: scheme.isEmpty ? nil : scheme,
                kind: try row.name(3), count: Int(try row.integer(4)), value: try row.integer(5))
        }
        let elsewhere = try database.query(
            "SELECT count(*) FROM (\(Journal.movements)) WHERE NOT isOurs", values
        ) { (row) throws(JournalError) in try row.integer(0) }.first
        let request = ReconciliationRequest(
            id: end.day.id, mode: plan.mode, terminal: plan.terminal, number: end.day.number,
            openedAt: end.day.openedAt, closedAt: end.day.closedAt ?? end.day.openedAt, lines: lines)
        try database.run(
            "UPDATE business_day SET service = ?, request = ?, elsewhere = ?, due = ? WHERE number = ?",
            [
                try json(plan.service), try json(request), .integer(elsewhere ?? 0),
                SQLValue(end.day.closedAt?.milliseconds), .integer(end.day.number),
            ])
    }

    /// Days that the payment service is still to be asked about, the oldest first.
    public func openReconciliations() throws(JournalError) -> [OpenReconciliation] {
        let rows = try database.query(
            """
            SELECT number, service, request, elsewhere, attempts, due FROM business_day
            WHERE due IS NOT NULL AND request IS NOT NULL ORDER BY number
            """
        ) { (row) throws(JournalError) in
            (
                try row.integer(0), try row.message(1) as AskedService?, try row.text(2), try row.integer(3),
                try row.integer(4), try row.instant(5)
            )
        }
        var open: [OpenReconciliation] = []
        for (number, service, body, elsewhere, attempts, due) in rows {
            guard let day = try day("\(number)"), let service else { throw .damaged }
            let request: ReconciliationRequest
            do throws(WireError) {
                request = try WireJSON.decode(ReconciliationRequest.self, from: Array(body.utf8))
            } catch {
                throw .damaged
            }
            open.append(
                OpenReconciliation(
                    day: day, service: service, body: body, lines: request.lines, elsewhere: Int(elsewhere),
                    attempts: Int(attempts), due: due))
        }
        return open
    }

    /// Notes that the payment service is about to be asked, and when the next time is if nothing comes of it: a death in
    /// between is a question without an answer.
    ///
    /// - Parameter attempts: this one included.
    public func noteQuestion(about number: Int64, attempts: Int, next: Timestamp) throws(JournalError) {
        try database.run(
            "UPDATE business_day SET attempts = ?, due = ? WHERE number = ? AND due IS NOT NULL AND attempts <= ?",
            [.integer(Int64(attempts)), .integer(next.milliseconds), .integer(number), .integer(Int64(attempts))])
        guard database.changes == 1 else { throw .unknownTransaction }
    }

    /// The movements of a day in one line, by what they are of.
    public func movements(
        of number: Int64, in line: DayDifference, at service: AskedService
    ) throws(JournalError) -> [ReconciliationItem] {
        try database.query(
            """
            SELECT item, value FROM (\(Journal.movements)) WHERE isOurs AND mode = ?3 AND currency = ?4 AND scheme = ?5
                AND kind = ?6 ORDER BY item
            """,
            [
                .text(service.serviceName), .integer(number), .text(line.mode.rawValue), .text(line.currency.code),
                .text(line.scheme ?? ""), .text(line.kind.rawValue),
            ]
        ) { (row) throws(JournalError) in
            ReconciliationItem(id: try row.text(0), value: try row.integer(1))
        }
    }

    /// Ends the questions about a day: with figures, or without any for good.
    public func endReconciliation(
        of day: BusinessDay, _ end: ReconciliationEnd, at time: Timestamp
    ) throws(JournalError) {
        try database.transaction { () throws(JournalError) in
            let kept = KeptFigures(
                reference: end.figures.reference, lines: end.figures.lines, contradiction: end.figures.contradiction,
                differences: end.differences)
            try database.run(
                """
                UPDATE business_day SET state = ?, figures = ?, due = NULL
                WHERE number = ? AND due IS NOT NULL AND state = 'closed'
                """,
                [
                    .text(end.state.rawValue), end.figures.lines == nil ? .null : try json(kept),
                    .integer(day.number),
                ])
            guard database.changes == 1 else { throw .unknownTransaction }
            let contradiction = end.figures.contradiction == true ? ", contradicted" : ""
            try note(
                AuditEntry(
                    .dayEnd, subject: day.id,
                    detail:
                        "day \(day.number) \(end.state.rawValue)\(contradiction), differences: \(end.differences.count)",
                    at: time))
        }
    }

    /// Settles a day whose figures differ, or were never given, or that has handed sales over of which no figures say a word.
    ///
    /// - Returns: whether it was one.
    public func resolve(_ day: BusinessDay, _ resolution: DayResolution) throws(JournalError) -> Bool {
        try database.transaction { () throws(JournalError) in
            try database.run(
                """
                UPDATE business_day SET state = 'balanced', resolution = ?
                WHERE number = ? AND resolution IS NULL AND (state IN ('differs', 'unconfirmed')
                    OR (state IN ('closed', 'balanced') AND due IS NULL
                        AND EXISTS (SELECT 1 FROM ledger WHERE ledger.day = business_day.number AND entry = 'delivered')))
                """, [try json(resolution), .integer(day.number)])
            guard database.changes == 1 else { return false }
            try note(
                AuditEntry(
                    .resolution, subject: day.id, detail: "day \(day.number) by \(resolution.uid): \(resolution.note)",
                    at: resolution.at))
            return true
        }
    }

    /// What is known of the payment service's figures, for the report as it is shown now.
    func addFigures(to end: inout EndOfDay) throws(JournalError) {
        let found = try database.query(
            "SELECT figures, attempts, due, elsewhere, resolution FROM business_day WHERE number = ? AND request IS NOT NULL",
            [.integer(end.day.number)]
        ) { (row) throws(JournalError) -> (KeptFigures?, Int64, Timestamp?, Int64, DayResolution?) in
            (try row.message(0), try row.integer(1), row.time(2), try row.integer(3), try row.message(4))
        }
        guard let (figures, attempts, due, elsewhere, resolution) = found.first else { return }
        end.service = ServiceFigures(
            attempts: Int(attempts), next: due, reference: figures?.reference, lines: figures?.lines,
            contradiction: figures?.contradiction, elsewhere: elsewhere > 0 ? Int(elsewhere) : nil)
        end.differences = figures?.differences
        end.resolution = resolution
    }

    /// Closed days that somebody has to look at, the newest first.
    public func unsettledDays() throws(JournalError) -> [BusinessDay]? {
        let days = try days(where: "state IN ('differs', 'unconfirmed') ORDER BY number DESC LIMIT 100", [])
        return days.isEmpty ? nil : days
    }

    // MARK: - What explains a difference

    /// The same items with what is known here of those that only one side has.
    public func explained(_ items: [DifferenceItem], of number: Int64) throws(JournalError) -> [DifferenceItem] {
        var explained: [DifferenceItem] = []
        for var item in items {
            (item.transaction, item.explanation) = try explanation(of: item, number)
            explained.append(item)
        }
        return explained
    }

    private typealias Known = (TransactionID?, DifferenceItem.Explanation?)

    private func explanation(of item: DifferenceItem, _ number: Int64) throws(JournalError) -> Known {
        if let id = OperationID(item.id), let operation = try operation(id) {
            guard operation.state != .done, operation.state != .refused else {
                return (operation.payment, try otherPlace(of: item, number))
            }
            return (operation.payment, .unknownOperation)
        }
        guard let id = TransactionID(item.id) else { return (nil, .notHere) }
        let found: JournalRecord?
        // A payment that cannot be read any more explains nothing, and keeps nothing from being written.
        do throws(JournalError) { found = try record(id) } catch {
            guard error == .damagedPayment else { throw error }
            return (id, nil)
        }
        guard let record = found else { return (nil, .notHere) }
        let explanation: DifferenceItem.Explanation? =
            switch record.transaction.state {
            case .sent, .unknown:
                record.transaction.of != nil ? .unknownRefund : record.transaction.state == .sent ? .sent : .unknown
            case .reversing: .reversing
            case .stored: .stored
            case .delivered: .handedOver
            case .created, .preparing, .armed, .reading, .sealed, .approved, .declined, .cancelled, .failed, .reversed,
                .completed:
                try otherPlace(of: item, number)
            }
        return (id, explanation)
    }

    /// The same movement may be booked here on another day, or in a line of another name.
    private func otherPlace(
        of item: DifferenceItem, _ number: Int64
    ) throws(JournalError) -> DifferenceItem.Explanation? {
        guard item.ours == nil, let value = item.theirs else { return nil }
        let days = try database.query(
            "SELECT coalesce(day, 0) FROM ledger WHERE (payment = ?1 OR operation = ?1) AND money = ?2",
            [.text(item.id), .integer(value)]
        ) { (row) throws(JournalError) in try row.integer(0) }
        guard !days.isEmpty else { return nil }
        return days.contains(number) ? .otherLine : .otherDay
    }
}
