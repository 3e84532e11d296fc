// SPDX-License-Identifier: Apache-2.0
import Glibc
import POSAPI
import PSPAPI
public import PaymentValues
public import Transactions

/// The durable record of every transaction. A call that changes something returns when it is on the disk, unless it is part of
/// `together` with another wish.
///
/// SQLite in WAL mode. Blocks; to be used from one thread at a time. Card data cannot get in:
/// it takes types of the APIs' messages only, and of the card record nothing but the sealed form.
public final class Journal {
    /// Name of this installation for support.
    public let support: String
    /// Whether what was dropped may still be in a file: an earlier run has left its write-ahead log behind, or this start has
    /// brought the tables of an older version up to date. `scrub` ends that; this tells how the journal was found.
    public let needsScrub: Bool
    /// The write-ahead log of an earlier run was damaged, not cut off: payments may be missing. It was kept aside.
    public let isLogDamaged: Bool
    let database: Database
    let digests: JournalDigests
    private let lock: JournalLock
    private let path: String
    /// Numbers of changes that this run has taken out of use and not given yet.
    var changes: Range<Int64> = 0..<0

    public static let fileName = "journal.sqlite"
    /// More changes than are made between two durable writes.
    private static let changeLeap = 1 << 20
    /// More changes than one run makes. Clients keep numbers in 53 bits: there is room for eight million runs.
    private static let changesOfRun = 1 << 30
    /// Above this many bytes a start looks at what is open and at how the pages hang together, and leaves the rest to the
    /// daily check: see docs/internals/decisions/0018.
    public static let wholeCheckLimit: Int64 = 256 << 20

    /// Opens the journal in `directory`, which must exist; makes a new one where there is none.
    ///
    /// - Throws: `.damaged` where SQLite's own check finds a fault. Nothing was changed then.
    public convenience init(directory: String) throws(JournalError) {
        try self.init(directory: directory, schema: .current)
    }

    /// The same with the tables of another version, for tests.
    convenience init(directory: String, schema: Schema) throws(JournalError) {
        let path = directory + "/" + Journal.fileName
        let lock = try JournalLock(directory: directory, file: path)
        let isLogDamaged = try WriteAheadLog.prepare(path)
        try self.init(path, Database(path: path), lock, isLogDamaged, schema)
    }

    /// Opens the journal that this or another version has begun in `directory`; `nil` where there is none. Nothing was made
    /// then.
    ///
    /// - Throws: `.damaged` for a file that is no journal, or is one no more. Nothing was changed then.
    public static func begun(in directory: String) throws(JournalError) -> Journal? {
        let path = directory + "/" + fileName
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_size > 0 else { return nil }
        let lock = try JournalLock(directory: directory, file: path)
        let isLogDamaged = try WriteAheadLog.prepare(path)
        let database = try Database(path: path)
        guard try isBegun(database) else { return nil }
        return try Journal(path, consume database, lock, isLogDamaged, .current)
    }

    /// Nobody else keeps the database: where this throws, SQLite closes its file before the lock closes it.
    private init(
        _ path: String, _ opened: consuming Database, _ lock: consuming JournalLock, _ isLogDamaged: Bool,
        _ schema: Schema
    ) throws(JournalError) {
        (self.isLogDamaged, self.path) = (isLogDamaged, path)
        var log = stat()
        let hasFormerLog = unsafe lstat(path + "-wal", &log) == 0 && log.st_size > 0
        self.lock = lock
        database = consume opened
        // page_size, of a new file: a state of a sale changes some bytes in each of a dozen pages, all of which are written.
        // wal_autocheckpoint: the daemon takes the log in when nobody waits for it, and long before this many pages.
        // secure_delete: what is dropped is overwritten, not merely unlinked.
        try database.run(
            script: """
                PRAGMA temp_store = MEMORY;
                PRAGMA page_size = 512;
                PRAGMA journal_mode = WAL;
                PRAGMA wal_autocheckpoint = 4000;
                PRAGMA secure_delete = ON;
                PRAGMA foreign_keys = OFF;
                """)
        try Journal.examine(database)
        // A step that makes a table anew drops the old one, which rows of others refer to; within a transaction SQLite
        // changes nothing about that.
        let (support, isUpgraded) = try Journal.migrate(database, to: schema)
        self.support = support
        needsScrub = hasFormerLog || isUpgraded
        try database.run(script: "PRAGMA foreign_keys = ON")
        digests = try JournalDigests(of: database)
        try database.run(script: digests.triggers)
        database.renewal = digests.renewalOfPayment
        try correctErasedMark()
        try examineBooks()
    }

    /// What was written since it was opened.
    public var commitCount: CommitCount { database.count }

    /// Bytes of the write-ahead log: what only it holds is in no other file yet.
    public var logSize: Int64 {
        var log = stat()
        return unsafe lstat(path + "-wal", &log) == 0 ? Int64(log.st_size) : 0
    }

