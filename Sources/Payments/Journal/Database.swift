// SPDX-License-Identifier: Apache-2.0
import CSQLite
import Glibc

/// A value as SQLite stores it.
enum SQLValue: Equatable {
    case null
    case integer(Int64)
    case text(String)

    init(_ text: String?) { self = text.map(SQLValue.text) ?? .null }
    init(_ number: Int64?) { self = number.map(SQLValue.integer) ?? .null }
}

/// One connection to SQLite: the only file that calls its C interface. Not for several threads at a time.
///
/// Each `unsafe` is one call of that interface with a handle that this type or `Statement` owns, opened in its `init` and
/// closed in its `deinit`. No pointer that SQLite gives is kept after the line.
@safe final class Database {
    private let handle: OpaquePointer
    private var prepared: [StatementText: Statement] = [:]
    /// Transactions that are open, one inside the other.
    private var depth = 0
    let count = CommitCount()
    /// Whether the disk has a commit when it returns, as `PRAGMA synchronous` has it now.
    private var isDurable: Bool?
    /// Number of the last durable transaction that changed something; `nil` before it was read.
    private var mark: UInt32?
    private let due = DueDigests()
    /// Renews what is due: `JournalDigests.renewalOfPayment`. `nil` where no triggers note anything.
    var renewal: String?

