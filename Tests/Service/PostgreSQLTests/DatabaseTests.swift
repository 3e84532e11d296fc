// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TestSupport
import Testing

@testable import PostgreSQL

/// Against a server of PostgreSQL's own. What an SQLSTATE means is from appendix A of its manual.
@Suite(.serialized, .timeLimit(.minutes(5)))
final class DatabaseTests {
    /// Of each test its own, which ends with it.
    private let server: PrivatePostgreSQL

    init() throws { server = try PrivatePostgreSQL() }

    private func database(connections: Int = 2, waiting: Int = 1_000) throws -> Database {
        try Database(server.address, connections: connections, waiting: waiting)
    }

    /// PostgreSQL 15, appendix A: 55P03 lock_not_available. Six repeats kept a connection from everybody for twelve seconds.
    @Test("S15: a lock that was not got in time is not waited for again by the same thread")
    func lockedRow() async throws {
        let server = try PrivatePostgreSQL()
        let database = try Database(server.address, connections: 1)
        try await database.script("create table a (id int); insert into a values (1)")
        async let lock = Task.detached {
            try? server.sql("begin; lock table a; select pg_sleep(3600); commit")
        }.value
        try await eventually("the lock") {
            try server.sql("select count(*) from pg_locks where mode = 'AccessExclusiveLock' and granted") != "0\n"
        }
        let tries = Mutex(0)
        await #expect(throws: DatabaseError.again(state: "55P03")) {
            try await database.transaction { (transaction) throws(DatabaseError) in
                tries.withLock { $0 += 1 }
                _ = try transaction.run(Call("update a set id = 2"))
            }
        }
        #expect(tries.withLock { $0 } == 1)
        _ = try server.sql("select pg_terminate_backend(pid) from pg_locks where mode = 'AccessExclusiveLock'")
        _ = await lock
    }

    @Test func `values of every kind come back as they were bound`() async throws {
        let text = "'; drop table x; -- \\ \u{1F4B3}"
        let rows = try await database().run(
            Call(
                """
                select $1::text as a, $2::bigint as b, $3::bytea as c, $4::bool as d, $5::text as e
                """, [.text(text), .number(.min), .bytes([0, 0xFF, 0x27]), .flag(true), .null]))
        let row = try #require(rows.first)
        #expect(row.text("a") == text)
        #expect(row.number("b") == .min)
        #expect(row.bytes("c") == [0, 0xFF, 0x27])
        #expect(row.flag("d"))
        #expect(row["e"] == nil)
    }

    @Test func `calls of one run are all carried out or none`() async throws {
        let database = try database()
        try await database.script("create table pair (id int primary key)")
        await #expect(throws: DatabaseError.duplicate(constraint: "pair_pkey")) {
            try await database.run([
                Call("insert into pair values ($1::int)", [.number(1)]),
                Call("insert into pair values ($1::int)", [.number(1)]),
                Call("insert into pair values ($1::int)", [.number(2)]),
            ])
        }
        // The connection works on, and the same statement with it.
        let rows = try await database.run([
            Call("insert into pair values ($1::int)", [.number(3)]), Call("select count(*) as n from pair"),
        ])
        #expect(rows.first?.changed == 1)
        #expect(rows.last?.first?.number("n") == 1)
    }

    @Test func `a constraint that is checked at the end of the transaction fails the whole run`() async throws {
        let database = try database()
        try await database.script(
            "create table late (id int unique deferrable initially deferred); insert into late values (1)")
        await #expect(throws: DatabaseError.duplicate(constraint: "late_id_key")) {
            try await database.run(Call("insert into late values (1)"))
        }
        #expect(try await database.run(Call("select 1 as one")).first?.number("one") == 1)
    }

    @Test func `a transaction that throws leaves nothing`() async throws {
        let database = try database()
        try await database.script("create table kept (id int)")
        await #expect(throws: DatabaseError.busy) {
            try await database.transaction { (transaction) throws(DatabaseError) in
                _ = try transaction.run(Call("insert into kept values (1)"))
                throw .busy
            }
        }
        #expect(try await database.run(Call("select count(*) as n from kept")).first?.number("n") == 0)
    }

    @Test func `what may come later comes in its order, before the next call or the commit, or not at all`()
        async throws
    {
        let database = try database()
        try await database.script("create table kept (id int primary key)")
        let count = try await database.transaction { (transaction) throws(DatabaseError) in
            transaction.later(Call("insert into kept values (1)"))
            let count = try transaction.run(Call("select count(*) as n from kept")).first?.number("n")
            transaction.later(Call("insert into kept values (2)"))
            return count
        }
        #expect(count == 1)
        await #expect(throws: DatabaseError.duplicate(constraint: "kept_pkey")) {
            try await database.transaction { (transaction) throws(DatabaseError) in
                transaction.later(Call("insert into kept values (3)"))
                transaction.later(Call("insert into kept values (1)"))
            }
        }
        // Nothing of a transaction is left open on its connection.
        try await database.transaction { (transaction) throws(DatabaseError) in
            transaction.later(Call("insert into kept values (4)"))
        }
        let rows = try await database.run(Call("select id from kept order by id"))
        #expect(rows.map { $0.number("id") } == [1, 2, 4])
    }

    @Test func `a statement that is wrong is refused with its SQLSTATE and no text`() async throws {
        await #expect(throws: DatabaseError.refused(state: "42P01")) {
            try await database().run(Call("select * from nothing_of_the_kind"))
        }
    }

    /// 40P01: the server ends one of two that wait for each other.
    @Test func `transactions that get in each other's way both end well`() async throws {
        let database = try database(connections: 2)
        try await database.script("create table two (id int primary key, n int); insert into two values (1, 0), (2, 0)")
        try await withThrowingTaskGroup { group in
            for (first, second) in [(1, 2), (2, 1)] as [(Int64, Int64)] {
                group.addTask {
                    var left = 3
                    while left > 0 {
                        do throws(DatabaseError) {
                            try await database.transaction { (transaction) throws(DatabaseError) in
                                _ = try transaction.run(
                                    Call("update two set n = n + 1 where id = $1::int", [.number(first)]))
                                _ = try transaction.run(Call("select pg_sleep(0.005)"))
                                _ = try transaction.run(
                                    Call("update two set n = n + 1 where id = $1::int", [.number(second)]))
                            }
                            left -= 1
                        } catch {
                            // A server without a processor keeps a lock for seconds (55P03): nothing was done.
                            guard case .again = error else { throw error }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let rows = try await database.run(Call("select n from two order by id"))
        #expect(rows.map { $0.number("n") } == [6, 6])
    }

    /// 57P01: the administrator ends the session in the middle of a statement, so that nobody can say what became of it.
    @Test func `a connection that is cut in the middle is unknown, and the next call has a new one`() async throws {
        let database = try database(connections: 1)
        await #expect(throws: DatabaseError.unknown) {
            try await database.run(Call("select pg_terminate_backend(pg_backend_pid()), pg_sleep(1)"))
        }
        #expect(try await database.run(Call("select 1 as one")).first?.number("one") == 1)
    }

    @Test func `a connection that was cut while nothing was asked is noticed before anything is sent`() async throws {
        let database = try database(connections: 1)
        _ = try await database.run(Call("select 1 as one"))
        try server.sql(
            "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'nfc-tap-switch'")
        try await eventually("the end of the session") {
            try server.sql("select count(*) from pg_stat_activity where application_name = 'nfc-tap-switch'") == "0\n"
        }
        try await Task.sleep(for: .milliseconds(200))
        #expect(try await database.run(Call("select 1 as one")).first?.number("one") == 1)
    }

    /// PostgreSQL's manual, 27.2.8.4: a wait for the standby that is cancelled ends with a warning, and the commit stands on one machine alone.
    @Test func `a commit whose wait for the standby was cancelled is unknown, and the same again waits`() async throws {
        let database = try database(connections: 2)
        try await database.script("create table kept (id int primary key)")
        try server.sql("alter system set synchronous_standby_names = 'ANY 1 (nobody)'")
        try server.sql("select pg_reload_conf()")
        // Commits wait once the server's checkpointer has told all others of the setting.
        let cancelled = Task {
            while !Task.isCancelled {
                _ = try await database.run(Call("insert into kept values (1) on conflict (id) do update set id = 1"))
            }
        }
        try await eventually("a wait for the standby") {
            try server.sql("select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'")
                .contains("t")
        }
        await #expect(throws: DatabaseError.unknown) { try await cancelled.value }
        // It is there, and would be gone with this machine.
        #expect(try server.sql("select count(*) from kept") == "1\n")
        let again = Task {
            try await database.run([
                Call("insert into kept values (1) on conflict do nothing"),
                Call("select pg_logical_emit_message(true, 'test', '')"),
            ])
        }
        try await eventually("a wait for the standby") {
            try server.sql("select count(*) from pg_stat_activity where wait_event = 'SyncRep'") == "1\n"
        }
        try server.sql("alter system reset synchronous_standby_names")
        try server.sql("select pg_reload_conf()")
        #expect(try await again.value.first?.changed == 0)
    }

    @Test func `without a server nothing is sent`() async throws {
        let database = try Database("host=/nonexistent dbname=x", connections: 1)
        await #expect(throws: DatabaseError.unreachable) { try await database.run(Call("select 1 as one")) }
    }

    @Test func `what comes beyond the queue is refused at once`() async throws {
        let database = try database(connections: 1, waiting: 1)
        let outcomes = await withTaskGroup(of: Bool.self, returning: [Bool].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    do {
                        _ = try await database.run(Call("select pg_sleep(1)"))
                        return true
                    } catch {
                        return error as? DatabaseError != .busy
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.contains(true))
        #expect(outcomes.contains(false))
    }
}