    /// Whether the file that is written has still the journal's name: where somebody has moved or removed it, whatever is
    /// written is lost at the next start.
    public var isInPlace: Bool { lock.isInPlace }

    /// Writes a new transaction down in state `created`, unless its principal has used the key before.
    public func create(_ new: NewTransaction) throws(JournalError) -> Creation {
        try database.transaction { () throws(JournalError) in
            if let earlier = try earlier(
                owner: new.owner, idempotencyKey: new.idempotencyKey, requestHash: new.requestHash)
            {
                return earlier
            }
            if let left = try leftOfDay(for: new), left < new.amount.value {
                return .overDayLimit(Money(value: left, currency: new.amount.currency))
            }
            let number = try insert(new)
            if let agreement = new.agreement { try insert(agreement, of: nil, with: new.id, new.owner) }
            return .created(number: number)
        }
    }

    /// Whether somebody has used an idempotency key before, and for what; `nil` if not.
    public func earlier(
        owner: Principal, idempotencyKey: String, requestHash: String
    ) throws(JournalError) -> Creation? {
        let found = try database.query(
            "SELECT id, request_hash FROM payment WHERE \(Journal.isOwned) AND idempotency_key = ?",
            owner.values + [.text(idempotencyKey)]
        ) { (row) throws(JournalError) in (try row.text(0), try row.text(1)) }
        guard let (text, hash) = found.first else {
            if try isSpent(owner: owner, idempotencyKey: idempotencyKey) { return .erased }
            return try keyBar(owner: owner, idempotencyKey: idempotencyKey).map { .barred($0) }
        }
        guard let id = TransactionID(text) else { throw .damaged }
        return hash == requestHash ? .repeated(id) : .keyReused(id)
    }

    /// Writes changes of state down, all of them or none, in order.
    ///
    /// The sealed card record is dropped with the first state that does not need it any more.
    /// - Throws: `.illegalChange` by the table of `TransactionState`, `.unknownTransaction`.
    public func append(_ changes: [StateChange], to id: TransactionID) throws(JournalError) {
        try database.transaction { () throws(JournalError) in try appendWithin(changes, to: id) }
    }

    /// `append` as a part of a transaction of the database.
    func appendWithin(_ changes: [StateChange], to id: TransactionID) throws(JournalError) {
        var state = try self.state(of: id)
        for change in changes {
            guard state.successors.contains(change.state) else {
                throw .illegalChange(from: state, to: change.state)
            }
            try note(change.pin, of: id, at: change.at)
            try write(change, to: id)
            try book(change, of: id)
            try store(change, of: id)
            state = change.state
        }
    }

    /// Notes an attempt at a reversal that was not acknowledged.
    public func plan(_ reversal: ReversalPlan, for id: TransactionID) throws(JournalError) {
        try database.transaction { () throws(JournalError) in try planWithin(reversal, for: id) }
    }

    /// `plan` as a part of a transaction of the database.
    func planWithin(_ reversal: ReversalPlan, for id: TransactionID) throws(JournalError) {
        try database.run(
            "UPDATE payment SET reversal_attempts = ?, reversal_due = ? WHERE id = ? AND state = 'reversing'",
            [.integer(Int64(reversal.attempts)), .integer(reversal.due.milliseconds), .text(id.text)])
        guard database.changes == 1 else { throw .unknownTransaction }
        try note(AuditEntry(.reversal, subject: id.text, detail: "attempt \(reversal.attempts) not acknowledged"))
    }

    /// Everything about one transaction; `nil` for one that is not there.
    public func record(_ id: TransactionID) throws(JournalError) -> JournalRecord? {
        try records(where: "id = ?", [.text(id.text)]).first
    }

    /// Transactions of a merchant's order, newest first.
    public func records(order: String) throws(JournalError) -> [JournalRecord] {
        try records(where: "order_reference = ? ORDER BY id DESC LIMIT 100", [.text(order)])
    }

    /// Transactions that have no end yet, oldest first: what a start has to bring to one. Damaged ones are not among them.
    public func unfinished() throws(JournalError) -> [JournalRecord] {
        let states = TransactionState.allCases.filter { !$0.successors.isEmpty && $0 != .approved && $0 != .stored }
        let marks = states.map { _ in "?" }.joined(separator: ", ")
        // What is being forwarded is the forwarder's: it is never reversed for want of an answer.
        let queued = "SELECT 1 FROM queue_record WHERE queue_record.payment = payment.id"
        return try records(
            where: "state IN (\(marks)) AND NOT EXISTS (\(queued)) ORDER BY id", states.map { .text($0.rawValue) },
            .leaveOut)
    }

