// SPDX-License-Identifier: Apache-2.0
import ISO8583
import PSPAPI
import PaymentValues
import PostgreSQL

/// A seat of the acquirer's table, and with it a share of the trace numbers.
struct Seat: Equatable, Sendable {
    let number: Int64
    let owner: Int64
    /// Where the share's use ended.
    let trace: Int

    static let share = 100_000

    var traces: ClosedRange<Int> {
        let first = Int(number) * Self.share
        return max(1, first)...first + Self.share - 1
    }
}

/// The one store of all replicas: every statement of it stands in this type's extensions.
struct SwitchStore: Sendable {
    let database: Database

    /// Steps from an empty database to this version.
    private static let schema: [[UInt8]] = [
        PackageResources.schema_1_sql, PackageResources.schema_2_sql, PackageResources.schema_3_sql,
        PackageResources.schema_4_sql, PackageResources.schema_5_sql, PackageResources.schema_6_sql,
        PackageResources.schema_7_sql, PackageResources.schema_8_sql, PackageResources.schema_9_sql,
    ]

    enum MigrationError: Error, Equatable, Sendable {
        case database(DatabaseError)
        /// Another program has changed the database since.
        case newer(Int64)
        /// What was committed would be lost with the server's power.
        case notDurable
    }

    /// Brings the database to this version; of several who try at once, one does it.
    func migrate() async throws(MigrationError) {
        let (isDurable, version): (Bool, Int64)
        do throws(DatabaseError) {
            isDurable =
                try await database.run(Call("select current_setting('fsync') as fsync")).first?.text("fsync") == "on"
            version = try await database.transaction(Self.migrate)
        } catch {
            throw .database(error)
        }
        guard isDurable else { throw .notDurable }
        guard version == Int64(Self.schema.count) else { throw .newer(version) }
    }

    /// - Returns: the version that the tables have now.
    private static func migrate(_ transaction: borrowing DatabaseTransaction) throws(DatabaseError) -> Int64 {
        _ = try transaction.run(Call("select pg_advisory_xact_lock(6583, 1)"))
        let isThere = try transaction.run(Call("select to_regclass('schema_version') is not null as is_there"))
        var version: Int64 = 0
        if isThere.first?.flag("is_there") == true {
            version = try transaction.run(Call("select version from schema_version")).first?.number("version") ?? 0
        }
        for step in schema.dropFirst(Int(clamping: version)) {
            try transaction.script(String(decoding: step, as: UTF8.self))
        }
        return max(version, Int64(schema.count))
    }

    // MARK: - Seats

    /// Seconds for which a seat is held without a sign of life.
    static let leaseSeconds: Int64 = 8

    /// Takes the seat that nobody has held for longest; `nil` where all are held. A replica that dies leaves up to 5,000 trace numbers of
    /// its seat unused: were it the same seat each time, a day of many deaths would use its numbers twice within an hour.
    func takeSeat() async throws(DatabaseError) -> Seat? {
        let rows = try await database.run(
            Call(
                """
                update seat set owner = nextval('owner'), lease_until = clock_timestamp() + $1::int * interval '1 s'
                where seat = (select seat from seat where lease_until < clock_timestamp()
                    order by lease_until, seat limit 1
                    for update skip locked) and lease_until < clock_timestamp()
                returning seat, owner, trace
                """, [.number(Self.leaseSeconds)]))
        guard let row = rows.first, let number = row.number("seat"), let owner = row.number("owner") else { return nil }
        return Seat(number: number, owner: owner, trace: Int(clamping: try row.whole("trace")))
    }

    /// - Returns: how far the books are; `nil` where the seat is another one's.
    func keepSeat(_ seat: Seat, trace: Int) async throws(DatabaseError) -> StoreMark? {
        let rows = try await database.run(
            Call(
                """
                update seat set lease_until = clock_timestamp() + $1::int * interval '1 s', trace = $2::int
                where seat = $3::int and owner = $4::bigint
                returning pg_current_xact_id()::text::bigint as transaction, (select number from generation) as generation,
                    (select is_behind from generation) as is_behind
                """, [.number(Self.leaseSeconds), .number(Int64(trace)), .number(seat.number), .number(seat.owner)]))
        guard let row = rows.first else { return nil }
        return StoreMark(
            generation: try row.whole("generation"), transaction: try row.whole("transaction"),
            isDoubted: row.flag("is_behind"))
    }

    /// Lets the other replicas know that these books lack what this one was told of.
    func doubt(_ mark: StoreMark) async throws(DatabaseError) {
        _ = try await database.run(
            Call("update generation set is_behind = true where number = $1::bigint", [.number(mark.generation)]))
    }