    /// Opens or makes the file.
    ///
    /// - Parameter readOnly: the file must be there, and nothing is changed but what a writer that was cut off had begun: it
    ///   is taken back. A daemon may work with the file meanwhile.
    init(path: String, readOnly: Bool = false) throws(JournalError) {
        var opened = try unsafe Database.open(
            path, readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
        // Only a connection that may write can take it back, and none can read before.
        if readOnly, unsafe sqlite3_exec(opened, "PRAGMA schema_version", nil, nil, nil) == Database.readOnlyRollback {
            _ = unsafe sqlite3_close_v2(opened)
            unsafe opened = try unsafe Database.open(path, SQLITE_OPEN_READWRITE)
        }
        unsafe handle = opened
        // A reader such as the sqlite3 program may hold a lock for a moment.
        _ = unsafe sqlite3_busy_timeout(handle, 5_000)
        try unsafe makeFunction(JournalDigests.function, -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, Database.digest)
        try unsafe makeFunction(JournalDigests.noting, 2, SQLITE_UTF8, Database.note)
        try unsafe makeFunction(JournalDigests.sparing, 1, SQLITE_UTF8, Database.spare)
        _ = unsafe sqlite3_commit_hook(
            handle,
            { context in
                guard let context = unsafe context else { return 0 }
                return unsafe Unmanaged<DueDigests>.fromOpaque(context).takeUnretainedValue().payments.isEmpty ? 0 : 1
            }, Unmanaged.passUnretained(due).toOpaque())
    }

    /// Each gets at what is due, which lives as long as this connection.
    private func makeFunction(
        _ name: String, _ arguments: Int32, _ flags: Int32,
        _ body: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void
    ) throws(JournalError) {
        let context = unsafe Unmanaged.passUnretained(due).toOpaque()
        let code = unsafe sqlite3_create_function_v2(handle, name, arguments, flags, context, body, nil, nil, nil)
        guard code == SQLITE_OK else { throw JournalError(sqlite: code) }
    }

    /// SQLITE_READONLY_ROLLBACK, a macro that Swift does not import.
    private static let readOnlyRollback = SQLITE_READONLY | 3 << 8

    /// Once a process; where another part of it has opened a database before, SQLite refuses, and goes on counting.
    private static let countsMemory = csqlite_stop_counting_memory() != SQLITE_OK

    private static func open(_ path: String, _ flags: Int32) throws(JournalError) -> OpaquePointer {
        _ = countsMemory
        var opened: OpaquePointer?
        let code = unsafe sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        guard code == SQLITE_OK, let opened = unsafe opened else {
            let cause = unsafe sqlite3_system_errno(opened)
            _ = unsafe sqlite3_close_v2(opened)
            throw .cannotOpen(path: path, errno: cause)
        }
        return unsafe opened
    }

    /// `RowDigest` as a function of SQL. The pointers are SQLite's, and valid for the length of the call.
    private static let digest: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = {
        context, count, arguments in
        var textBytes = 0
        for index in 0..<Int(count) {
            let argument = unsafe arguments?[index]
            guard unsafe sqlite3_value_type(argument) == SQLITE_TEXT else { continue }
            textBytes += Int(unsafe sqlite3_value_bytes(argument))
        }
        var digest = RowDigest(count: Int(count), textBytes: textBytes)
        for index in 0..<Int(count) {
            let argument = unsafe arguments?[index]
            switch unsafe sqlite3_value_type(argument) {
            case SQLITE_INTEGER: digest.add(unsafe sqlite3_value_int64(argument))
            case SQLITE_NULL: digest.addNull()
            default:
                // Up to the first NUL, as it is read.
                let start = unsafe sqlite3_value_text(argument)
                let length = unsafe start.map { text in
                    unsafe text.withMemoryRebound(to: CChar.self, capacity: 1) { unsafe strlen($0) }
                }
                unsafe digest.add(text: UnsafeBufferPointer(start: start, count: length ?? 0))
            }
        }
        let text = digest.text
        unsafe csqlite_result_text(context, text, Int32(text.utf8.count))
    }

    /// `DueDigests.note` as a function of SQL.
    private static let note: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = {
        context, _, arguments in
        guard let due = unsafe sqlite3_user_data(context), let payment = unsafe sqlite3_value_text(arguments?[0])
        else { return }
        unsafe Unmanaged<DueDigests>.fromOpaque(due).takeUnretainedValue()
            .note(String(cString: payment), keepsDifference: sqlite3_value_int(arguments?[1]) != 0)
    }

    /// `DueDigests.spared` as a function of SQL.
    private static let spare: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = {
        context, _, arguments in
        guard let due = unsafe sqlite3_user_data(context), let payment = unsafe sqlite3_value_text(arguments?[0])
        else { return }
        let spared = unsafe Unmanaged<DueDigests>.fromOpaque(due).takeUnretainedValue().spared(String(cString: payment))
        if let spared { unsafe csqlite_result_text(context, spared, Int32(spared.utf8.count)) }
    }

    /// Has `stop` asked now and then while a statement runs, which ends with an error once it is true. `stop` must outlive
    /// this connection.
    func interrupt(by stop: StopRequest) {
        let context = unsafe Unmanaged.passUnretained(stop).toOpaque()
        unsafe sqlite3_progress_handler(
            handle, 20_000,
            { context in
                guard let context = unsafe context else { return 0 }
                return unsafe Unmanaged<StopRequest>.fromOpaque(context).takeUnretainedValue().isWished ? 1 : 0
            }, context)
    }

    deinit {
        prepared = [:]
        _ = unsafe sqlite3_close_v2(handle)
    }

    /// Runs one or more statements without parameters.
    func run(script: String) throws(JournalError) {
        let code = unsafe sqlite3_exec(handle, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw JournalError(sqlite: code) }
    }

    /// Runs one statement and gives every row to `row`. The statement is compiled once.
    func query<Result>(
        _ sql: String, _ values: [SQLValue] = [], row: (borrowing Row) throws(JournalError) -> Result
    ) throws(JournalError) -> [Result] {
        if depth == 0 { try setDurable(true) }
        let statement = try prepare(sql)
        defer { statement.reset() }
        try statement.bind(values)
        var results: [Result] = []
        let noted = due.payments
        while try step(statement, noted) { results.append(try row(Row(statement: statement))) }
        if unsafe sqlite3_get_autocommit(handle) != 0, takeWrittenPages() > 0 {
            count.noteCommit(isDurable: isDurable ?? true)
        }
        return results
    }

    /// - Parameter noted: what was due before; a statement that fails has written nothing.
    private func step(_ statement: Statement, _ noted: [String: Bool]) throws(JournalError) -> Bool {
        do throws(JournalError) { return try statement.step() } catch {
            due.payments = noted
            switch error {
            case .full: count.noteFailure()
            case .failed(let code) where code & 0xFF != SQLITE_INTERRUPT: count.noteFailure()
            default: break
            }
            throw error
        }
    }

    /// Pages that went to the write-ahead log since this was asked last.
    private func takeWrittenPages() -> Int {
        var (pages, highest): (Int32, Int32) = (0, 0)
        _ = unsafe sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &highest, 1)
        return Int(pages)
    }

