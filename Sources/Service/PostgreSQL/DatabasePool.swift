// SPDX-License-Identifier: Apache-2.0
public import Linux
import Synchronization

/// A database behind some threads, each with a connection of its own. Work waits in one queue for whichever thread is free;
/// none of it runs on the cooperative pool.
///
/// ```swift
/// let database = try Database("host=/run/postgresql dbname=switch", connections: 4)
/// let rows = try await database.run([Call("select amount from payment where id = $1::uuid", [.text(id)])])
/// ```
public final class Database: Sendable {
    let queue: WorkLine
    let shared: SharedLine

    /// Starts the threads. Connections are made when there is work, and made again after they were lost.
    ///
    /// - Parameters:
    ///   - address: libpq's own words. Several hosts with `target_session_attrs=read-write` find a new primary.
    ///   - waiting: jobs that may wait; the next one is refused with `.busy`.
    /// - Throws: where the system has no threads or descriptors left.
    public init(_ address: String, connections: Int, waiting: Int = 1_000) throws(SystemError) {
        queue = WorkLine(most: waiting)
        shared = SharedLine(most: waiting, on: queue)
        for _ in 0..<max(1, connections) {
            let wake = try WakeSignal()
            let queue = queue
            try PrivateThread.start(named: "postgresql") { DatabaseThread(address, queue, wake).run() }
        }
    }

    deinit { queue.stop() }

    /// All of the calls as one transaction, in one exchange with the server.
    public func run(_ calls: [Call]) async throws(DatabaseError) -> [Rows] {
        try await perform { (connection) throws(DatabaseError) in try connection.pipeline(calls) }
    }

    /// The rows of one call.
    public func run(_ call: Call) async throws(DatabaseError) -> Rows {
        try await run([call]).first ?? Rows(rows: [], changed: 0)
    }

    /// As `run`, for short calls that many ask for in the same moment: what waits is carried out in one transaction with one commit, and
    /// nobody hears of any of it before that commit. Where it fails each is carried out again by itself.
    ///
    /// - Parameter calls: statements for rows last. Of several who want the same one it is carried out once, and each gets the rows of
    ///   all: look for your own.
    public func runTogether(_ calls: [Call]) async throws(DatabaseError) -> [Rows] {
        let shared = shared
        return try await withCheckedContinuation { continuation in
            shared.add(SharedCalls(calls: calls) { continuation.resume(returning: $0) })
        }.get()
    }

    /// A transaction in which what comes next depends on what was read. Runs on a thread of the database; where it throws
    /// nothing of it stays. It may run more than once, if others were in the way.
    public func transaction<Result: Sendable>(
        _ body: @escaping @Sendable (borrowing DatabaseTransaction) throws(DatabaseError) -> Result
    ) async throws(DatabaseError) -> Result {
        try await perform { (connection) throws(DatabaseError) in
            let transaction = DatabaseTransaction(connection)
            do throws(DatabaseError) {
                let result = try body(transaction)
                try transaction.commit()
                return result
            } catch {
                // Where this fails too the connection is lost, and the server has rolled back.
                do { try connection.script("rollback") } catch {}
                throw error
            }
        }
    }

    /// Statements of a migration.
    public func script(_ sql: String) async throws(DatabaseError) {
        try await perform { (connection) throws(DatabaseError) in try connection.script(sql) }
    }

    private func perform<Result: Sendable>(
        _ body: @escaping @Sendable (Connection) throws(DatabaseError) -> Result
    ) async throws(DatabaseError) -> Result {
        let queue = queue
        let outcome: Swift.Result<Result, DatabaseError> = await withCheckedContinuation { continuation in
            let isTaken = queue.add { thread in
                do throws(DatabaseError) {
                    let result = try thread.attempt(body)
                    continuation.resume(returning: .success(result))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
            if !isTaken { continuation.resume(returning: .failure(.busy)) }
        }
        return try outcome.get()
    }
}

/// Within `Database.transaction`.
public struct DatabaseTransaction: ~Copyable {
    /// What goes to the server with the next exchange: first of all the transaction's begin.
    private final class Waiting {
        var calls = [Call("begin")]
    }

    private let connection: Connection
    private let waiting = Waiting()

    init(_ connection: Connection) { self.connection = connection }

    /// All of the calls in one exchange with the server.
    public func run(_ calls: [Call]) throws(DatabaseError) -> [Rows] {
        let before = waiting.calls
        waiting.calls = []
        return Array(try connection.pipeline(before + calls).dropFirst(before.count))
    }

    public func run(_ call: Call) throws(DatabaseError) -> Rows {
        try run([call]).first ?? Rows(rows: [], changed: 0)
    }

    /// Carried out in its order with the next `run`, or with the commit, so that it costs no exchange of its own. Nobody hears what it
    /// brought; where it fails nothing of the transaction stays.
    public func later(_ call: Call) { waiting.calls.append(call) }

    /// Statements without values.
    public func script(_ sql: String) throws(DatabaseError) {
        _ = try run([])
        try connection.script(sql)
    }

    fileprivate func commit() throws(DatabaseError) {
        later(Call("commit"))
        _ = try run([])
    }
}
