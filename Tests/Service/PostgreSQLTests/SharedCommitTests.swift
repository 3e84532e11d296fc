// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TestSupport
import Testing

@testable import PostgreSQL

/// Calls that share a commit, against a server of PostgreSQL's own.
@Suite(.serialized, .timeLimit(.minutes(5)))
final class SharedCommitTests: Sendable {
    private let server: PrivatePostgreSQL

    init() throws { server = try PrivatePostgreSQL() }

    private static let insert: StaticString = """
        insert into kept (id) values ($1::int) returning id, pg_current_xact_id()::text as transaction
        """
    private static let insertRows: StaticString = """
        insert into kept (id) select * from unnest($1::int[]) returning id, pg_current_xact_id()::text as transaction
        """

    private final class Gate: Sendable {
        let isHeld = Atomic(false)
        let isOpen = Atomic(false)
        let ended = Atomic(0)
    }

    /// What came of it for each of the numbers, which all ask while the table is locked: the first alone, the others while it waits.
    ///
    /// - Parameter meanwhile: is done before it is free again.
    private func outcomes(
        _ numbers: [Int64], _ database: Database, asRows: Bool = false, meanwhile: () async throws -> Void = {}
    ) async throws -> [Result<Row?, DatabaseError>] {
        let holder = try Database(server.address, connections: 1)
        let gate = Gate()
        let lock = Task {
            try await holder.transaction { (transaction) throws(DatabaseError) in
                _ = try transaction.run(Call("lock table kept in share mode"))
                gate.isHeld.store(true, ordering: .releasing)
                while !gate.isOpen.load(ordering: .acquiring) {
                    _ = try transaction.run(Call("select pg_sleep(0.02)"))
                }
            }
        }
        try await eventually("the lock") { gate.isHeld.load(ordering: .acquiring) }
        let first = Task { await self.outcome(numbers[0], database, asRows: asRows, gate) }
        try await eventually("the first") { database.shared.standing == (0, true) }
        let others = Task {
            await withTaskGroup(of: (Int, Result<Row?, DatabaseError>).self) { group in
                for (index, number) in numbers.enumerated().dropFirst() {
                    group.addTask { (index, await self.outcome(number, database, asRows: asRows, gate)) }
                }
                return await group.reduce(into: [Int: Result<Row?, DatabaseError>]()) { $0[$1.0] = $1.1 }
            }
        }
        try await eventually("the others, waiting or refused") {
            database.shared.standing.waiting + gate.ended.load(ordering: .acquiring) == numbers.count - 1
        }
        try await meanwhile()
        gate.isOpen.store(true, ordering: .releasing)
        let outcomes = await others.value.merging([0: first.value]) { $1 }
        try await lock.value
        return numbers.indices.compactMap { outcomes[$0] }
    }

    private func outcome(
        _ number: Int64, _ database: Database, asRows: Bool, _ gate: Gate
    ) async -> Result<Row?, DatabaseError> {
        let call = asRows ? Call(Self.insertRows, rows: [[.number(number)]]) : Call(Self.insert, [.number(number)])
        defer { gate.ended.add(1, ordering: .releasing) }
        do throws(DatabaseError) {
            let rows = try await database.runTogether([call])
            return .success(rows.first?.first { $0.number("id") == number })
        } catch {
            return .failure(error)
        }
    }

    @Test(arguments: [false, true])
    func `what waits in the same moment is committed together, and each hears of its own rows`(asRows: Bool)
        async throws
    {
        let database = try Database(server.address, connections: 8)
        try await database.script("create table kept (id int primary key)")
        let rows = try await outcomes(Array(1...40), database, asRows: asRows).map { try $0.get() }
        #expect(rows.map { $0?.number("id") } == Array(1...40))
        // The thread finds the first; then at most 32 have one transaction.
        #expect((2...6).contains(Set(rows.map { $0?.text("transaction") }).count))
    }

    @Test(arguments: [false, true])
    func `who is refused is refused alone, and the others are carried out once`(asRows: Bool) async throws {
        let database = try Database(server.address, connections: 8)
        try await database.script("create table kept (id int primary key check (id <> 7)); insert into kept values (3)")
        let outcomes = try await outcomes(Array(1...20), database, asRows: asRows)
        for (number, outcome) in zip(1..., outcomes) {
            switch number {
            case 3: #expect(outcome == .failure(.duplicate(constraint: "kept_pkey")))
            case 7: #expect(outcome == .failure(.refused(state: "23514")))
            default: #expect(try outcome.get()?.number("id") == Int64(number))
            }
        }
        #expect(try server.sql("select count(*), sum(id) from kept") == "19|203\n")
    }