    /// Runs one statement that gives no rows.
    func run(_ sql: String, _ values: [SQLValue] = []) throws(JournalError) {
        _ = try query(sql, values) { (_) throws(JournalError) in () }
    }

    /// Rows that the statement run last has changed.
    var changes: Int { Int(unsafe sqlite3_changes(handle)) }

    /// Number of the row that was inserted last.
    var lastRowID: Int64 { unsafe sqlite3_last_insert_rowid(handle) }

    /// Outside a transaction only. In WAL mode FULL syncs the log with each commit, and NORMAL before a checkpoint alone.
    private func setDurable(_ wish: Bool) throws(JournalError) {
        // Whoever reads in a view of its own has begun that by a script, and writes nothing.
        guard isDurable != wish, unsafe sqlite3_get_autocommit(handle) != 0 else { return }
        try run(script: "PRAGMA synchronous = \(wish ? "FULL" : "NORMAL")")
        isDurable = wish
    }

    /// Gives the transaction that is open the next number, which is in the header of the file: a log that is read after a power
    /// cut shows by it what had been on the disk.
    private func writeMark() throws(JournalError) -> UInt32 {
        let last: UInt32
        if let mark {
            last = mark
        } else {
            let found = try query("PRAGMA application_id") { (row) throws(JournalError) in try row.integer(0) }
            last = UInt32(truncatingIfNeeded: found.first ?? 0)
        }
        let next = (last &+ 1) & 0x7FFF_FFFF
        try run(script: "PRAGMA application_id = \(next)")
        return next
    }

    /// Renews the digest of every payment that the open transaction has written.
    private func renewDigests() throws(JournalError) {
        guard let renewal else { return }
        // What SQLite has rolled back by itself, behind a part that kept its error, is not due any more.
        guard unsafe sqlite3_get_autocommit(handle) == 0 else {
            due.payments = [:]
            return
        }
        for (payment, spared) in due.take() { try run(renewal, [.text(payment), .text(spared)]) }
    }

    /// All of `body` or nothing of it.
    ///
    /// - Parameter durable: on disk when this returns; inside another transaction, what that one says, when it returns. What is not
    ///   durable survives this process and is on the disk with whatever is written durably next; a power cut before may take it,
    ///   with all that came after it.
    func transaction<Result>(
        durable: Bool = true, _ body: () throws(JournalError) -> Result
    ) throws(JournalError) -> Result {
        let isOuter = depth == 0
        if isOuter { try setDurable(durable) }
        // SQLite has rolled everything back by itself, as it may on a full disk: what came now would stand alone.
        let isRolledBack = unsafe sqlite3_get_autocommit(handle) != 0
        guard isOuter || !isRolledBack else { throw .failed(code: SQLITE_ABORT) }
        depth += 1
        defer { depth -= 1 }
        try run(isOuter ? "BEGIN IMMEDIATE" : "SAVEPOINT part")
        let before = unsafe sqlite3_total_changes(handle)
        let noted = due.payments
        do throws(JournalError) {
            let result = try body()
            if isOuter { try renewDigests() }
            let after = unsafe sqlite3_total_changes(handle)
            let next = try isOuter && durable && after != before ? writeMark() : mark
            try run(isOuter ? "COMMIT" : "RELEASE part")
            mark = next
            return result
        } catch {
            // Fails where SQLite has rolled back by itself, which is as good.
            do { try run(script: isOuter ? "ROLLBACK" : "ROLLBACK TO part; RELEASE part") } catch {}
            due.payments = noted
            // What had to leave the memory before the end counts for nothing.
            if isOuter { _ = takeWrittenPages() }
            throw error
        }
    }

