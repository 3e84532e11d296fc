// SPDX-License-Identifier: Apache-2.0
import Codes
import Testing

@testable import ECR

/// Caisse E+ as its till sees it: control characters and frames in turns.
struct EPlusTests {
    private var terminal: EPlusTerminal
    private let line = TillConnection(1)

    init() throws { terminal = try Self.terminal(.atTheEnd) }

    private static func terminal(_ answer: EPlusRequest.Answer, counter: UInt64 = 0) throws -> EPlusTerminal {
        var terminal = EPlusTerminal(
            desk: TillMachine(lane: "main", installation: "1", counter: counter),
            settings: .init(currency: try #require(CurrencyCode("EUR")), answer: answer))
        _ = terminal.handle(.connected(TillConnection(1), peer: "p"), at: 0)
        return terminal
    }

    private static func frame(_ body: String) -> [UInt8] { EPlusFrame.bytes(of: Array(body.utf8)) }

    private static let request = "0100001250010978          A010B010"
    private static let paid = frame("010000012501978          ")
    private static let refused = frame("017000012501978          ")

    @discardableResult
    private mutating func till(_ bytes: [UInt8]) -> [TillEffect] { terminal.handle(.bytes(bytes, line), at: 0) }

    private func sent(_ effects: [TillEffect]) -> [[UInt8]] {
        effects.compactMap { if case .send(let bytes, _, _) = $0 { bytes } else { nil } }
    }

    /// - Returns: what the terminal sends to the EOT.
    @discardableResult
    private mutating func ask(_ body: String = request) -> [TillEffect] {
        #expect(sent(till([0x05])) == [[0x06]])
        #expect(sent(till(Self.frame(body))) == [[0x06]])
        return till([0x04])
    }

    private mutating func settle(_ outcome: TillOutcome) throws -> [TillEffect] {
        terminal.handle(.settled(try #require(terminal.desk.open?.key), outcome), at: 0)
    }

    private static let approval = TillOutcome.approved(TillApproval(amount: 1_250, reference: "1"))

    @Test mutating func `a paid sale is told, and confirmed once the till has acknowledged it`() throws {
        let begun = ask()
        #expect(begun.contains { if case .start = $0 { true } else { false } })
        let key = try #require(terminal.desk.open?.key)
        #expect(sent(try settle(Self.approval)) == [[0x05]])
        #expect(sent(till([0x06])) == [Self.paid])
        let effects = till([0x06])
        #expect(effects.contains(.confirm(key)) && sent(effects) == [[0x04]])
    }

    @Test mutating func `a declined sale is told as refused`() throws {
        ask()
        #expect(sent(try settle(.notPaid(TillRefusal(.declined)))) == [[0x05]])
        #expect(sent(till([0x06])) == [Self.refused])
        #expect(sent(till([0x06])) == [[0x04]])
    }

    @Test(arguments: [
        "010000125001C978          A010B010", "0100001250011978          A010B010",
        "0100001250012978          A010B010",
        "0100001250010840          A010B010", "0100000000010978          A010B010",
    ])
    mutating func `a cheque, a credit, another kind, another currency and no sum begin nothing and are refused`(
        body: String
    ) throws {
        let body = body.replacing("01C978", with: "0C0978")
        let effects = ask(body)
        #expect(sent(effects) == [[0x05]] && terminal.desk.open == nil)
        let answer = try #require(sent(till([0x06])).first)
        #expect(answer.count == 28 && answer[3] == UInt8(ascii: "7"))
    }

    /// pypostelium 0.0.5 writes 1,250 XPF as 1250, pyTeliumManager 2.4.2 as 125000.
    @Test func `a currency without hundredths is refused, for clients disagree on its digits`() throws {
        let xpf = try #require(CurrencyCode("XPF"))
        for sum in ["00001250", "00125000"] {
            let request = try #require(EPlusRequest(Array("01\(sum)010953          A010B010".utf8)))
            #expect(throws: EPlusRequest.Refusal.currency) { try request.order(allowing: [.sale], in: xpf) }
        }
        let eur = try #require(CurrencyCode("EUR"))
        let request = try #require(EPlusRequest(Array("0100001250010978          A010B010".utf8)))
        #expect(try request.order(allowing: [.sale], in: eur).amount == 1_250)
    }

    @Test mutating func `a till that wants its answer at once is not taken on a line that waits for the end`() {
        till([0x05])
        #expect(sent(till(Self.frame("0100001250010978          A011B010"))) == [[0x15]])
        #expect(sent(till(Self.frame("0100001250110978          A010B010"))) == [[0x15]], "the long answer")
        #expect(till([0x04]) == [] && terminal.desk.open == nil)
    }

    @Test mutating func `a damaged request is asked for again`() {
        till([0x05])
        var damaged = Self.frame(Self.request)
        damaged[5] ^= 1
        #expect(sent(till(damaged)) == [[0x15]])
        #expect(sent(till(Self.frame(Self.request))) == [[0x06]])
    }

    @Test mutating func `an ENQ and a request that come again because their answers were lost are one payment`() throws
    {
        #expect(sent(till([0x05])) == [[0x06]])
        #expect(sent(till([0x05])) == [[0x06]])
        #expect(sent(till(Self.frame(Self.request))) == [[0x06]])
        #expect(sent(till(Self.frame(Self.request))) == [[0x06]])
        #expect(terminal.desk.counter == 0)
        #expect(till([0x04]).count { if case .start = $0 { true } else { false } } == 1)
        #expect(terminal.desk.counter == 1)
    }

    @Test mutating func `an equal request after the answer is a second payment`() throws {
        for number in 1...2 as ClosedRange<UInt64> {
            ask()
            _ = try settle(Self.approval)
            till([0x06])
            till([0x06])
            #expect(terminal.desk.counter == number && terminal.desk.finished.last?.phase == .told)
        }
    }

    @Test mutating func `a till that begins anew gets the payment before taken back`() throws {
        ask()
        let key = try #require(terminal.desk.open?.key)
        let effects = till([0x05])
        #expect(sent(effects) == [[0x15]] && effects.contains(.cancel(key)))
        #expect(try settle(Self.approval).contains(.takeBack(key, .notDelivered)))
    }

    @Test
    mutating func
        `an answer that nobody acknowledges is sent three times, then the payment is taken back and a person called`()
        throws
    {
        ask()
        let key = try #require(terminal.desk.open?.key)
        _ = try settle(Self.approval)
        var effects = till([0x06])
        for expected in [[Self.paid], [Self.paid], []] {
            let numbers = effects.compactMap { if case .arm(.answer(let number), _) = $0 { number } else { nil } }
            effects = terminal.handle(.timer(.answer(try #require(numbers.last))), at: 0)
            #expect(sent(effects) == expected)
        }
        #expect(effects.contains(.takeBack(key, .notDelivered)) && effects.contains(.alarm(.endedWhileTelling(key))))
    }

    @Test
    mutating func
        `a till that wants its answer at once has it at once, and the payment is confirmed when it is approved`()
        throws
    {
        terminal = try Self.terminal(.atOnce)
        let effects = ask("0100001250010978          A011B010")
        let key = try #require(terminal.desk.open?.key)
        #expect(sent(effects) == [[0x05]])
        #expect(sent(till([0x06])) == [Self.paid])
        #expect(sent(till([0x06])) == [[0x04]])
        till([0x05])
        #expect(sent(till(Self.frame("0100001250010978          A011B010"))) == [[0x15]], "one at a time")
        #expect(try settle(Self.approval).contains(.confirm(key)))
    }

    @Test(arguments: [false, true])
    mutating func `a payment of which a till at once cannot be told that it has begun is not paid`(isApproved: Bool)
        throws
    {
        terminal = try Self.terminal(.atOnce)
        var effects = ask("0100001250010978          A011B010")
        let key = try #require(terminal.desk.open?.key)
        if isApproved { _ = try settle(Self.approval) }
        for _ in 0..<3 {
            let numbers = effects.compactMap { if case .arm(.answer(let number), _) = $0 { number } else { nil } }
            effects = terminal.handle(.timer(.answer(try #require(numbers.last))), at: 0)
        }
        #expect(effects.contains(isApproved ? .takeBack(key, .notDelivered) : .cancel(key)))
    }

    @Test(arguments: [Attempt.Phase.approved, .telling])
    mutating func `a person is called where a restart takes back what a till has booked at once`(phase: Attempt.Phase)
        throws
    {
        terminal = try Self.terminal(.atOnce)
        ask("0100001250010978          A011B010")
        let open = try #require(terminal.desk.open)
        let attempt = Attempt(key: open.key, number: 1, order: open.order, peer: "", phase: phase)
        var again = EPlusTerminal(
            desk: TillMachine(lane: "main", installation: "1", attempts: [attempt]),
            settings: .init(currency: open.order.currency, answer: .atOnce))
        let effects = again.handle(.restored, at: 0)
        #expect(
            effects.contains(.takeBack(open.key, .notDelivered)) && effects.contains(.alarm(.bookedNotPaid(open.key))))
    }

    @Test mutating func `a till that booked at once what is not paid then has a person called`() throws {
        terminal = try Self.terminal(.atOnce)
        ask("0100001250010978          A011B010")
        let key = try #require(terminal.desk.open?.key)
        #expect(try settle(.notPaid(TillRefusal(.declined))).contains(.alarm(.bookedNotPaid(key))))
    }

    @Test mutating func `a payment that a till has booked at once goes on after a restart`() throws {
        terminal = try Self.terminal(.atOnce)
        ask("0100001250010978          A011B010")
        let open = try #require(terminal.desk.open)
        var again = EPlusTerminal(
            desk: TillMachine(lane: "main", installation: "1", counter: 1, attempts: [open]),
            settings: .init(currency: try #require(CurrencyCode("EUR")), answer: .atOnce))
        #expect(again.handle(.restored, at: 0) == [.lookUp(open.key)])
        #expect(again.handle(.settled(open.key, Self.approval), at: 0).contains(.confirm(open.key)))
    }
}
