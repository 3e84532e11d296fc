// SPDX-License-Identifier: Apache-2.0
import PostgreSQL

/// What operators look at.
extension SwitchStore {
    /// A till was heard of.
    func noteTill(_ name: String, version: String?) async throws(DatabaseError) {
        _ = try await database.run(
            Call(
                """
                update till set seen = now(), version = coalesce($2::text, version) where name = $1::text
                    and (seen is null or seen < now() - interval '50 s')
                """, [.text(name), .text(version.map { String(decoding: $0.utf8.prefix(64), as: UTF8.self) })]))
    }

    /// One row of figures about all that is open.
    func outlook() async throws(DatabaseError) -> Row? {
        try await database.run(
            Call(
                """
                select (select count(*) from payment where state = 'running') as running,
                    (select coalesce(extract(epoch from now() - min(created)), 0)::bigint from payment where state = 'running')
                        as running_age,
                    (select count(*) from exchange where stage = 'reversing' or wanted is not null) as reversals,
                    (select coalesce(extract(epoch from now() - min(changed)), 0)::bigint from exchange
                        where stage = 'reversing' or wanted is not null) as reversal_age,
                    (select count(*) from exchange where given_up) as given_up,
                    (select count(*) from exchange where stage = 'advising') as stored,
                    (select coalesce(extract(epoch from now() - min(created)), 0)::bigint from exchange where stage = 'advising')
                        as stored_age,
                    (select count(*) from day_end where balance is null and created < now() - interval '10 minutes') as untold,
                    (select count(*) from day_end where balance = 'unsaid' and created > now() - interval '7 days') as unsaid,
                    (select count(*) from day_end where balance = 'outOfBalance' and day > current_date - 7) as unbalanced
                """)
        ).first
    }

    /// Money that the card or the shop has promised and the acquirer has not acknowledged yet, by currency.
    func storedMoney() async throws(DatabaseError) -> Rows {
        try await database.run(
            Call(
                """
                select p.currency, sum(coalesce(o.amount, p.amount))::bigint as amount from exchange x
                join payment p on p.id = x.payment left join operation o on o.id = x.id
                where x.stage = 'advising' group by p.currency order by p.currency
                """))
    }

    /// What a person would look at first: the oldest two hundred.
    func openItems() async throws(DatabaseError) -> Rows {
        try await database.run(
            Call(
                """
                select x.id, p.merchant, coalesce(p.terminal, '') as terminal, x.kind, x.stage, coalesce(x.wanted, '') as wanted,
                    x.given_up, x.attempts, coalesce(o.amount, p.amount, 0) as amount, coalesce(p.currency, '') as currency,
                    to_char(x.created at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as created
                from exchange x left join payment p on p.id = x.payment left join operation o on o.id = x.id
                where x.stage in ('awaiting', 'reversing', 'advising', 'reconciling') or x.wanted is not null or x.given_up
                order by x.created limit 200
                """))
    }

    /// Those of which was heard longest ago come first.
    func tills() async throws(DatabaseError) -> Rows {
        try await database.run(
            Call(
                """
                select name, merchant, blocked, coalesce(version, '') as version,
                    coalesce(to_char(seen at time zone 'UTC', 'YYYY-MM-DD HH24:MI'), '') as seen
                from till order by till.seen nulls first, name limit 1000
                """))
    }

    /// Of the open day, by merchant and currency.
    func sums() async throws(DatabaseError) -> Rows {
        try await database.run(
            Call(
                """
                select p.merchant, e.currency, count(distinct e.payment) as payments,
                    coalesce(sum(e.amount) filter (where e.account = 'shop'), 0)::bigint as shop,
                    coalesce(sum(e.amount) filter (where e.account = 'hold'), 0)::bigint as hold
                from entry e join payment p on p.id = e.payment where e.day = (select day from day where closed is null)
                group by p.merchant, e.currency order by p.merchant, e.currency limit 1000
                """))
    }

    func dayEnds() async throws(DatabaseError) -> Rows {
        try await database.run(
            Call(
                """
                select e.day::text as day, currency, debits, debit_amount, credits, credit_amount,
                    coalesce(balance, 'not told yet') as balance,
                    coalesce(to_char(cut_over at time zone 'UTC', 'YYYY-MM-DD HH24:MI'), '') as cut_over, coalesce(settlement, '') as settlement
                from day_end e join day d on d.day = e.day order by e.day desc, currency limit 30
                """))
    }
}