    private func prepare(_ sql: String) throws(JournalError) -> Statement {
        let text = StatementText(text: sql)
        if let statement = prepared[text] { return statement }
        var compiled: OpaquePointer?
        let code = unsafe sqlite3_prepare_v2(handle, sql, -1, &compiled, nil)
        guard code == SQLITE_OK, let compiled = unsafe compiled else { throw JournalError(sqlite: code) }
        let statement = unsafe Statement(compiled)
        prepared[text] = statement
        return statement
    }
}

/// What a compiled statement is found by. Some have thousands of letters: the whole is compared, its length and its end are hashed.
private struct StatementText: Hashable {
    let text: String

    func hash(into hasher: inout Hasher) {
        hasher.combine(text.utf8.count)
        hasher.combine(text.utf8.suffix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
    }
}

/// A compiled statement. For its `unsafe` holds what is said of those of `Database`.
@safe final class Statement {
    private let handle: OpaquePointer

    init(_ handle: OpaquePointer) { unsafe self.handle = handle }

    deinit { _ = unsafe sqlite3_finalize(handle) }

    func bind(_ values: [SQLValue]) throws(JournalError) {
        for (offset, value) in values.enumerated() {
            let index = Int32(offset + 1)
            let code =
                switch value {
                case .null: unsafe sqlite3_bind_null(handle, index)
                case .integer(let number): unsafe sqlite3_bind_int64(handle, index, number)
                case .text(let text): unsafe csqlite_bind_text(handle, index, text, Int32(text.utf8.count))
                }
            guard code == SQLITE_OK else { throw JournalError(sqlite: code) }
        }
    }

    /// - Returns: whether there is a row.
    func step() throws(JournalError) -> Bool {
        let code = unsafe sqlite3_step(handle)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw JournalError(sqlite: code)
        }
    }

    func reset() {
        _ = unsafe sqlite3_reset(handle)
        _ = unsafe sqlite3_clear_bindings(handle)
    }

    func integer(_ column: Int32) -> Int64? {
        guard unsafe sqlite3_column_type(handle, column) == SQLITE_INTEGER else { return nil }
        return unsafe sqlite3_column_int64(handle, column)
    }

    func text(_ column: Int32) -> String? {
        guard unsafe sqlite3_column_type(handle, column) == SQLITE_TEXT,
            let start = unsafe sqlite3_column_text(handle, column)
        else { return nil }
        return unsafe String(cString: start)
    }
}

/// The row that a statement stands at; for the length of one closure.
struct Row: ~Copyable {
    let statement: Statement

    func integer(_ column: Int32) throws(JournalError) -> Int64 {
        guard let number = statement.integer(column) else { throw .damaged }
        return number
    }

    func text(_ column: Int32) throws(JournalError) -> String {
        guard let text = statement.text(column) else { throw .damaged }
        return text
    }

    func optionalInteger(_ column: Int32) -> Int64? { statement.integer(column) }

    func optionalText(_ column: Int32) -> String? { statement.text(column) }
}

extension JournalError {
    /// By the primary code, which is the lower byte of SQLite's extended result codes.
    init(sqlite code: Int32) {
        switch code & 0xFF {
        case SQLITE_FULL: self = .full
        case SQLITE_CORRUPT, SQLITE_NOTADB: self = .damaged
        // SQLite has one word for all that its calls of the system meet while it reads and writes; a full disk may be met by a sync.
        case SQLITE_IOERR where errno == ENOSPC || errno == EDQUOT: self = .full
        case SQLITE_IOERR where errno == EROFS: self = .failed(code: SQLITE_READONLY)
        default: self = .failed(code: code)
        }
    }
}
