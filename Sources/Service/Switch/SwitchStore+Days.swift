// SPDX-License-Identifier: Apache-2.0
import ISO8583
public import PaymentValues
import PostgreSQL

/// By what the sums of a day stand apart, beside the currency.
public enum DayPart: String, Sendable, CaseIterable {
    case terminal, scheme
}

/// The sums of one day in one currency, in minor units, as a reconciliation shows them.
public struct DayTotals: Equatable, Sendable {
    public let id: String
    /// YYYY-MM-DD.
    public let day: String
    public let currency: Currency
    /// Numbers and amounts of credits, their reversals, debits, their reversals: fields 74 to 77 and 86 to 89.
    public let numbers: [Int64]
    public let amounts: [Int64]
    /// Fields 41 and 42; `nil` where they are of all terminals.
    public let terminal: String?
    public let acceptor: String?
    /// `nil` where they are of all schemes.
    public let scheme: String?

    init?(_ row: Row) throws(DatabaseError) {
        guard let currency = Currency(row.text("currency")) else { return nil }
        id = row.text("id")
        day = row.text("day")
        self.currency = currency
        terminal = row["acceptor_terminal"]
        acceptor = row["acceptor"]
        scheme = row["scheme"]
        let names = ["credit", "credit_reversal", "debit", "debit_reversal"]
        numbers = try names.map { (name) throws(DatabaseError) in try row.whole(name + "s") }
        amounts = try names.map { (name) throws(DatabaseError) in try row.whole(name + "_amount") }
    }

    /// Those whose currency is known.
    static func all(_ rows: Rows) throws(DatabaseError) -> [DayTotals] {
        var all: [DayTotals] = []
        for row in rows { if let totals = try DayTotals(row) { all.append(totals) } }
        return all
    }

    /// Above zero the shop gets money.
    public var net: Int64 { amounts[2] - amounts[3] - amounts[0] + amounts[1] }
}

/// What came of closing a day.
enum DayClosed: Equatable, Sendable {
    case closed([DayTotals])
    /// The open day is this one, which has not begun.
    case notBegun(String)
}

extension SwitchStore {
    /// Ends the open day: what is booked from here on belongs to the next one. What was counted waits for the acquirer's word. A day that has not begun
    /// is left open: whoever closes twice would move the books into the future.
    ///
    /// - Parameters:
    ///   - zone: whose calendar counts, as `Europe/Berlin`; `nil` for the database's own.
    ///   - parts: by what the sums stand apart.
    func closeDay(zone: String? = nil, by parts: Set<DayPart> = []) async throws(DatabaseError) -> DayClosed {
        try await database.transaction { (transaction) throws(DatabaseError) in
            // Bookings under way are waited for, and others wait.
            _ = try transaction.run(Call("select pg_advisory_xact_lock(6583, 2)"))
            let open = try transaction.run(
                Call(
                    """
                    select day::text as day, today::text as today, day > today as is_early from day,
                        (select coalesce((now() at time zone $1::text)::date, current_date) as today) t where closed is null
                    """, [.text(zone)]))
            guard let row = open.first, let day = row["day"] else { return .closed([]) }
            guard !row.flag("is_early") else { return .notBegun(day) }
            _ = try transaction.run(Call("update day set closed = now() where day = $1::date", [.text(day)]))
            _ = try transaction.run(
                Call(
                    "insert into day values (greatest($2::date, $1::date + 1), null)",
                    [.text(day), .text(row.text("today"))]))
            let rows = try transaction.run(
                Call(
                    """
                    insert into day_end (id, day, currency, merchant, terminal, scheme, credits, credit_reversals, debits, debit_reversals,
                        credit_amount, credit_reversal_amount, debit_amount, debit_reversal_amount)
                    select gen_random_uuid(), $1::date, currency, merchant, terminal, scheme,
                        count(*) filter (where amount < 0 and not is_reversal),
                        count(*) filter (where amount > 0 and is_reversal),
                        count(*) filter (where amount > 0 and not is_reversal),
                        count(*) filter (where amount < 0 and is_reversal),
                        coalesce(-sum(amount) filter (where amount < 0 and not is_reversal), 0),
                        coalesce(sum(amount) filter (where amount > 0 and is_reversal), 0),
                        coalesce(sum(amount) filter (where amount > 0 and not is_reversal), 0),
                        coalesce(-sum(amount) filter (where amount < 0 and is_reversal), 0)
                    from (select e.currency, e.amount, e.is_reversal, case when $2::boolean then p.merchant end as merchant,
                            case when $2::boolean then p.terminal end as terminal, case when $3::boolean then p.scheme end as scheme
                        from entry e join payment p on p.id = e.payment where e.day = $1::date and e.account = 'shop') s
                    group by currency, merchant, terminal, scheme
                    returning id
                    """,
                    [
                        .text(day), .text(parts.contains(.terminal) ? "t" : "f"),
                        .text(parts.contains(.scheme) ? "t" : "f"),
                    ]))
            guard !rows.isEmpty else { return .closed([]) }
            let told = Call(
                """
                select *, id::text as id, day::text as day from day_total where day = $1::date
                order by currency, merchant, terminal, scheme
                """, [.text(day)])
            return .closed(try DayTotals.all(try transaction.run(told)))
        }
    }