    /// Takes `count` event cursors out of use for ever, so that none is given twice, also after a crash. Numbers of changes leap
    /// as well: a power cut may have taken changes that somebody has seen. Those of this run are taken out of use, too, so that no
    /// change has to write down which number is next.
    ///
    /// - Returns: the first of them.
    public func reserveEvents(_ count: UInt32) throws(JournalError) -> UInt64 {
        let first = try database.query(
            """
            UPDATE installation SET next_event = next_event + ?,
                next_change = next_change + \(Journal.changeLeap + Journal.changesOfRun)
            RETURNING next_event, next_change
            """, [.integer(Int64(count))]
        ) { (row) throws(JournalError) in (try row.integer(0) - Int64(count), try row.integer(1)) }
        guard let (first, end) = first.first, let cursor = UInt64(exactly: first) else { throw .damaged }
        changes = max(0, end - Int64(Journal.changesOfRun))..<max(0, end)
        return cursor
    }

    /// Moves everything into the main file and empties the write-ahead log, so that dropped data is in neither.
    public func scrub() throws(JournalError) {
        _ = try database.query("PRAGMA wal_checkpoint(TRUNCATE)") { (_) throws(JournalError) in () }
    }
}

extension Journal {
    /// - Returns: the installation's name, and whether there were tables of an older version.
    private static func migrate(
        _ database: Database, to schema: Schema
    ) throws(JournalError) -> (support: String, isUpgraded: Bool) {
        let found = try database.query("PRAGMA user_version") { (row) throws(JournalError) in try row.integer(0) }
        guard let found = found.first.map(Int.init), (0...schema.version).contains(found) else {
            throw .newerSchema(found: found.first.map(Int.init) ?? 0)
        }
        if found == schema.version, let name = settledName(database) { return (name, false) }
        return try database.transaction { () throws(JournalError) in
            let isOlder = found < schema.version
            let dangling = try isOlder ? danglingRows(database) : 0
            let damaged = try isOlder ? unsoundRows(database) : []
            for step in schema.steps[found...] { try database.run(script: step) }
            guard try (isOlder ? danglingRows(database) : 0) == dangling else { throw .damaged }
            try database.run(script: "PRAGMA user_version = \(schema.version)")
            try database.run(script: Schema.meta)
            try database.run(Schema.openDay, [.text(TransactionID().text), .integer(Timestamp.now.milliseconds)])
            try database.run(
                "INSERT OR IGNORE INTO installation (only_row, support, next_event) VALUES (1, ?, 1)",
                [.text(TransactionID().text)])
            let names = try database.query("SELECT support FROM installation") { (row) throws(JournalError) in
                try row.text(0)
            }
            guard let name = names.first else { throw .damaged }
            try setMeta("digests", "1", in: database)
            // What an earlier version wrote has to be believed once. What was damaged before stays so.
            if isOlder {
                try database.run(script: JournalDigests(of: database).renewal)
                for id in damaged {
                    try setMeta(JournalDigests.prefix + id, JournalDigests.damaged, in: database)
                }
            }
            return (name, isOlder && found > 0)
        }
    }

    /// The installation's name where a start has nothing to write: a write that reaches the disk takes longer than all the rest.
    private static func settledName(_ database: Database) -> String? {
        do throws(JournalError) {
            guard try meta("digests", in: database) != nil else { return nil }
            return try database.query(
                "SELECT support FROM installation WHERE EXISTS (SELECT 1 FROM business_day WHERE state = 'open')"
            ) { (row) throws(JournalError) in try row.text(0) }.first
        } catch {
            // A table is missing, or SQLite has an error: the longer way makes the table, or meets the error and reports it.
            return nil
        }
    }

    /// How many rows refer to none.
    private static func danglingRows(_ database: Database) throws(JournalError) -> Int {
        try database.query("SELECT 1 FROM pragma_foreign_key_check") { (_) throws(JournalError) in () }.count
    }

    /// Payments of an earlier version that are not as it has written them; none where it wrote no digests.
    private static func unsoundRows(_ database: Database) throws(JournalError) -> [String] {
        let tables = try database.query("SELECT name FROM sqlite_schema WHERE name IN ('meta', 'payment')") {
            (row) throws(JournalError) in try row.text(0)
        }
        guard tables.count == 2, try meta("digests", in: database) != nil else { return [] }
        let digest = try JournalDigests(of: database).ofPayment
        return try database.query("SELECT id FROM payment WHERE \(digest) IS NOT \(JournalDigests.written)") {
            (row) throws(JournalError) in row.optionalText(0)
        }.compactMap(\.self)
    }

    func state(of id: TransactionID) throws(JournalError) -> TransactionState {
        let found = try database.query("SELECT state FROM payment WHERE id = ?", [.text(id.text)]) {
            (row) throws(JournalError) in try row.text(0)
        }
        guard let text = found.first else { throw .unknownTransaction }
        guard let state = TransactionState(rawValue: text) else { throw .damaged }
        return state
    }