    @Test(arguments: [false, true])
    func `two who bring the same row in the same moment do not both hear that it is theirs`(asRows: Bool) async throws {
        let database = try Database(server.address, connections: 8)
        try await database.script("create table kept (id int primary key)")
        let outcomes = try await outcomes([1, 2, 3, 2, 4], database, asRows: asRows)
        let twins = [outcomes[1], outcomes[3]]
        #expect(twins.filter { (try? $0.get()) != nil }.count == 1)
        #expect(twins.filter { $0 == .failure(.duplicate(constraint: "kept_pkey")) }.count == 1)
        #expect(try [0, 2, 4].map { try outcomes[$0].get()?.number("id") } == [1, 3, 4])
        #expect(try server.sql("select count(*) from kept") == "4\n")
    }

    @Test func `whoever shares a connection that is cut in the middle knows nothing`() async throws {
        let database = try Database(server.address, connections: 1)
        try await database.script("create table kept (id int primary key)")
        let outcomes = try await outcomes(Array(1...10), database) {
            // The connection of the first, which is alone, and the next one, which all others share.
            var cut: Set<Substring> = []
            try await eventually("two connections that wait, and their ends") {
                let said = try server.sql(
                    """
                    select pid, pg_terminate_backend(pid) from pg_stat_activity
                    where wait_event = 'relation' and query like '%insert into kept%'
                    """)
                cut.formUnion(said.split(separator: "\n").compactMap { $0.split(separator: "|").first })
                return cut.count > 1
            }
        }
        #expect(outcomes.filter { $0 == .failure(.unknown) }.count > 1)
        let known = outcomes.filter { if case .success = $0 { true } else { false } }.count
        #expect(try server.sql("select count(*) from kept") == "\(known)\n")
    }

    @Test func `what comes beyond the queue is refused at once, and other work is done between two transactions`()
        async throws
    {
        let database = try Database(server.address, connections: 1, waiting: 5)
        try await database.script("create table kept (id int primary key)")
        let other = Mutex<Task<Int64?, any Error>?>(nil)
        let outcomes = try await outcomes(Array(1...20), database) {
            other.withLock {
                $0 = Task { try await database.run(Call("select count(*) as n from kept")).first?.number("n") }
            }
            try await eventually("the other work") { !database.queue.isEmpty }
        }
        #expect(outcomes.filter { $0 == .failure(.busy) }.count == 14)
        // The first is in, and those that waited behind it are not.
        #expect(try await other.withLock { $0 }?.value == 1)
    }

    @Test func `rows of every kind come back as they were bound`() async throws {
        let texts = ["", "NULL", "null", "{a,b}", "\"\\\" '; drop table x; --", " \n\t", "\u{1F4B3}"]
        let database = try Database(server.address, connections: 1)
        let rows = texts.map { text -> [DatabaseValue] in
            [.text(text), .number(.min), .bytes([0, 0xFF, 0x5C, 0x22]), .flag(true), .null]
        }
        let found = try await database.run(
            Call(
                "select * from unnest($1::text[], $2::bigint[], $3::bytea[], $4::bool[], $5::text[]) x (a, b, c, d, e)",
                rows: rows))
        #expect(found.map { $0.text("a") } == texts)
        for row in found {
            #expect(row.number("b") == .min)
            #expect(row.bytes("c") == [0, 0xFF, 0x5C, 0x22])
            #expect(row.flag("d"))
            #expect(row["e"] == nil)
        }
    }

    /// In whatever order they were handed over: what somebody wants before its rows is there when they are made.
    @Test func `statements for rows come behind everything else`() async throws {
        let database = try Database(server.address, connections: 8)
        try await database.script(
            "create table kept (id int primary key); create table part (of int references kept, n int)")
        try await withThrowingTaskGroup { group in
            for number in 1...60 as ClosedRange<Int64> {
                group.addTask {
                    let rows = try await database.runTogether([
                        Call(Self.insert, [.number(number)]),
                        Call(
                            "insert into part select * from unnest($1::int[], $2::int[]) returning of, n",
                            rows: [[.number(number), .number(1)], [.number(number), .number(2)]]),
                    ])
                    #expect(rows.first?.first?.number("id") == number)
                    #expect(rows.last?.filter { $0.number("of") == number }.map { $0.number("n") } == [1, 2])
                }
            }
            try await group.waitForAll()
        }
        #expect(try server.sql("select count(*) from part") == "120\n")
    }
}
