// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// What is not settled in a journal's file: money that somebody may have paid, or that a shop has not got yet. For reading
/// only, without the daemon, which may work with the file or be gone.
public struct OpenMoney: Equatable, Sendable {
    /// Signed sales that the payment service does not have.
    public var stored: [TransactionID] = []
    /// Payments that have to be taken back.
    public var reversals: [TransactionID] = []
    /// Payments that were sent, and whose outcome nobody knows.
    public var unknown: [TransactionID] = []
    /// Approvals that the till has yet to confirm.
    public var unconfirmed: [TransactionID] = []
    /// Of all of them, what a person has to look after, with the reason.
    public var items: [String] = []
    /// Payments of which a sum is still held.
    public var held: [TransactionID] = []
    /// Sales that the payment service has in a batch, and has named in no figures yet.
    public var handedOver: [TransactionID] = []
    /// Captures, adjustments and releases without an end.
    public var operations: [OperationID] = []
    /// Rows that cannot be understood.
    public var unreadable = 0
    /// Write-ahead logs that were damaged, with payments that the journal may not have.
    public var damagedLogs: [String] = []

    /// The installation that the journal belongs to.
    public let installation: String

    public init(file: String) throws(JournalError) {
        let database = try Database(path: file, readOnly: true)
        installation =
            try database.query("SELECT support FROM installation") { (row) throws(JournalError) in
                try row.text(0)
            }.first ?? ""
        let ended = TransactionState.allCases.filter(\.successors.isEmpty).map { "'\($0.rawValue)'" }
        let rows = try database.query(
            """
            SELECT id, CASE state WHEN 'approved' THEN
                    CASE WHEN settlement IS NULL AND confirm_due IS NOT NULL AND confirmed_at IS NULL THEN 'unconfirmed'
                        ELSE 'settled' END
                ELSE state END
            FROM payment WHERE state NOT IN (\(ended.joined(separator: ", "))) ORDER BY id
            """
        ) { (row) throws(JournalError) in (row.optionalText(0), row.optionalText(1)) }
        for (id, state) in rows {
            switch (id.flatMap { TransactionID($0) }, state) {
            case (_, "settled"): break
            case (let id?, "stored"): stored.append(id)
            case (let id?, "reversing"): reversals.append(id)
            case (let id?, "sent"), (let id?, "unknown"): unknown.append(id)
            case (let id?, "unconfirmed"): unconfirmed.append(id)
            // Nothing has been sent: the next start ends it, and nobody loses anything.
            case (_?, "created"), (_?, "preparing"), (_?, "armed"), (_?, "reading"), (_?, "sealed"): break
            default: unreadable += 1
            }
        }
        try readItems(database)
        try readBooks(database)
        damagedLogs = WriteAheadLog.kept(beside: file)
    }

    /// What a person has to look after.
    private mutating func readItems(_ database: Database) throws(JournalError) {
        items = try database.query("SELECT payment, reason FROM open_item ORDER BY since, payment") {
            (row) throws(JournalError) in
            "\(row.optionalText(0) ?? "?") (\(row.optionalText(1) ?? "?"))"
        }
    }

    /// What only the books know.
    private mutating func readBooks(_ database: Database) throws(JournalError) {
        held = try database.query(
            """
            SELECT id FROM payment WHERE state = 'approved' AND json_valid(account)
                AND json_extract(account, '$.remaining') > 0 ORDER BY id
            """
        ) { (row) throws(JournalError) in try row.transactionID(0) }
        handedOver = try database.query("SELECT id FROM payment WHERE \(Journal.isHandedOver) ORDER BY id") {
            (row) throws(JournalError) in try row.transactionID(0)
        }
        operations = try database.query(
            "SELECT id FROM operation WHERE state IN ('created', 'sent', 'unknown') ORDER BY id"
        ) { (row) throws(JournalError) in
            guard let id = OperationID(try row.text(0)) else { throw .damaged }
            return id
        }
    }

    public var isNone: Bool { lines.isEmpty }

    /// What there is, a line each, with the ids.
    public var lines: [String] {
        func line(_ ids: [some CustomStringConvertible], _ what: String) -> [String] {
            ids.isEmpty ? [] : ["\(ids.count) \(what): " + ids.map(\.description).joined(separator: " ")]
        }
        return line(stored, "stored and not forwarded") + line(reversals, "being taken back")
            + line(unknown, "sent, outcome unknown") + line(unconfirmed, "approved and not confirmed")
            + (items.isEmpty ? [] : ["\(items.count) to be settled by a person: " + items.joined(separator: " ")])
            + line(handedOver, "handed over, and in no figures of the payment service yet")
            + line(held, "held and not captured") + line(operations, "captures, adjustments or releases without an end")
            + (unreadable == 0 ? [] : ["\(unreadable) unreadable"])
            + line(damagedLogs, "damaged write-ahead logs to be looked after, and removed then")
    }
}
