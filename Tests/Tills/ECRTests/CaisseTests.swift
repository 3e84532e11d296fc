// SPDX-License-Identifier: Apache-2.0
import Codes
import Testing

@testable import ECR

struct CaisseTests {
    private var terminal: CaisseTerminal
    private let line = TillConnection(1)
    private static let sale = "CZ0040300CJ012012345678901CA00201CE003978CD0010CB0041250"

    init() throws {
        let euro = try #require(CurrencyCode("EUR"))
        terminal = CaisseTerminal(desk: TillMachine(lane: "main", installation: "1"), settings: .init(currency: euro))
        _ = terminal.handle(.connected(line, peer: "p"), at: 0)
    }

    private mutating func ask(_ text: String, on line: TillConnection? = nil) -> [TillEffect] {
        let line = line ?? self.line
        return terminal.handle(.bytes(Array(text.utf8), line), at: 0) + terminal.handle(.timer(.quiet(line)), at: 50)
    }

    private func answers(_ effects: [TillEffect]) -> [String] {
        effects.compactMap {
            if case .send(let bytes, _, _) = $0 { String(decoding: bytes, as: UTF8.self) } else { nil }
        }
    }

    private mutating func settle(_ outcome: TillOutcome) throws -> [TillEffect] {
        terminal.handle(.settled(try #require(terminal.desk.open?.key), outcome), at: 100)
    }

    private static let approval = TillApproval(
        amount: 1250, maskedCard: "497010******0010", authorisation: "123456", aid: "A0000000031010", network: .visa,
        reference: "1")

    @Test mutating func `an approval is answered as known clients read it, in one piece`() throws {
        _ = ask(Self.sale)
        let effects = try settle(.approved(Self.approval))
        let answer = Self.sale + "AE00210CC00300BCI0012AA016497010######0010AC006123456AI014A0000000031010"
        #expect(answers(effects) == [answer])
        #expect(effects.contains { if case .send(_, line, isApproval: true) = $0 { true } else { false } })
        let key = try #require(terminal.desk.open?.key)
        #expect(terminal.handle(.sent(line), at: 101).contains(.confirm(key)))
    }

    @Test mutating func `an answer that was not read is taken back, one that was read stays`() throws {
        _ = ask(Self.sale)
        _ = try settle(.approved(Self.approval))
        let key = try #require(terminal.desk.open?.key)
        _ = terminal.handle(.sent(line), at: 101)
        var other = terminal
        #expect(terminal.handle(.lost(line, .reset), at: 200).contains(.takeBack(key, .malfunction)))
        #expect(other.handle(.lost(line, .closed), at: 200) == [])
    }

    @Test mutating func `a till that has gone is not told, and its payment is taken back`() throws {
        _ = ask(Self.sale)
        _ = try settle(.approved(Self.approval))
        let key = try #require(terminal.desk.open?.key)
        #expect(terminal.handle(.lost(line, .closed), at: 101).contains(.takeBack(key, .notDelivered)))
    }

    @Test(arguments: [
        ("CZ0040300CJ012012345678901CA00201CE003978CD0011CB003300", "05"),
        ("CZ0040300CJ012012345678901CA00201CE003840CD0010CB003300", "13"),
        ("CZ0040300CJ012012345678901CA00201CE003978CD0012CB003300", "12"),
        ("CZ0040300CJ012012345678901CA00201CE003978BA0011CD0010CB003300", "10"),
        ("CZ0040300CJ012012345678901CA00201CE003978BA0010CD0010CC00300CCB00511245", "10"),
        ("CZ0040300CJ012012345678901CA00201CE003978CD0010CB0010", "09"),
        ("CZ0040300CJ012012345678901CA00201CE003978CD0010CB0131000000000000", "09"),
        ("CJ012012345678901CZ0040300CA00201CE003978CD0010CB003300", "09"),
        ("CZ0040300CJ012012345678901CA00201CE003978CD0010CB003300CB003300", "09"),
    ])
    mutating func `what cannot be paid is refused with its reason, and begins nothing`(request: String, reason: String)
    {
        let effects = ask(request)
        #expect(answers(effects).count == 1)
        #expect(answers(effects).allSatisfy { $0.hasPrefix("CZ004") && $0.hasSuffix("AE00201AF002\(reason)") })
        #expect(terminal.desk.counter == 0)
    }

    @Test mutating func `a request that is not whole after five seconds is refused as unreadable`() {
        #expect(
            ask(String(Self.sale.dropLast(3))) == [
                .arm(.request(line), milliseconds: 5_000), .arm(.quiet(line), milliseconds: 50),
            ])
        let effects = terminal.handle(.timer(.request(line)), at: 5_000)
        #expect(answers(effects) == ["CZ0040300AE00201AF00209"])
        #expect(effects.last == .close(line))
    }

    @Test mutating func `a second till during a sale hears that the terminal is busy`() {
        _ = ask(Self.sale)
        let other = TillConnection(2)
        _ = terminal.handle(.connected(other, peer: "q"), at: 1)
        #expect(answers(ask(Self.sale, on: other)) == [Self.sale + "AE00201AF00207"])
        #expect(terminal.desk.counter == 1)
    }

    @Test
    mutating func `a request that comes again on its connection is no second payment, and one after the answer is`()
        throws
    {
        _ = ask(Self.sale)
        #expect(ask(Self.sale).isEmpty && terminal.desk.counter == 1)
        // Where one request ended cannot be told any more: the connection ends with the answer.
        let told = try settle(.approved(Self.approval))
        #expect(answers(told).count == 1 && terminal.handle(.sent(line), at: 101).contains(.close(line)))
        let other = TillConnection(2)
        for number in 2...3 as ClosedRange<UInt64> {
            _ = terminal.handle(.connected(other, peer: "p"), at: 200)
            #expect(ask(Self.sale, on: other).contains { if case .start = $0 { true } else { false } })
            #expect(terminal.desk.counter == number)
            _ = try settle(.approved(Self.approval))
            _ = terminal.handle(.sent(other), at: 300)
        }
    }

    @Test mutating func `after a lost connection the next sale begins when the old one is settled`() throws {
        _ = ask(Self.sale)
        let first = try #require(terminal.desk.open?.key)
        #expect(terminal.handle(.lost(line, .closed), at: 60).contains(.cancel(first)))
        let other = TillConnection(2)
        _ = terminal.handle(.connected(other, peer: "p"), at: 70)
        #expect(!ask(Self.sale, on: other).contains { if case .start = $0 { true } else { false } })
        let effects = terminal.handle(.settled(first, .approved(Self.approval)), at: 100)
        let back = try #require(effects.firstIndex(of: .takeBack(first, .notDelivered)))
        let start = try #require(effects.firstIndex { if case .start = $0 { true } else { false } })
        #expect(back < start)
    }

    @Test mutating func `what is not settled in time is answered by nothing but the end of the connection`() throws {
        _ = ask(Self.sale)
        let key = try #require(terminal.desk.open?.key)
        let effects = terminal.handle(.timer(.patience(key)), at: 170_000)
        #expect(answers(effects) == [] && effects.contains(.cancel(key)) && effects.last == .close(line))
        #expect(
            terminal.handle(.settled(key, .approved(Self.approval)), at: 171_000).contains(
                .takeBack(key, .notDelivered)))
    }

    @Test(arguments: TillRefusal.Reason.allCases) mutating func `each refusal has a reason that tills know`(
        reason: TillRefusal.Reason
    ) throws {
        _ = ask(Self.sale)
        let answer = try #require(answers(try settle(.notPaid(TillRefusal(reason)))).first)
        #expect(answer.hasPrefix(Self.sale + "AE00201AF002"))
        #expect(!["00", "01", "03"].contains(answer.suffix(2)))
    }
}
