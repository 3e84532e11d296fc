// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Looks through a whole journal while a daemon works with it: on a connection of its own, table by table, and gives way at
/// once where it is wished.
public final class JournalExamination {
    private let database: Database
    /// The wish that ends a step early.
    private let stop: StopRequest

    public init(directory: String, stop: StopRequest) throws(JournalError) {
        self.stop = stop
        database = try Database(path: directory + "/" + Journal.fileName, readOnly: true)
        database.interrupt(by: stop)
    }

    /// Looks at one table with its indexes.
    ///
    /// - Returns: whether it is sound; `nil` where the look was given up.
    public func isSound(_ table: String) throws(JournalError) -> Bool? {
        let quoted = table.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
        do throws(JournalError) {
            return try database.query("PRAGMA integrity_check('\(quoted)')") { (row) throws(JournalError) in
                try row.text(0)
            } == ["ok"]
        } catch .damaged {
            return false
        } catch {
            guard stop.isWished else { throw error }
            return nil
        }
    }
}

/// Somebody else needs the disk.
public final class StopRequest: Sendable {
    private let wished = Atomic(false)

    public init() {}

    public var isWished: Bool {
        get { wished.load(ordering: .relaxed) }
        set { wished.store(newValue, ordering: .relaxed) }
    }
}
