// SPDX-License-Identifier: Apache-2.0
import Codes
import Testing

@testable import ECR

/// What becomes of a payment whose page has given it up, and of a start that is refused.
struct ProxyAbandonTests {
    private var terminal: ProxyTerminal
    private var exchange: UInt64 = 0

    init() throws { terminal = try Self.terminal("EUR") }

    private static func terminal(_ currency: String) throws -> ProxyTerminal {
        ProxyTerminal(
            desk: TillMachine(lane: "main", installation: "1"),
            settings: .init(
                currency: try #require(CurrencyCode(currency)), terminal: "2", hosts: [ProxyTill.headers.host],
                origins: [ProxyTill.headers.origin]))
    }

    private static func info(_ order: String, _ amount: String = "12.5", _ currency: String = "EUR", more: String = "")
        -> String
    {
        """
        {"amount":\(amount),"currency_iso":"\(currency)","payment_mode":"card","payment_id":"1","order_id":"\(order)"\(more)}
        """
    }

    @discardableResult
    private mutating func start(_ info: String, at now: Int64 = 0) -> [TillEffect] {
        exchange += 1
        let request = ProxyTill.request(ProxyTests.startPath, ["payment_info": info], id: 1)
        return terminal.request(request, on: TillConnection(exchange), at: now)
    }

    /// - Returns: whether it says that a payment was made, and what the machine asks for.
    @discardableResult
    private mutating func poll(_ parameters: [String: Any] = [:], at now: Int64) -> (
        isPaid: Bool, effects: [TillEffect]
    ) {
        exchange += 1
        var effects = terminal.request(
            ProxyTill.request("/hw_proxy/status_json", parameters, id: 2), on: TillConnection(exchange), at: now)
        let isPaid = effects.contains { effect in
            guard case .respond(let response, _) = effect else { return false }
            return String(decoding: response.body, as: UTF8.self).contains("\"success\":true")
        }
        effects += terminal.handle(.sent(TillConnection(exchange)), at: now)
        return (isPaid, effects)
    }

