// SPDX-License-Identifier: Apache-2.0
import ISO8583
import PaymentValues
import PostgreSQL

extension SwitchStore {
    /// Two arguments that say how far the books have to be. The statement that takes work looks at that itself: they may have been restored a moment ago.
    static func known(_ mark: StoreMark?) -> [DatabaseValue] {
        mark.map { [.number($0.generation), .number($0.transaction)] } ?? [.null, .null]
    }

    /// Open exchanges that nobody speaks of: of replicas that have ended, and reversals that were asked for. From here on the owner
    /// does. Of several who ask at once each gets others.
    ///
    /// - Parameter mark: how far the books have to be; what books that are behind call open may have been decided since.
    func takeWork(_ owner: Int64, known mark: StoreMark?) async throws(DatabaseError) -> [Row] {
        Array(
            try await database.run(
                Call(
                    """
                    update exchange set owner = $1::bigint, changed = now() where id in (
                        select id from exchange
                        where (stage in ('awaiting', 'reversing', 'advising', 'reconciling') or wanted is not null)
                            and (owner is null
                                or owner not in (select owner from seat where lease_until > clock_timestamp()))
                            and ($2::bigint is null or (exists (select from generation where number = $2::bigint and not is_behind)
                                and pg_current_xact_id()::text::bigint > $3::bigint))
                        order by created limit 50 for update skip locked)
                    returning *, extract(epoch from clock_timestamp() - created)::bigint as age
                    """, [.number(owner)] + Self.known(mark))))
    }

    /// Open exchanges of this owner that have not changed for a while: whoever does not know one of them has to take it up.
    func ownWork(_ owner: Int64, known mark: StoreMark?) async throws(DatabaseError) -> [Row] {
        Array(
            try await database.run(
                Call(
                    """
                    select *, extract(epoch from clock_timestamp() - created)::bigint as age from exchange
                    where owner = $1::bigint and changed < clock_timestamp() - interval '10 s'
                        and (stage in ('awaiting', 'reversing', 'advising', 'reconciling') or wanted is not null)
                        and ($2::bigint is null or (exists (select from generation where number = $2::bigint and not is_behind)
                            and pg_current_xact_id()::text::bigint > $3::bigint))
                    """, [.number(owner)] + Self.known(mark))))
    }

    /// Wants something back whose reversal the host had answered by knowing nothing of it. Whoever takes work takes it.
    func reverseAgain(_ id: String) async throws(DatabaseError) {
        let id = DatabaseValue.text(id)
        _ = try await database.run([
            Call(
                """
                update exchange set stage = 'answered', detail = '00', wanted = 'timeout', owner = null, attempts = 0, changed = now()
                where id = $1::uuid and stage = 'reversed' and sealed is not null
                """, [id]),
            Call(
                """
                update payment set state = 'reversing' where id = $1::uuid and state = 'reversed'
                    and exists (select 1 from exchange where id = $1::uuid and wanted is not null)
                """, [id]),
            Call(
                """
                update operation set state = 'reversing' where id = $1::uuid and state = 'reversed'
                    and exists (select 1 from exchange where id = $1::uuid and wanted is not null)
                """, [id]),
        ])
    }

    /// Its replica has listened on its line for as long as a host may hold an approval back: none came, and its card is not needed any more.
    func closeUnapproved(_ id: String) async throws(DatabaseError) {
        _ = try await database.run(
            Call(
                "update exchange set sealed = null where id = $1::uuid and stage = 'reversed' and wanted is null",
                [.text(id)]))
    }

    /// Wants back once more what was taken back without an approval and not listened for since: the line or the replica had ended, and an approval that came
    /// after the host's answer to the reversal had nobody to come to. Once for each: what ends now has ended too late for a second time.
    ///
    /// - Parameters:
    ///   - milliseconds: from its end, longer than its replica would have listened.
    ///   - mark: how far the books have to be.
    /// - Returns: how many.
    func askAgain(after milliseconds: UInt64, known mark: StoreMark?) async throws(DatabaseError) -> Int {
        try await database.run(
            Call(
                """
                update exchange set wanted = 'timeout', owner = null where id in (
                    select id from exchange where stage = 'reversed' and sealed is not null and wanted is null
                        and changed < clock_timestamp() - $3::bigint * interval '1 ms' and changed < created + $3::bigint * interval '1 ms'
                        and ($1::bigint is null or (exists (select from generation where number = $1::bigint and not is_behind)
                            and pg_current_xact_id()::text::bigint > $2::bigint))
                    order by changed limit 50 for update skip locked)
                """, Self.known(mark) + [.number(Int64(clamping: milliseconds))])
        ).changed
    }

    /// What the host has said of it contradicts itself: it stands among the open items until a person says that it is settled.
    func leaveOpen(_ id: String) async throws(DatabaseError) {
        _ = try await database.run(
            Call(
                "update exchange set given_up = true, changed = now() where id = $1::uuid and stage in ('answered', 'advised')",
                [.text(id)]))
    }

    /// Takes out what is older than it has to be kept.
    ///
    /// - Parameters:
    ///   - cardDays: the sealed card number of what is at an end: as long as payments are refunded or taken back.
    ///   - days: everything of a payment. A reversal of nothing, and what makes a cryptogram pay once, are kept for thirty-five of them: no till sends
    ///     anything later than thirty-one.
    func erase(cardDays: Int64, days: Int64) async throws(DatabaseError) -> (cards: Int, payments: Int) {
        let rows = try await database.run([
            Call(
                """
                update exchange set sealed = null where sealed is not null and wanted is null
                    and stage in ('answered', 'reversed', 'advised', 'reconciled')
                    and changed < now() - case when stage = 'reversed' then 1 else $1::int end * interval '1 day'
                """, [.number(cardDays)]),
            Call(
                """
                delete from payment p where state not in ('running', 'reversing')
                    and created < now() - case when state = 'void' then least($1::int, 35) else $1::int end * interval '1 day'
                    and not exists (select 1 from operation o where o.payment = p.id and o.state in ('running', 'reversing'))
                    and not exists (select 1 from entry e join day d on d.day = e.day where e.payment = p.id and d.closed is null)
                """, [.number(days)]),
            Call(
                """
                update payment set cryptogram = null where cryptogram is not null and created < now() - interval '35 days'
                """),
            Call("delete from receipt where asked < now() - interval '35 days'"),
        ])
        return (rows.first?.changed ?? 0, rows.dropFirst().first?.changed ?? 0)
    }

    /// What must be nothing: sums of entries that are not zero, and payments that nobody has decided in a minute.
    func imbalance() async throws(DatabaseError) -> (unbalanced: Int64, stuck: Int64) {
        let row = try await database.run(
            Call(
                """
                select (select count(*) from (select 1 from entry group by payment, currency having sum(amount) <> 0) s) as unbalanced,
                    (select count(*) from payment where state = 'running' and created < now() - interval '1 minute') as stuck
                """)
        ).first
        guard let row else { throw .unknown }
        return (try row.whole("unbalanced"), try row.whole("stuck"))
    }
}
