// SPDX-License-Identifier: Apache-2.0
import PaymentValues

/// One SQLite file for any number of sandboxes. What is written outlives a process that is killed, but not for certain a
/// machine that loses power: that is enough for tests.
final class FileStore: SandboxStore {
    private let connection: StoreConnection

    private static let tables = """
        CREATE TABLE IF NOT EXISTS request (path TEXT, key TEXT, content TEXT NOT NULL, PRIMARY KEY (path, key)) STRICT;
        CREATE TABLE IF NOT EXISTS payment (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, content TEXT NOT NULL) STRICT;
        CREATE TABLE IF NOT EXISTS operation (id TEXT PRIMARY KEY, payment TEXT NOT NULL) STRICT;
        CREATE TABLE IF NOT EXISTS day (id TEXT PRIMARY KEY, content TEXT NOT NULL) STRICT;
        CREATE TABLE IF NOT EXISTS fact (name TEXT PRIMARY KEY) STRICT;
        CREATE TABLE IF NOT EXISTS counter (number INTEGER NOT NULL, secret TEXT NOT NULL) STRICT;
        """

    /// Opens or makes the file.
    ///
    /// - Parameter secret: kept where the file has none yet.
    init(path: String, secret: [UInt8]) throws(StoreError) {
        connection = try StoreConnection(path: path)
        try connection.run(script: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
        try atomically { () throws(StoreError) in
            try connection.run(script: Self.tables)
            _ = try connection.rows(
                "INSERT INTO counter SELECT 0, ? WHERE NOT EXISTS (SELECT 1 FROM counter)", [try Self.text(secret)])
        }
    }

    func atomically<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        try connection.transaction(body)
    }

    func request(_ name: RequestName) throws(StoreError) -> StoredRequest? {
        try first(
            StoredRequest.self, "SELECT content FROM request WHERE path = ? AND key = ?", [name.path, name.key])
    }

    func save(_ request: StoredRequest, as name: RequestName) throws(StoreError) {
        _ = try connection.rows(
            "INSERT INTO request VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET content = excluded.content",
            [name.path, name.key, try Self.text(request)])
    }

    func forget(_ name: RequestName) throws(StoreError) {
        _ = try connection.rows("DELETE FROM request WHERE path = ? AND key = ?", [name.path, name.key])
    }

    func payment(_ id: TransactionID) throws(StoreError) -> BookedPayment? {
        try first(BookedPayment.self, "SELECT content FROM payment WHERE id = ?", [id.text])
    }

    func save(_ payment: BookedPayment) throws(StoreError) {
        _ = try connection.rows(
            "INSERT INTO payment (id, content) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET content = excluded.content",
            [payment.id.text, try Self.text(payment)])
    }

    func payments() throws(StoreError) -> [BookedPayment] {
        var payments: [BookedPayment] = []
        for row in try connection.rows("SELECT content FROM payment ORDER BY number", []) {
            payments.append(try Self.value(BookedPayment.self, row))
        }
        return payments
    }

    func payment(ofOperation id: OperationID) throws(StoreError) -> TransactionID? {
        try connection.rows("SELECT payment FROM operation WHERE id = ?", [id.text]).first.flatMap(TransactionID.init)
    }

    func note(_ id: OperationID, of payment: TransactionID) throws(StoreError) {
        _ = try connection.rows("INSERT OR IGNORE INTO operation VALUES (?, ?)", [id.text, payment.text])
    }

    func reconciliation(_ id: String) throws(StoreError) -> BookedDay? {
        try first(BookedDay.self, "SELECT content FROM day WHERE id = ?", [id])
    }

    func save(_ day: BookedDay) throws(StoreError) {
        _ = try connection.rows(
            "INSERT INTO day VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET content = excluded.content",
            [day.id, try Self.text(day)])
    }

    func noteOnce(_ fact: String) throws(StoreError) -> Bool {
        try !connection.rows("INSERT OR IGNORE INTO fact VALUES (?) RETURNING name", [fact]).isEmpty
    }

    func nextReference() throws(StoreError) -> Int64 {
        let row = try connection.rows("UPDATE counter SET number = number + 1 RETURNING number", []).first
        guard let number = row.flatMap({ Int64($0) }) else { throw .damaged }
        return number
    }

    func secret() throws(StoreError) -> [UInt8] {
        try first([UInt8].self, "SELECT secret FROM counter", []) ?? []
    }

    private func first<Value: Decodable>(
        _ type: Value.Type, _ sql: String, _ values: [String]
    ) throws(StoreError) -> Value? {
        guard let row = try connection.rows(sql, values).first else { return nil }
        return try Self.value(type, row)
    }

    private static func text(_ value: some Encodable) throws(StoreError) -> String {
        do throws(WireError) {
            return String(decoding: try WireJSON.encode(value), as: UTF8.self)
        } catch {
            throw .damaged
        }
    }

    private static func value<Value: Decodable>(_ type: Value.Type, _ text: String) throws(StoreError) -> Value {
        do throws(WireError) {
            return try WireJSON.decode(type, from: Array(text.utf8))
        } catch {
            throw .damaged
        }
    }
}