    /// A person has compared the books with the acquirer's list.
    ///
    /// - Returns: the generation that begins.
    func beginGeneration() async throws(DatabaseError) -> Int64 {
        let row = try await database.run(
            Call("update generation set number = number + 1, is_behind = false returning number")
        ).first
        guard let row else { throw .unknown }
        return try row.whole("number")
    }

    /// Gives it up at once, so that others need not wait for the lease's end.
    func leaveSeat(_ seat: Seat) async throws(DatabaseError) {
        _ = try await database.run(
            Call(
                "update seat set lease_until = clock_timestamp() where seat = $1::int and owner = $2::bigint",
                [.number(seat.number), .number(seat.owner)]))
    }

    // MARK: - Who

    /// The merchant of a till; `nil` for one that is unknown or blocked.
    func merchant(ofTill name: String) async throws(DatabaseError) -> String? {
        try await database.run(
            Call("select merchant from till where name = $1::text and not blocked", [.text(name)])
        ).first?.text("merchant")
    }

    func acceptor(_ terminal: AuthorizationRequest.Terminal) async throws(DatabaseError) -> Acceptor? {
        let rows = try await database.run(
            Call(
                """
                select m.acceptor, m.location, m.category, t.acceptor_terminal, m.kinds, m.limit_currency, m.most,
                    m.most_offline, m.most_refunded
                from terminal t join merchant m on m.id = t.merchant where t.merchant = $1::text and t.id = $2::text
                """, [.text(terminal.merchant), .text(terminal.id)]))
        return rows.first.map {
            Acceptor(
                merchant: terminal.merchant, acceptor: $0.text("acceptor"), location: $0.text("location"),
                category: $0.text("category"), terminal: $0.text("acceptor_terminal"), limits: MerchantLimits($0))
        }
    }

    // MARK: - Questions

    /// Makes the transaction that it is in write something, so that its commit waits for the standby, and for everything before it. What a
    /// primary shows after a crash may not have reached the standby yet: told to anybody, it could be gone after the next failover.
    static let waiting = Call("select pg_logical_emit_message(true, 'nfc-tap-switch', '')")

    /// The row of a question whose answer will be acted on: no death of one machine takes it back.
    private func lasting(_ call: Call) async throws(DatabaseError) -> Row? {
        try await database.run([call, Self.waiting]).first?.first
    }

    /// A payment as it is in the books now, and stays.
    func payment(_ id: String) async throws(DatabaseError) -> KnownPayment? {
        try await lasting(Call("select * from payment where id = $1::uuid", [.text(id)])).map(KnownPayment.init)
    }

    func operation(_ id: String) async throws(DatabaseError) -> KnownOperation? {
        try await lasting(
            Call(
                """
                select o.*, p.currency, p.merchant from operation o join payment p on p.id = o.payment
                where o.id = $1::uuid
                """, [.text(id)])
        ).map(KnownOperation.init)
    }

    /// The sealed messages of an exchange, for what follows it.
    func sealed(_ id: String) async throws(DatabaseError) -> Row? {
        try await database.run(Call("select * from exchange where id = $1::uuid", [.text(id)])).first
    }
}

/// A row of `payment`.
struct KnownPayment: Sendable {
    let row: Row

    init(_ row: Row) { self.row = row }

    var id: String { row.text("id") }
    var merchant: String { row.text("merchant") }
    var state: String { row.text("state") }
    var body: [UInt8]? { row.bytes("body") }
    var answer: String? { row["answer"] }
    /// `nil` where a reversal came before the payment.
    var money: Money? {
        get throws(DatabaseError) {
            guard let currency = Currency(row.text("currency")) else { return nil }
            return Money(value: try row.whole("amount"), currency: currency)
        }
    }

    var figures: PaymentFigures {
        get throws(DatabaseError) {
            PaymentFigures(
                // Where a reversal came first there is no kind, and every sum is nothing.
                kind: AuthorizationRequest.Kind(rawValue: row.text("kind")) ?? .sale,
                authorised: try row.whole("authorised"), captured: try row.whole("captured"),
                released: try row.whole("released"), refunded: try row.whole("refunded"))
        }
    }
}

/// A row of `operation`, with its payment's currency.
struct KnownOperation: Sendable {
    let row: Row

    init(_ row: Row) { self.row = row }

    var id: String { row.text("id") }
    var payment: String { row.text("payment") }
    var kind: String { row.text("kind") }
    var merchant: String { row.text("merchant") }
    var state: String { row.text("state") }
    var body: [UInt8]? { row.bytes("body") }
    var answer: String? { row["answer"] }
}