    /// - Returns: the transaction's number.
    func insert(_ new: NewTransaction) throws(JournalError) -> Int64 {
        let number = try nextNumber()
        try database.run(
            """
            INSERT INTO payment (id, uid, till, idempotency_key, request_hash, type, mode, lane, value, currency,
                order_reference, state, created_at, updated_at, details, service, number, change, of, retry_of, cashier,
                capture) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .text(new.id.text), new.owner.uidValue, new.owner.tillValue, .text(new.idempotencyKey),
                .text(new.requestHash), .text(new.type.rawValue), .text(new.mode.rawValue), .text(new.lane),
                .integer(new.amount.value),
                .text(new.amount.currency.code), SQLValue(new.order), .text(TransactionState.created.rawValue),
                .integer(new.at.milliseconds), .integer(new.at.milliseconds), try json(new.details),
                try json(new.service), .integer(number), .integer(try nextChange()), SQLValue(new.of?.text),
                SQLValue(new.retryOf?.text), SQLValue(new.cashier), SQLValue(new.capture?.rawValue),
            ])
        try insertStep(.created, at: new.at, of: new.id)
        let amount = "\(new.amount.value) \(new.amount.currency.code)"
        try note(
            AuditEntry(
                .state, subject: new.id.text, detail: "created \(new.type.rawValue) \(amount) \(new.owner)",
                at: new.at))
        try noteOrder(of: new)
        return number
    }

    private func insertStep(
        _ state: TransactionState, at time: Timestamp, of id: TransactionID
    ) throws(JournalError) {
        try database.run(
            """
            INSERT INTO state_change (payment, sequence, state, at) VALUES
                (?1, (SELECT 1 + coalesce(max(sequence), 0) FROM state_change WHERE payment = ?1), ?2, ?3)
            """,
            [.text(id.text), .text(state.rawValue), .integer(time.milliseconds)])
    }

    private func write(_ change: StateChange, to id: TransactionID) throws(JournalError) {
        var authorization = change.authorization
        // Whatever comes: a PIN block is on no disk, not even as what cannot be opened here.
        authorization?.pin = nil
        let endsDoubt: Int64 = change.state.endsDoubt ? 1 : 0
        try database.run(
            """
            UPDATE payment SET state = ?, updated_at = ?, lane = coalesce(?, lane), card = coalesce(?, card),
                result = coalesce(?, result), error = coalesce(?, CASE ? WHEN 0 THEN error END), chip = coalesce(?, chip),
                cancelled_by = coalesce(?, cancelled_by), message = coalesce(?, message),
                authorization = CASE ? WHEN 1 THEN coalesce(?, authorization) END,
                reversal_reason = coalesce(?, reversal_reason), reversal_attempts = coalesce(?, reversal_attempts),
                reversal_due = ?, confirm_due = coalesce(?, CASE ? WHEN 0 THEN confirm_due END),
                settlement = coalesce(?, settlement),
                service = coalesce(?, service), service_terms = coalesce(?, service_terms), change = ? WHERE id = ?
            """,
            [
                .text(change.state.rawValue), .integer(change.at.milliseconds), SQLValue(change.lane),
                try json(change.card),
                try json(change.result), try json(change.error), .integer(endsDoubt), try json(change.chip),
                SQLValue(change.cancelledBy?.rawValue), SQLValue(change.message?.rawValue),
                .integer(change.state.needsAuthorization ? 1 : 0), try json(authorization),
                SQLValue(change.reversal?.reason.rawValue), SQLValue(change.reversal.map { Int64($0.attempts) }),
                SQLValue(change.reversal?.due.milliseconds), SQLValue(change.confirmBy?.milliseconds),
                .integer(endsDoubt),
                try json(change.settlement), try json(change.service), try json(change.terms),
                .integer(try nextChange()), .text(id.text),
            ])
        try insertStep(change.state, at: change.at, of: id)
        let outcome = change.result.map { " \($0.outcome.rawValue)" } ?? ""
        try note(AuditEntry(.state, subject: id.text, detail: change.state.rawValue + outcome, at: change.at))
    }

    func json(_ message: (some Encodable)?) throws(JournalError) -> SQLValue {
        guard let message else { return .null }
        do { return .text(String(decoding: try WireJSON.encode(message), as: UTF8.self)) } catch { throw .damaged }
    }
}

extension TransactionState {
    /// Whether the sealed card record may still have to be sent in this state. Afterwards it must not be kept: it
    /// stands for sensitive authentication data, which may not outlive the authorisation even encrypted.
    var needsAuthorization: Bool {
        switch self {
        case .sealed, .sent, .unknown, .stored: true
        case .created, .preparing, .armed, .reading, .approved, .declined, .delivered, .cancelled, .failed, .reversing,
            .reversed, .completed:
            false
        }
    }
}
