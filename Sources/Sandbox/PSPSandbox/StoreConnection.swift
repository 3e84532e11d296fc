// SPDX-License-Identifier: Apache-2.0
import CSQLite

extension StoreError {
    /// A row that holds something else than was written.
    static let damaged = StoreError(code: SQLITE_CORRUPT)
}

extension StoreError: CustomStringConvertible {
    /// What is the matter with the file, and what to do: one phrase about "it".
    public var description: String {
        // The rest of the number says where SQLite has met it.
        switch code & 0xFF {
        case SQLITE_CANTOPEN, SQLITE_PERM:
            "this user may not open it, or its folder is not there: check path, owner and mode"
        case SQLITE_READONLY: "it may not be written: check its owner and mode, and how its disk is mounted"
        case SQLITE_NOTADB, SQLITE_CORRUPT: "it is no store of a sandbox, or damaged: name another file"
        case SQLITE_BUSY, SQLITE_LOCKED: "another program uses it: stop that program"
        case SQLITE_FULL: "its disk is full: free space there"
        case SQLITE_IOERR: "its disk fails: look into the kernel's log"
        default: "SQLite's code is \(code): check its owner and mode, and the disk"
        }
    }
}

/// One connection to SQLite. Not for several threads at a time.
///
/// Each `unsafe` is one call of SQLite's C interface with a handle or a statement that this type has made and closes; no
/// pointer that SQLite gives is kept after the line.
@safe final class StoreConnection {
    private let handle: OpaquePointer

    init(path: String) throws(StoreError) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        let code = unsafe sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened = unsafe opened else {
            _ = unsafe sqlite3_close_v2(opened)
            throw StoreError(code: code)
        }
        unsafe handle = opened
        // Another sandbox writes.
        _ = unsafe sqlite3_busy_timeout(handle, 5_000)
    }

    deinit { _ = unsafe sqlite3_close_v2(handle) }

    /// Runs statements without parameters.
    func run(script: String) throws(StoreError) {
        let code = unsafe sqlite3_exec(handle, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw StoreError(code: code) }
    }

    /// Runs one statement to its end. Parameters are texts; of each row the first column, as text.
    func rows(_ sql: String, _ values: [String]) throws(StoreError) -> [String] {
        var compiled: OpaquePointer?
        var code = unsafe sqlite3_prepare_v2(handle, sql, -1, &compiled, nil)
        guard code == SQLITE_OK, let statement = unsafe compiled else { throw StoreError(code: code) }
        defer { _ = unsafe sqlite3_finalize(statement) }
        for (index, value) in values.enumerated() {
            code = unsafe csqlite_bind_text(statement, Int32(index) + 1, value, Int32(value.utf8.count))
            guard code == SQLITE_OK else { throw StoreError(code: code) }
        }
        var rows: [String] = []
        code = unsafe sqlite3_step(statement)
        while code == SQLITE_ROW {
            let text = unsafe sqlite3_column_text(statement, 0)
            rows.append(unsafe text.map { unsafe String(cString: $0) } ?? "")
            code = unsafe sqlite3_step(statement)
        }
        guard code == SQLITE_DONE else { throw StoreError(code: code) }
        return rows
    }

    /// All of `body` or nothing of it.
    func transaction<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        try run(script: "BEGIN IMMEDIATE")
        do throws(StoreError) {
            let result = try body()
            try run(script: "COMMIT")
            return result
        } catch {
            // Fails where SQLite has rolled back by itself, which is as good.
            do { try run(script: "ROLLBACK") } catch {}
            throw error
        }
    }
}
