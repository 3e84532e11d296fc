// SPDX-License-Identifier: Apache-2.0
import Foundation
import ISO8583
import PSPAPI
import PaymentValues
import PostgreSQL
import TestSupport
import Testing

@testable import Switch

/// The books on a PostgreSQL of their own, without replicas around them.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct SwitchStoreTests {
    private static let id = "01990000-0000-7000-8000-000000000001"

    /// A payment that was answered: its till knows that it is approved.
    private func withApproval(_ body: (SwitchStore, PrivatePostgreSQL) async throws -> Void) async throws {
        let server = try PrivatePostgreSQL()
        let store = SwitchStore(database: try Database(server.address, connections: 1))
        try await store.migrate()
        try server.sql(
            """
            insert into payment (id, merchant, body, kind, amount, currency, state, answer, authorised, captured)
                values ('\(Self.id)', 'm', decode(repeat('00', 32), 'hex'), 'sale', 1000, 'EUR', 'approved', '{}', 1000, 1000);
            insert into exchange (id, payment, kind, owner, stage, detail, type, trace, transmitted)
                values ('\(Self.id)', '\(Self.id)', 'payment', 7, 'answered', '00', '0200', '000001', '1122000000')
            """)
        try await body(store, server)
    }

    /// What a replica would write that took the exchange up from a row without its answer, and waited in vain.
    private func reversing(owner: Int64 = 7) throws -> ExchangeRow {
        let message = ISOMessage(try #require(MessageType(200)))
        let exchange = Exchange(
            id: ExchangeID(Self.id), order: 1, original: message,
            stage: .reversing(Repetition(message: ISOMessage(try #require(MessageType(400))), attempts: 1)))
        return ExchangeRow(exchange: exchange, sealed: [1], owner: owner)
    }

    private func isLost(_ kept: Kept) -> Bool { if case .lost = kept { true } else { false } }

    @Test func `a replica with a stale exchange does not take back what a till was told is approved`() async throws {
        try await withApproval { store, server in
            let kept = try await store.keep(try reversing(), [.decided(HostDecision(.unknown, "91"))], now: .now)
            #expect(isLost(kept))
            #expect(try server.sql("select stage from exchange").hasPrefix("answered"))
            #expect(try server.sql("select state from payment").hasPrefix("approved"))
        }
    }

    @Test func `a replica takes the seat that was free for longest, before all one that nobody held`() async throws {
        let server = try PrivatePostgreSQL()
        let store = SwitchStore(database: try Database(server.address, connections: 1))
        try await store.migrate()
        var seats: [Seat] = []
        for _ in 0..<3 { seats.append(try #require(await store.takeSeat())) }
        #expect(seats.map(\.number) == [0, 1, 2])
        // The second one ends as it should; the first and the third had died before it, the third first.
        try await store.leaveSeat(seats[1])
        for (seat, seconds) in [(2, 2), (0, 1)] {
            try server.sql(
                """
                update seat set lease_until = (select lease_until from seat where seat = 1) - interval '\(seconds) s'
                where seat = \(seat)
                """)
        }
        var next: [Int64] = []
        // Ten and no more: on a busy machine the leases of the first are over by then, and their seats free again.
        for _ in 0..<10 { next.append(try #require(await store.takeSeat()).number) }
        #expect(next == [3, 4, 5, 6, 7, 8, 9, 2, 0, 1])
        try server.sql("update seat set lease_until = clock_timestamp() + interval '1 hour'")
        #expect(try await store.takeSeat() == nil)
        #expect(try await store.keepSeat(seats[0], trace: 1) == nil)
    }

    @Test func `what somebody wants back is taken back, by whoever owns it and by nobody else`() async throws {
        try await withApproval { store, server in
            try server.sql("update exchange set wanted = 'customerCancel'")
            #expect(isLost(try await store.keep(try reversing(owner: 8), [], now: .now)))
            #expect(!isLost(try await store.keep(try reversing(), [], now: .now)))
            #expect(
                try server.sql("select stage || coalesce(wanted, ' no more') from exchange").hasPrefix(
                    "reversing no more"))
        }
    }

    @Test func `an answer from before does not end what is being taken back`() async throws {
        try await withApproval { store, server in
            try server.sql("update exchange set wanted = 'customerCancel'; update payment set state = 'reversing'")
            #expect(!isLost(try await store.keep(try reversing(), [], now: .now)))
            let late = Exchange(
                id: ExchangeID(Self.id), order: 1, original: ISOMessage(try #require(MessageType(200))),
                stage: .answered(.approved))
            #expect(isLost(try await store.keep(ExchangeRow(exchange: late, sealed: [1], owner: 7), [], now: .now)))
            #expect(try server.sql("select stage from exchange").hasPrefix("reversing"))
            #expect(
                !isLost(try await store.keep(try reversing(), [], now: .now)), "the next repetition is written down")
        }
    }

    /// Ended so many seconds after it began, and so many ago.
    @Test(
        "S33: what ended without an approval is wanted once more where nobody has said that he listened, once",
        arguments: [(20, 181, true), (20, 179, false), (181, 200, false)])
    func unheard(took: Int, ago: Int, isWanted: Bool) async throws {
        try await withApproval { store, server in
            let row = "select stage || coalesce(' ' || wanted, '') || coalesce(' ' || owner, '') from exchange"
            try server.sql(
                """
                update payment set state = 'reversed';
                update exchange set stage = 'reversed', sealed = 'x', changed = now() - interval '\(ago) s',
                    created = now() - interval '\(ago + took) s'
                """)
            #expect(try await store.askAgain(after: 180_000, known: nil) == (isWanted ? 1 : 0))
            #expect(try server.sql(row) == (isWanted ? "reversed timeout\n" : "reversed 7\n"))
            #expect(try await Array(store.takeWork(8, known: nil)).count == (isWanted ? 1 : 0))
            // Its end, and nothing after it.
            try server.sql("update exchange set wanted = null, changed = now()")
            #expect(try await store.askAgain(after: 180_000, known: nil) == 0)
            try await store.closeUnapproved(Self.id)
            #expect(try server.sql("select sealed is null from exchange") == "t\n")
        }
    }

    // MARK: - What cannot be taken back by a message

    /// A hold of 1,000 of which 600 were captured; the host has acknowledged that, or is still being told.
    private func withCapture(_ state: String, _ body: (SwitchStore, PrivatePostgreSQL) async throws -> Void)
        async throws
    {
        try await withApproval { store, server in
            try server.sql(
                """
                update payment set kind = 'preauth', captured = 600;
                update exchange set type = '0100', sealed = 'x';
                insert into entry (payment, seq, account, amount, currency, is_reversal, day)
                    select '\(Self.id)', seq, account, amount, 'EUR', false, current_date
                    from (values (1, 'card', -1000), (1, 'hold', 1000), (2, 'hold', -600), (2, 'shop', 600)) e (seq, account, amount);
                insert into operation (id, payment, kind, body, amount, state, answer)
                    values ('01990000-0000-7000-8000-000000000002', '\(Self.id)', 'capture', decode(repeat('00', 32), 'hex'), 600,
                        '\(state)', case when '\(state)' <> 'running' then '{}' end)
                """)
            try await body(store, server)
        }
    }

    private func reverse(_ store: SwitchStore) async throws -> Reversal {
        try await store.reverse(Self.id, ReversalRequest(reason: .customerCancel), merchant: "m")
    }

    private func isRefused(_ reversal: Reversal) -> Bool { if case .refused = reversal { true } else { false } }

    /// The capture is a message of its own at the host, which a reversal of the authorisation leaves as it is.
    @Test(arguments: ["approved", "running"])
    func `a hold of which something was captured is not taken back as a whole`(_ state: String) async throws {
        try await withCapture(state) { store, server in
            let reversal = try await reverse(store)
            #expect(isRefused(reversal))
            #expect(try server.sql("select state from payment").hasPrefix("approved"))
            #expect(try server.sql("select sum(amount) from entry where account = 'shop'") == "600\n")
            #expect(try server.sql("select count(*) from exchange where wanted is not null") == "0\n")
        }
    }

    /// The host is told of it until it has acknowledged it; a reversal that waited for that could never be sent.
    @Test func `a payment that the card has approved is not taken back while the host is being told`() async throws {
        try await withApproval { store, server in
            try server.sql(
                "update payment set state = 'running', answer = null, offline = true; update exchange set stage = 'advising'"
            )
            #expect(isRefused(try await reverse(store)))
            #expect(try server.sql("select count(*) from payment where reason is not null") == "0\n")
        }
    }

    private func refund(_ store: SwitchStore) async throws -> OperationBegun {
        let payment = try #require(try await store.payment(Self.id))
        let amount = try #require(try payment.money.map { Money(value: 500, currency: $0.currency) })
        let id = try #require(OperationID("01990000-0000-7000-8000-000000000003"))
        let message = ISOMessage(try #require(MessageType(200)))
        let exchange = Exchange(
            id: ExchangeID(id.text), order: 1, original: message, stage: .awaiting(until: 0, cancelled: nil))
        let intent = OperationIntent(
            id: id, payment: Self.id, kind: .refund, body: [UInt8](repeating: 0, count: 32), amount: amount,
            seen: try payment.figures)
        return try await store.begin(intent, ExchangeRow(exchange: exchange, sealed: [1], owner: 7))
    }

    /// Declined afterwards, the capture would leave a refund of nothing: its decline could not be written down.
    @Test func `what the host may still decline of a capture is not refunded`() async throws {
        try await withCapture("running") { store, server in
            guard case .refused(let answer) = try await refund(store) else {
                Issue.record("the refund was begun")
                return
            }
            #expect(answer.contains("tooMuch"))
            #expect(try server.sql("select refunded from payment") == "0\n")
            // The same id gets the same answer.
            guard case .known(let known) = try await refund(store) else {
                Issue.record("its id is not known")
                return
            }
            #expect(known.answer == answer)
        }
    }

    @Test func `a sum that is not in the row is an error, not nothing`() async throws {
        try await withApproval { store, _ in
            let row = try #require(
                try await store.database.run(Call("select id, kind, currency, amount from payment")).first)
            #expect(try KnownPayment(row).money?.value == 1_000)
            #expect(throws: DatabaseError.refused(state: "22004")) { try KnownPayment(row).figures }
        }
    }

    // MARK: - An approval in one exchange with the database

    private static let other = "01990000-0000-7000-8000-000000000004"

    /// Two payments that were begun alike, and the host's answer to either.
    private func withTwoRunning(
        _ kind: String,
        _ body: (SwitchStore, PrivatePostgreSQL, (String) throws -> ExchangeRow, HostDecision) async throws -> Void
    ) async throws {
        let server = try PrivatePostgreSQL()
        let store = SwitchStore(database: try Database(server.address, connections: 1))
        try await store.migrate()
        for (number, id) in [Self.id, Self.other].enumerated() {
            try server.sql(
                """
                insert into payment (id, merchant, body, kind, amount, currency, token, state)
                    values ('\(id)', 'm', decode(repeat('00', 32), 'hex'), '\(kind)', 1000, 'EUR', 'ct_x', 'running');
                insert into exchange (id, payment, kind, owner, stage, type, trace, reference, transmitted, sealed)
                    values ('\(id)', '\(id)', 'payment', 7, 'awaiting', '0200', '00000\(number)', '632812000042', '1124123456', 'x')
                """)
        }
        var decision = HostDecision(.partial(600), "10")
        decision.approval = "A1B2C3"
        try await body(store, server, { try answered($0) }, decision)
    }

    private func answered(_ id: String) throws -> ExchangeRow {
        var message = ISOMessage(try #require(MessageType(200)))
        message.set(7, "1124123456")
        message.set(37, "632812000042")
        let exchange = Exchange(id: ExchangeID(id), order: 1, original: message, stage: .answered(.partial))
        return ExchangeRow(exchange: exchange, sealed: nil, owner: 7, isSealedAlready: true)
    }

    @Test(arguments: ["sale", "preauth", "refund"])
    func `the short way of an approval writes what the long one writes`(_ kind: String) async throws {
        try await withTwoRunning(kind) { store, server, row, decision in
            let asked = AskedPayment(
                amount: Money(value: 1_000, currency: try #require(Currency("EUR"))),
                kind: try #require(AuthorizationRequest.Kind(rawValue: kind)), token: "ct_x")
            let now = Timestamp.now
            let short = try #require(try await store.approve(row(Self.id), decision, asked, now: now))
            guard case .kept(let long?) = try await store.keep(row(Self.other), [.decided(decision)], now: now) else {
                Issue.record("the long way has no answer")
                return
            }
            #expect(short == long && short.contains("A1B2C3") && short.contains("632812000042-1124"))
            for rows in [
                "select state, answer, approval, hold_until, authorised, captured, refunded, reason from payment where id = ",
                "select stage, detail, attempts, given_up, wanted, sealed, owner from exchange where id = ",
                "select seq, account, amount, currency, is_reversal, day from entry where payment = ",
            ] {
                let (one, two) = (try server.sql("\(rows)'\(Self.id)'"), try server.sql("\(rows)'\(Self.other)'"))
                #expect(one == two && !one.isEmpty)
            }
        }
    }

    @Test(arguments: [
        "update payment set reason = 'customerCancel'", "update exchange set owner = 8",
        "update exchange set stage = 'reversing'", "update exchange set wanted = 'timeout'",
        "update payment set state = 'reversing', answer = '{}'",
    ])
    func `where somebody wants it back or speaks of it, the short way leaves everything as it was`(_ change: String)
        async throws
    {
        try await withTwoRunning("sale") { store, server, row, decision in
            try server.sql(change)
            let rows = "select p.*, x.* from payment p join exchange x on x.id = p.id order by p.id"
            let before = try server.sql(rows)
            let asked = AskedPayment(
                amount: Money(value: 1_000, currency: try #require(Currency("EUR"))), kind: .sale, token: nil)
            #expect(try await store.approve(row(Self.id), decision, asked, now: .now) == nil)
            #expect(try server.sql(rows) == before)
            #expect(try server.sql("select count(*) from entry") == "0\n")
        }
    }

    // MARK: - Payments that are begun in the same moment

    @Test func `of many who begin one payment in the same moment one alone sends it, and the others know it`()
        async throws
    {
        let server = try PrivatePostgreSQL()
        let store = SwitchStore(database: try Database(server.address, connections: 4))
        try await store.migrate()
        let ids = (0..<10).map { "01990000-0000-7000-8000-00000000001\($0)" }
        let begun = try await withThrowingTaskGroup(of: String?.self) { group in
            for id in ids {
                for attempt in 0..<5 {
                    group.addTask {
                        switch try await store.begin(try intent(id), try first(id, attempt)) {
                        case .begun: id
                        case .known(let payment) where payment.id == id: nil
                        case .known, .replayed: "another"
                        }
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(begun.compactMap(\.self).sorted() == ids)
        #expect(try server.sql("select count(*), count(distinct payment) from exchange") == "10|10\n")
    }

    /// Each attempt has a trace of its own: one with the same would be the same one, asking what became of it.
    private func first(_ id: String, _ attempt: Int) throws -> ExchangeRow {
        var message = ISOMessage(try #require(MessageType(200)))
        for (field, value) in [(7, "1124123456"), (11, "0000\(attempt)\(id.suffix(1))"), (37, "632812000042")] {
            message.set(field, value)
        }
        let exchange = Exchange(
            id: ExchangeID(id), order: 1, original: message, stage: .awaiting(until: 0, cancelled: nil))
        return ExchangeRow(exchange: exchange, sealed: [1], owner: 7)
    }

    private func intent(_ id: String) throws -> PaymentIntent {
        let card = try #require(MaskedCard(scheme: "Visa", last4: "0010", masked: "************0010"))
        let request = AuthorizationRequest(
            id: try #require(TransactionID(id)), mode: .test, type: .sale,
            amount: Money(value: 1_000, currency: try #require(Currency("EUR"))), entryMode: .contactlessEMV,
            cvm: .noCVM, emv: "",
            card: card, envelope: "", terminal: .init(id: "00000001", merchant: "m", capabilities: []))
        return PaymentIntent(request: request, body: [UInt8](repeating: 0, count: 32), token: "ct_x", record: id)
    }
}