    private func key() throws -> AttemptKey { try #require(terminal.desk.open?.key) }

    private static let approval = TillOutcome.approved(TillApproval(amount: 1250, reference: "7"))

    private static func isArmed(_ effects: [TillEffect]) -> Bool {
        effects.contains { if case .arm(.keepWaiting, _) = $0 { true } else { false } }
    }

    // MARK: - M1

    @Test(
        "M1: a refused start gives up what is open first",
        arguments: [
            (info("2", "12.345"), ProxyRefusal.decimals), (info("2", "-1"), .amount), (info("2", "0"), .amount),
            (info("2", "1e12"), .tooLarge), (info("2", "\"12\""), .amount), (info("2", "12", "USD"), .currency),
            (info("2").replacing("card", with: "check"), .mode), ("{", .notAPayment), ("[]", .notAPayment),
            (info("2", more: ",\"currency_decimals\":3"), .currencyDecimals),
            (info("2", more: ",\"terminal_id\":\"lane2\""), .terminal),
            (info(String(repeating: "2", count: 129)), .names),
        ])
    mutating func refusedStart(info: String, refusal: ProxyRefusal) throws {
        start(Self.info("1"))
        let key = try key()
        let effects = start(info, at: 1_000)
        #expect(effects.contains(.cancel(key)) && effects.contains(.alarm(.notStarted(refusal))))
        #expect(terminal.desk.open?.phase == .givenUp && terminal.desk.counter == 1)
        // The card of the next customer was there before the cancel.
        #expect(terminal.handle(.settled(key, Self.approval), at: 1_100).contains(.takeBack(key, .notDelivered)))
    }

    @Test("M1: a start that is no call at all gives up what is open")
    mutating func noCall() throws {
        start(Self.info("1"))
        var request = ProxyTill.request(ProxyTests.startPath, [:], id: 1)
        request.body = Array("{\"amount\":".utf8)
        #expect(try terminal.request(request, on: TillConnection(99), at: 1_000).contains(.cancel(key())))
        // A page of somebody else gives up nothing.
        start(Self.info("2"), at: 2_000)
        request.origin = "https://evil.example"
        let foreign = terminal.request(request, on: TillConnection(100), at: 3_000)
        #expect(!foreign.contains { if case .cancel = $0 { true } else { false } })
    }

    @Test("M1: a refused start takes the place of one that waits")
    mutating func refusedStartBehindAnother() throws {
        start(Self.info("1"))
        start(Self.info("2"), at: 1_000)
        start(Self.info("3", "12.345"), at: 1_100)
        let end = terminal.handle(.settled(try key(), .notPaid(TillRefusal(.cancelledByOperator))), at: 1_200)
        #expect(terminal.desk.open == nil && !end.contains { if case .start = $0 { true } else { false } })
    }

    @Test("M1: noise in a sum is the same sale as the sum without it")
    mutating func noiseIsTheSameSale() {
        start(Self.info("1", "5.06"))
        start(Self.info("1", "5.0600000000000005"), at: 500)
        #expect(terminal.desk.counter == 1 && terminal.desk.open?.order.amount == 506)
        #expect(terminal.desk.open?.phase == .running)
    }

    // MARK: - M2

    @Test("M2: keepalives of two pages keep no abandoned payment, and confirm none", arguments: [0, 700, 2_500, 4_900])
    mutating func keepalives(phase: Int64) throws {
        start(Self.info("1"))
        for second in Int64(1)...3 { poll(at: second * 1_000) }
        var asked: Int64 = 0
        for round in Int64(1)...6 {
            for time in [round * 5_020, round * 5_020 + phase] where Self.isArmed(poll(at: time).effects) {
                asked = time
            }
        }
        // The last question of the page is among the three before it.
        #expect(asked < 9_000)
        let key = try key()
        _ = terminal.handle(.settled(key, Self.approval), at: 33_000)
        for time in [Int64(35_140), 35_140 + phase] {
            let late = poll(at: time)
            #expect(!late.isPaid && !late.effects.contains(.confirm(key)))
        }
    }

    @Test("M2: a page that asks once a second keeps its payment, and is told of its approval")
    mutating func questions() throws {
        start(Self.info("1"))
        for second in Int64(1)...89 { #expect(Self.isArmed(poll(at: second * 1_000 + second % 7 * 20).effects)) }
        _ = terminal.handle(.settled(try key(), Self.approval), at: 89_500)
        let key = try key()
        let told = poll(at: 90_000)
        #expect(told.isPaid && told.effects.contains(.confirm(key)))
    }

    @Test("M2: where a page names its terminal, no question without the name is about its payment")
    mutating func namedQuestions() throws {
        start(Self.info("1", more: ",\"terminal_id\":\"2\""))
        let own = ["terminal_id": "2"]
        #expect(Self.isArmed(poll(own, at: 1_000).effects))
        for time in stride(from: Int64(1_200), to: 10_000, by: 500) { #expect(!Self.isArmed(poll(at: time).effects)) }
        #expect(!Self.isArmed(poll(["terminal_id": "3"], at: 10_100).effects))
        _ = terminal.handle(.settled(try key(), Self.approval), at: 11_000)
        #expect(!poll(at: 11_500).isPaid)
        #expect(poll(own, at: 12_000).isPaid)
    }

    @Test("M2: while one page is told of an approval, the keepalive of another is not")
    mutating func keepaliveWhileTelling() throws {
        start(Self.info("1"))
        for second in Int64(1)...9 { poll(["terminal_id": "2"], at: second * 1_000) }
        _ = terminal.handle(.settled(try key(), Self.approval), at: 9_100)
        exchange += 1
        _ = terminal.request(
            ProxyTill.request("/hw_proxy/status_json", ["terminal_id": "2"], id: 2), on: TillConnection(exchange),
            at: 9_500)
        #expect(terminal.desk.open?.phase == .telling)
        #expect(!poll(at: 9_600).isPaid)
    }

    @Test("M2: what is taken off the reader by hand is told to the page as not paid")
    mutating func cancelled() throws {
        start(Self.info("1"))
        _ = terminal.handle(.settled(try key(), .notPaid(TillRefusal(.cancelledByOperator))), at: 2_000)
        exchange += 1
        let effects = terminal.request(
            ProxyTill.request("/hw_proxy/status_json", [:], id: 2), on: TillConnection(exchange), at: 2_500)
        #expect(
            effects.contains { effect in
                guard case .respond(let response, _) = effect else { return false }
                return String(decoding: response.body, as: UTF8.self).contains("\"success\":false")
            })
    }

    // MARK: - M3

    @Test(
        "M3: the decimals with which a till shows a currency are those of ISO 4217 or fewer",
        arguments: [
            ("TWD", "1250", "0", 125_000), ("HUF", "1250", "0", 125_000), ("HUF", "1250", "1", 125_000),
            ("HUF", "12.5", "1", 1_250), ("TWD", "12.25", "2", 1_225), ("JPY", "1250", "0", 1_250),
            ("BHD", "1.25", "2", 1_250), ("BHD", "1.2500000000000002", "3", 1_250),
            ("IDR", "10000000", "0", 1_000_000_000),
            ("IRR", "9999999999", "0", 999_999_999_900), ("HUF", "1249.9999999999998", "0", 125_000),
        ])
    mutating func fewerDecimals(currency: String, amount: String, decimals: String, minor: Int64) throws {
        terminal = try Self.terminal(currency)
        start(Self.info("1", amount, currency, more: ",\"currency_decimals\":\(decimals)"))
        #expect(terminal.desk.open?.order.amount == minor)
    }

    @Test(
        "M3: a refusal of decimals or sum is told by its field",
        arguments: [
            ("JPY", "12", "2", ProxyRefusal.currencyDecimals), ("HUF", "12", "-1", .currencyDecimals),
            ("HUF", "12", "\"two\"", .currencyDecimals), ("TWD", "12.5", "0", .decimals),
            ("HUF", "12.55", "1", .decimals),
            ("IRR", "10000000000", "0", .tooLarge), ("IRR", "999999999999", "0", .tooLarge),
        ])
    mutating func refusedDecimals(currency: String, amount: String, decimals: String, refusal: ProxyRefusal) throws {
        terminal = try Self.terminal(currency)
        let effects = start(Self.info("1", amount, currency, more: ",\"currency_decimals\":\(decimals)"))
        #expect(effects.contains(.alarm(.notStarted(refusal))) && terminal.desk.open == nil)
    }

    // MARK: - T4

    @Test(
        "T4: a start names this terminal, this lane or none",
        arguments: [
            ("2", true), ("02", true), ("main", true), ("", true), ("lane2", false), ("3", false), ("Main", false),
        ])
    mutating func terminalOfStart(name: String, isMeant: Bool) {
        let effects = start(Self.info("1", more: ",\"terminal_id\":\"\(name)\""))
        #expect((terminal.desk.open != nil) == isMeant)
        #expect(effects.contains(.alarm(.notStarted(.terminal))) != isMeant)
    }
}