    /// The host's next day has begun.
    func noteCutOver(_ settlement: String?) async throws(DatabaseError) {
        _ = try await database.run(
            Call(
                "update day set cut_over = now(), settlement = $1::text where closed is null", [.text(settlement)]))
    }

    /// Ends of days that nobody has told the acquirer of.
    func untoldDays(known mark: StoreMark?) async throws(DatabaseError) -> [DayTotals] {
        try DayTotals.all(
            try await database.run(
                Call(
                    """
                    select *, id::text as id, day::text as day from day_total d
                    where balance is null and not exists (select 1 from exchange x where x.id = d.id)
                        and ($1::bigint is null or (exists (select from generation where number = $1::bigint and not is_behind)
                            and pg_current_xact_id()::text::bigint > $2::bigint))
                    order by d.day limit 10
                    """, Self.known(mark))))
    }

    /// - Returns: whether this is the one who tells of it.
    func begin(_ day: DayTotals, _ row: ExchangeRow) async throws(DatabaseError) -> Bool {
        let message = row.exchange.original
        let rows = try await database.run(
            Call(
                """
                insert into exchange (id, kind, owner, stage, type, trace, reference, transmitted, sealed)
                values ($1::uuid, 'day', $2::bigint, 'reconciling', $3::text, $4::text, $5::text, $6::text, $7::bytea)
                on conflict (id) do nothing returning id
                """,
                [
                    .text(day.id), .number(row.owner), .text(message.type.description), .text(message.text(11)),
                    .text(message.text(37)), .text(message.text(7)), .bytes(row.sealed),
                ]))
        return !rows.isEmpty
    }
}

extension HostMessages {
    /// 0500: numbers and amounts of the day, and what is left of them with C or D in front.
    func reconciliation(_ day: DayTotals) -> ISOMessage? {
        guard let type = MessageType(500) else { return nil }
        var message = ISOMessage(type)
        message.set(15, String(day.day.filter { $0 != "-" }.suffix(4)))
        if !acquirer.isEmpty { message.set(32, acquirer) }
        if let terminal = day.terminal { message.set(41, Self.filled(terminal, 8)) }
        if let acceptor = day.acceptor { message.set(42, Self.filled(acceptor, 15)) }
        if let scheme = day.scheme, let totals = packager.totals {
            message.set(totals.field, totals.schemes[scheme] ?? totals.other)
        }
        message.set(50, Self.padded(Int64(day.currency.numeric), 3))
        for (index, number) in day.numbers.enumerated() { message.set(74 + index, Self.padded(number, 10)) }
        for (index, amount) in day.amounts.enumerated() { message.set(86 + index, Self.padded(amount, 16)) }
        // Credits less debits: C for what is not below zero (Elavon's description of field 97, eisop; the vector recon-0500 has it so).
        message.set(97, (day.net > 0 ? "D" : "C") + Self.padded(abs(day.net), 16))
        return message
    }
}
