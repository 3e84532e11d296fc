// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Foundation
import ISO8583
import LocalHTTP
import PSPAPI
import PaymentValues
import PostgreSQL
import TestSupport
import Testing

@testable import Switch
@testable import rig_tills

/// What an acquirer's engineer and a hostile till found: money that the books had wrong.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct MoneyFaultTests {
    private static let payment = "01990000-0000-7000-8000-000000000001"
    private static let refund = "01990000-0000-7000-8000-000000000003"

    private func withSale(_ body: (SwitchStore, PrivatePostgreSQL) async throws -> Void) async throws {
        let server = try PrivatePostgreSQL()
        let store = SwitchStore(database: try Database(server.address, connections: 1))
        try await store.migrate()
        try server.sql(
            """
            insert into payment (id, merchant, body, kind, amount, currency, state, answer, authorised, captured)
                values ('\(Self.payment)', 'm', decode(repeat('00', 32), 'hex'), 'sale', 1000, 'EUR', 'approved', '{}', 1000, 1000);
            insert into exchange (id, payment, kind, owner, stage, detail, type, trace, transmitted, sealed)
                values ('\(Self.payment)', '\(Self.payment)', 'payment', 7, 'answered', '00', '0200', '000001', '1122000000', 'x')
            """)
        try await body(store, server)
    }

    private func row(_ id: String, _ stage: Exchange.Stage) throws -> ExchangeRow {
        var message = ISOMessage(try #require(MessageType(200)))
        message.set(7, "1124123456")
        message.set(11, "00001\(id.suffix(1))")
        return ExchangeRow(
            exchange: Exchange(id: ExchangeID(id), order: 1, original: message, stage: stage), sealed: [1], owner: 7)
    }

    private func begin(_ store: SwitchStore, _ id: String, _ value: Int64) async throws -> OperationBegun {
        let payment = try #require(try await store.payment(Self.payment))
        let amount = try #require(try payment.money.map { Money(value: value, currency: $0.currency) })
        let intent = OperationIntent(
            id: try #require(OperationID(id)), payment: Self.payment, kind: .refund,
            body: [UInt8](repeating: 0, count: 32), amount: amount, seen: try payment.figures)
        return try await store.begin(intent, try row(id, .awaiting(until: 0, cancelled: nil)))
    }

    // MARK: - S4

    @Test("S4: a refund without an answer holds its sum until the host has said that it has it no more")
    func refundInDoubt() async throws {
        try await withSale { store, server in
            guard case .begun = try await begin(store, Self.refund, 600) else { throw Missing() }
            let repetition = Repetition(message: ISOMessage(try #require(MessageType(420))), attempts: 1)
            _ = try await store.keep(
                try row(Self.refund, .reversing(repetition)), [.decided(HostDecision(.unknown, "91"))], now: .now)
            #expect(try server.sql("select state from operation") == "reversing\n")
            #expect(try server.sql("select refunded from payment") == "600\n")
            // Its till was told “declined”, and asks again under another id.
            let other = "01990000-0000-7000-8000-000000000005"
            guard case .refused(let answer) = try await begin(store, other, 600) else { throw Missing() }
            #expect(answer.contains("tooMuch"))
            _ = try await store.keep(try row(Self.refund, .reversed), [.reversed], now: .now)
            #expect(try server.sql("select refunded from payment") == "0\n")
            #expect(try server.sql("select coalesce(sum(amount), 0) from entry where account = 'shop'") == "0\n")
            // Told once more, it is not given back twice.
            try await store.reverseAgain(Self.refund)
            _ = try await store.keep(try row(Self.refund, .reversed), [.reversed], now: .now)
            #expect(try server.sql("select refunded from payment") == "0\n")
        }
    }

    @Test("S4: an approved refund that its till takes back frees its sum when the host has confirmed that")
    func refundTakenBack() async throws {
        try await withSale { store, server in
            guard case .begun = try await begin(store, Self.refund, 600) else { throw Missing() }
            _ = try await store.keep(
                try row(Self.refund, .answered(.approved)), [.decided(HostDecision(.approved, "00"))], now: .now)
            // S19: another merchant's word, and another currency.
            let foreign = try await store.reverse(
                Self.refund, ReversalRequest(reason: .customerCancel), merchant: "other")
            guard case .foreign = foreign else { throw Missing() }
            let dollars = Money(value: 600, currency: try #require(Currency("USD")))
            let other = try await store.reverse(
                Self.refund, ReversalRequest(reason: .customerCancel, amount: dollars), merchant: "m")
            guard case .otherCurrency = other else { throw Missing() }
            let reversal = try await store.reverse(
                Self.refund, ReversalRequest(reason: .customerCancel), merchant: "m")
            guard case .queued = reversal else { throw Missing() }
            #expect(try server.sql("select refunded from payment") == "600\n")
            let second = "01990000-0000-7000-8000-000000000005"
            guard case .refused = try await begin(store, second, 600) else { throw Missing() }
            #expect(try await store.takeWork(7, known: nil).count == 1)
            let repetition = Repetition(message: ISOMessage(try #require(MessageType(420))), attempts: 1)
            _ = try await store.keep(try row(Self.refund, .reversing(repetition)), [], now: .now)
            _ = try await store.keep(try row(Self.refund, .reversed), [.reversed], now: .now)
            #expect(try server.sql("select refunded from payment") == "0\n")
            #expect(try server.sql("select coalesce(sum(amount), 0) from entry where account = 'shop'") == "0\n")
        }
    }

    @Test("S4: the books keep whether the host had approved what is taken back", arguments: [true, false])
    func approvalIsKept(isApproved: Bool) throws {
        let message = ISOMessage(try #require(MessageType(200)))
        let exchange = Exchange(
            id: ExchangeID(Self.payment), order: 1, original: message,
            stage: .reversing(Repetition(message: message, attempts: 1)), isApprovedByHost: isApproved)
        #expect(StoredExchange.detail(exchange) == (isApproved ? "approved" : ""))
    }

    // MARK: - S5

    @Test("S5: a day that was not compared is an open day")
    func unsaidDay() async throws {
        try await withSale { store, server in
            try server.sql(
                """
                insert into day_end (id, day, currency, credits, credit_reversals, debits, debit_reversals, credit_amount,
                    credit_reversal_amount, debit_amount, debit_reversal_amount, balance)
                select gen_random_uuid(), day, 'EUR', 0, 0, 0, 0, 0, 0, 0, 0, 'unsaid' from day
                """)
            #expect(try await store.outlook()?.number("unsaid") == 1)
        }
    }

    /// Elavon EISOP: totals of a terminal; ISO 8583:1987, fields 41 and 42.
    @Test("S20: the sums of a day by terminal and scheme add up to the day, and say whose they are")
    func daysByPart() async throws {
        try await withSale { store, server in
            try server.sql(
                """
                insert into merchant (id, acceptor, location, category) values ('m', 'M-4711', 'A shop', '5411');
                insert into terminal values ('m', '1', 'TERM0001'), ('m', '2', 'TERM0002');
                update payment set terminal = '1', scheme = 'Visa';
                insert into payment (id, merchant, terminal, scheme, body, kind, amount, currency, state, answer, authorised, captured)
                    select gen_random_uuid(), 'm', t, s, decode(repeat('00', 32), 'hex'), 'sale', n, 'EUR', 'approved', '{}', n, n
                    from (values ('1', 'Visa', 10), ('1', 'Mastercard', 200), ('2', 'Visa', 3000), (null, 'Visa', 40000)) v (t, s, n);
                insert into entry (payment, seq, account, amount, currency, is_reversal, day)
                    select id, 1, a, case a when 'shop' then amount else -amount end, 'EUR', false, day from payment, day,
                        (values ('shop'), ('card')) v (a)
                """)
            let days = try #require(try await closed(store, [.terminal, .scheme]))
            #expect(
                Set(days.map { "\($0.terminal ?? "-") \($0.scheme ?? "-") \($0.net)" }) == [
                    "TERM0001 Visa 1010", "TERM0001 Mastercard 200", "TERM0002 Visa 3000", "- Visa 40000",
                ])
            #expect(Set(try await store.untoldDays(known: nil).map(\.id)) == Set(days.map(\.id)))
            let packager = try Packager(
                file: Array(
                    #"{"name": "x", "base": "1987-bcd", "totals": {"field": 63, "schemes": {"Visa": "VI"}, "other": "XX"}}"#
                        .utf8))
            let messages = HostMessages(packager: packager, acquirer: "12345678901")
            let told = try days.map { try #require(messages.reconciliation($0)) }
            #expect(
                Set(told.map { "\($0.text(41) ?? "-") \($0.text(42) ?? "-") \($0.text(63) ?? "-")" }) == [
                    "TERM0001 M-4711          VI", "TERM0001 M-4711          XX", "TERM0002 M-4711          VI",
                    "- M-4711          VI",
                ])
        }
    }

    private func closed(_ store: SwitchStore, _ parts: Set<DayPart>) async throws -> [DayTotals]? {
        guard case .closed(let days) = try await store.closeDay(by: parts) else { return nil }
        return days
    }

    // MARK: - S10

    private func release(
        _ rig: SwitchRig, _ id: OperationID, of payment: TransactionID, value: Int64 = 100
    ) async throws -> (Int, String) {
        let request = ReleaseRequest(id: id, mode: .test, amount: try TestTill.euro(value))
        let answer = try await HTTPClient(path: rig.sockets[0]).send(
            HTTPClientRequest(
                .post, "/v1/authorizations/\(payment)/releases",
                fields: ["Content-Type": "application/json", "Idempotency-Key": id.text],
                body: try WireJSON.encode(request)), answerWithin: .seconds(30))
        return (answer.status, String(decoding: answer.body, as: UTF8.self))
    }

    /// docs/openapi-psp.yaml: one key, one operation; another body under it is 422.
    @Test("S10: an operation's id on another payment is a key that is used up")
    func operationOnAnotherPayment() async throws {
        try await SwitchRig.run(replicas: 1) { rig in
            let till = TestTill(rig.sockets[0])
            var holds: [TransactionID] = []
            for value in [Int64(900), 1_900] {
                let hold = try await till.sale(value, .preauth)
                #expect(try #require(try await till.post(hold).answer).outcome == .approved)
                holds.append(hold.id)
            }
            let id = OperationID()
            #expect(try await release(rig, id, of: holds[0]).0 == 200)
            #expect(try await release(rig, id, of: holds[0]).0 == 200)
            #expect(try await release(rig, id, of: holds[0], value: 200).0 == 422)
            let other = try await release(rig, id, of: holds[1])
            #expect(other.0 == 422 && !other.1.contains("account"), "\(other)")
        }
    }

    // MARK: - S14

    @Test("S14: a day that has not begun is not closed")
    func dayInTheFuture() async throws {
        try await withSale { store, server in
            try server.sql("update day set day = current_date - 1 where closed is null")
            guard case .closed = try await store.closeDay() else { throw Missing() }
            guard case .closed = try await store.closeDay() else { throw Missing() }
            let open = try server.sql("select day from day where closed is null")
            guard case .notBegun(let day) = try await store.closeDay() else { throw Missing() }
            #expect(open == day + "\n")
            #expect(try server.sql("select day from day where closed is null") == open)
        }
    }

    /// tz database: 14 hours before UTC, and 12 behind it. The dates of the two never agree.
    @Test("S14: the shop's calendar says which day has begun")
    func dayOfAZone() async throws {
        try await withSale { store, server in
            try server.sql("update day set day = (now() at time zone 'Pacific/Kiritimati')::date where closed is null")
            guard case .notBegun = try await store.closeDay(zone: "Etc/GMT+12") else { throw Missing() }
            guard case .closed = try await store.closeDay(zone: "Pacific/Kiritimati") else { throw Missing() }
            await #expect(throws: DatabaseError.refused(state: "22023")) { try await store.closeDay(zone: "Nowhere") }
        }
    }

    // MARK: - S17

    private func request(
        _ value: Int64, _ type: AuthorizationRequest.Kind, _ code: String = "EUR", offline: Bool = false
    ) throws -> AuthorizationRequest {
        let card = try #require(MaskedCard(scheme: "Visa", last4: "0010", masked: "************0010"))
        var request = AuthorizationRequest(
            id: TransactionID(), mode: .test, type: type,
            amount: Money(value: value, currency: try #require(Currency(code))), entryMode: .contactlessEMV,
            cvm: .noCVM, emv: "", card: card, envelope: "",
            terminal: .init(id: "00000001", merchant: "m", capabilities: []))
        request.offline = offline
        return request
    }

    @Test("S17: a merchant does what its row allows, up to its sums and in their currency")
    func merchantLimits() throws {
        var limits = MerchantLimits()
        #expect(limits.fault(try request(99_999_999, .refund)) == nil)
        limits.kinds = ["sale", "offline"]
        (limits.currency, limits.most, limits.mostOffline) = ("EUR", 100_000, 5_000)
        #expect(limits.fault(try request(100_000, .sale)) == nil)
        #expect(limits.fault(try request(100_001, .sale)) == .overLimit)
        #expect(limits.fault(try request(5_000, .sale, offline: true)) == nil)
        #expect(limits.fault(try request(5_001, .sale, offline: true)) == .overLimit)
        #expect(limits.fault(try request(100, .refund)) == .notAllowed)
        #expect(limits.fault(try request(100, .preauth)) == .notAllowed)
        #expect(limits.fault(try request(100, .sale, "KWD")) == .notAllowed)
        limits.kinds = ["sale"]
        #expect(limits.fault(try request(100, .sale, offline: true)) == .notAllowed)
    }

    @Test("S17: refunds without their payment are counted for twenty-four hours")
    func refundsOfADay() async throws {
        try await SwitchRig.run(replicas: 1) { rig in
            try rig.server.sql(
                "update merchant set limit_currency = 'EUR', most_refunded = 2000, kinds = 'sale refund'")
            let till = TestTill(rig.sockets[0])
            func refund(_ value: Int64) async throws -> AuthorizationAnswer {
                try #require(try await till.post(try await till.sale(value, .refund)).answer)
            }
            #expect(try await refund(1_500).outcome == .approved)
            let second = try await refund(600)
            #expect(second.outcome == .declined && second.responseCode == "61")
            #expect(try await refund(500).outcome == .approved)
            let hold = try #require(try await till.post(try await till.sale(900, .preauth)).answer)
            #expect(hold.outcome == .declined && hold.responseCode == "57")
        }
    }

    // MARK: - S1

    /// As iso8583sim 1.6.0 and py8583 1.3 write field 55; EMV Book 3, Annex A: tag 91 has 8 to 16 bytes.
    @Test(
        "S1: field 55 that does not reach the card is named",
        arguments: [
            "393130413136323632353032343241373330413033303330", "910700000000000000",
            "9111" + String(repeating: "00", count: 17),
        ])
    func issuerData(field: String) throws {
        var message = ISOMessage(try #require(MessageType(210)))
        message.set(39, "00")
        message[55] = try Hex.bytes(field)
        let decision = HostDecision(.approved(message))
        #expect(decision.issuer == nil && decision.issuerFault != nil)
        if field.hasPrefix("39") { #expect(decision.issuerFault == .hexadecimal) }
    }

    // MARK: - S19

    @Test("S19: a reversal in another currency than the payment's is refused")
    func reversalInAnotherCurrency() async throws {
        try await withSale { store, server in
            let dollars = Money(value: 1_000, currency: try #require(Currency("USD")))
            let reversal = try await store.reverse(
                Self.payment, ReversalRequest(reason: .customerCancel, amount: dollars), merchant: "m")
            guard case .otherCurrency = reversal else { throw Missing() }
            #expect(try server.sql("select state from payment") == "approved\n")
        }
    }

    private struct Missing: Error {}
}
