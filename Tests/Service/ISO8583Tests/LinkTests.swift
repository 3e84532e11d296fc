// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

@testable import ISO8583

struct LinkTests {
    private let id = ExchangeID("a")

    // MARK: - Session

    @Test func `nothing is sent before the sign-on is accepted`() throws {
        var rig = try LinkRig(signsOn: false)
        #expect(rig.put(.authorize(id, try rig.payment())) == [.settled(id, .notSent(.notSignedOn))])
        let signOn = try #require(rig.put(.connected).sent.first)
        #expect(signOn.text(70) == "001")
        #expect(try Hex.string(rig.packager.build(signOn)).hasPrefix("0800822000000000000004"))
        #expect(rig.put(.authorize(id, try rig.payment())).sent == [])
        #expect(rig.put(.received(try rig.answer(to: signOn, "00"))) == [])
        #expect(rig.link.isSignedOn)
        #expect(rig.put(.authorize(id, try rig.payment())).sent.count == 1)
    }

    @Test func `a refused sign-on and one without answer end the connection`() throws {
        var rig = try LinkRig(signsOn: false)
        let first = try #require(rig.put(.connected).sent.first)
        #expect(rig.put(.received(try rig.answer(to: first, "96"))) == [.disconnect(.signOnRefused("96"))])
        _ = rig.put(.connected)
        #expect(rig.put(.tick, after: 20_000) == [.disconnect(.noSignOn)])
        #expect(!rig.link.isSignedOn)
    }

    @Test func `silence is asked about, and two echoes without an answer end the connection`() throws {
        var rig = try LinkRig()
        #expect(rig.link.nextDeadline == rig.now + 60_000)
        let echo = try #require(rig.put(.tick, after: 60_000).sent.first)
        #expect(echo.text(70) == "301")
        #expect(rig.put(.received(try rig.answer(to: echo, "00")), after: 10) == [])
        #expect(rig.put(.tick, after: 59_999) == [])
        #expect(rig.put(.tick, after: 1).sent.count == 1)
        #expect(rig.put(.tick, after: 20_000).sent.count == 1)
        #expect(rig.put(.tick, after: 20_000) == [.disconnect(.noEcho)])
    }

    @Test func `a host's echo is answered as it was asked`() throws {
        var rig = try LinkRig()
        var echo = ISOMessage(try #require(MessageType(0800)))
        for (field, text) in [(7, "1122000001"), (11, "000001"), (70, "301")] { echo.set(field, text) }
        let answer = try #require(rig.put(.received(echo)).sent.first)
        let vector = try #require(try VectorTests.row("network-0810-301-1987-bcd").hex)
        #expect(try rig.packager.build(answer) == Hex.bytes(vector))
        echo.set(70, "101")
        #expect(rig.put(.received(echo)).told == [.alarm(.notServed(try #require(MessageType(0800))))])
    }

    @Test func `signing off sends 002 and takes nothing more`() throws {
        var rig = try LinkRig()
        let effects = rig.put(.leave)
        #expect(effects.sent.first?.text(70) == "002" && effects.last == .disconnect(.left))
        #expect(rig.put(.authorize(id, try rig.payment())).told == [.settled(id, .notSent(.notSignedOn))])
    }

    @Test("S7: a host that answers echoes alone counts as silent until it answers a payment")
    func silentHost() throws {
        var rig = try LinkRig()
        for number in 0..<3 {
            #expect(rig.link.isAnswering)
            let payment = try rig.payment()
            let asked = try #require(rig.put(.authorize(ExchangeID("\(number)"), payment)).sent.first)
            #expect(asked.type.kind == 1)
            for message in rig.put(.tick, after: 20_000).sent where message.type.kind == 8 {
                _ = rig.put(.received(try rig.answer(to: message, "00")))
            }
        }
        #expect(!rig.link.isAnswering && rig.link.isSignedOn)
        let answer = try rig.answer(to: try rig.pay("a"), "05")
        _ = rig.put(.received(answer))
        #expect(rig.link.isAnswering)
    }

    // MARK: - Payments

    @Test func `the request of a payment is the vector's, with trace number, time and reference`() throws {
        var rig = try LinkRig()
        let effects = rig.put(.authorize(id, try rig.payment()))
        guard case .record = effects.first else {
            Issue.record("sent before it was recorded: \(effects)")
            return
        }
        let sent = try #require(effects.sent.first)
        let fields = try #require(try VectorTests.row("auth-0100-visa-1987-ascii-binbitmap").fields)
        #expect(try sent == VectorTests.message(fields, rig.packager))
    }

    @Test func `an approval as asked is an approval, told once`() throws {
        var rig = try LinkRig()
        let answer = try rig.answer(to: try rig.pay("a"), "00")
        #expect(rig.put(.received(answer)).told == [.settled(id, .approved(answer))])
        #expect(rig.put(.received(answer)) == [])
        let other = try rig.answer(to: try #require(rig.link.exchange(id)?.original), "05")
        #expect(rig.put(.received(other)) == [.alarm(.contradictsItself(id))])
        #expect(rig.link.exchange(id)?.stage == .answered(.approved))
        #expect(rig.put(.authorize(id, try rig.payment())) == [.alarm(.refused(id, .idInUse))])
    }

    @Test func `a part is approved where the amount is less and not nothing`() throws {
        for (amount, isTaken) in [("000000000700", true), ("000000001500", false), ("000000000000", false)] {
            var rig = try LinkRig()
            let answer = try rig.answer(to: try rig.pay("a"), "10") { $0.set(4, amount) }
            let told = rig.put(.received(answer)).told
            #expect(told.first == .settled(id, isTaken ? .partial(answer) : .unknown))
        }
    }

    @Test(arguments: [(4, "000000001499"), (49, "840"), (3, "200000"), (39, nil)] as [(Int, String?)])
    func `an approval that contradicts what was asked is taken back`(field: Int, text: String?) throws {
        var rig = try LinkRig()
        let answer = try rig.answer(to: try rig.pay("a"), "00") { $0[field] = text.map { Array($0.utf8) } }
        let effects = rig.put(.received(answer))
        #expect(effects.told.first == .settled(id, .unknown))
        #expect(effects.sent.first?.type == MessageType(0420))
    }

    @Test(arguments: [(11, "000099"), (37, "632614000099"), (41, "TERM0002"), (32, "10987654321"), (7, "1122143006")])
    func `another's answer is not taken`(field: Int, text: String) throws {
        var rig = try LinkRig()
        let answer = try rig.answer(to: try rig.pay("a"), "00") { $0.set(field, text) }
        let alarm = field == 11 ? LinkAlarm.stray(answer.type) : .answerDiffers(id, field: field)
        #expect(rig.put(.received(answer)).told == [.alarm(alarm)])
        #expect(rig.link.openExchanges.count == 1)
    }

    @Test(arguments: [("05", HostVerdict.declined("05")), ("91", .later("91")), ("1A", .declined("1A"))])
    func `a decline ends a payment, and reversing it has nothing to do`(code: String, verdict: HostVerdict) throws {
        var rig = try LinkRig()
        let answer = try rig.answer(to: try rig.pay("a"), code)
        #expect(rig.put(.received(answer)).told == [.settled(id, .declined(verdict))])
        #expect(rig.put(.reverse(id, .customerCancel)) == [.reversed(id)])
    }

    // MARK: - Taking back

    @Test func `silence is taken back, by the vectors' 0420, and repeated as 0421 until it is acknowledged`() throws {
        var rig = try LinkRig(.asciiHex1987)
        _ = try rig.pay("a")
        #expect(rig.put(.tick, after: 19_999) == [])
        // The vectors' clock is thirty seconds later.
        rig.time = try #require(HostTime(year: 2026, month: 11, day: 22, hour: 14, minute: 30, second: 35))
        let effects = rig.put(.tick, after: 1)
        #expect(effects.told == [.settled(id, .unknown)])
        let vector = try VectorTests.row("reversal-0420-timeout-1987-ascii-hexbitmap")
        let expected = try VectorTests.message(try #require(vector.fields), rig.packager)
        #expect(effects.sent.filter { $0.type.kind == 4 } == [expected])
        for (pause, count) in [(10_000, 1), (30_000, 1), (60_000, 1), (300_000, 1)] as [(UInt64, Int)] {
            #expect(rig.put(.tick, after: pause - 1).sent.count { $0.type.kind == 4 } == 0)
            let again = rig.put(.tick, after: 1).sent.filter { $0.type.kind == 4 }
            #expect(again.count == count && again.allSatisfy { $0.type == MessageType(0421) })
            for message in again { #expect(message.fields.allSatisfy { message[$0] == expected[$0] }) }
            // Keeps the connection up.
            _ = rig.put(.received(try rig.answer(to: expected, "91")))
        }
        #expect(rig.put(.received(try rig.answer(to: expected, "00"))) == effects.reversedNow(id, rig))
        #expect(rig.link.openExchanges == [])
    }

    @Test(arguments: [false, true]) func `an approval after the deadline is an alarm and no approval`(isTicked: Bool)
        throws
    {
        var rig = try LinkRig()
        let request = try rig.pay("a")
        if isTicked { _ = rig.put(.tick, after: 20_000) }
        let effects = rig.put(.received(try rig.answer(to: request, "00")), after: isTicked ? 1 : 20_000)
        #expect(effects.told.last == .alarm(.lateApproval(id, afterReversal: false)))
        #expect(!effects.contains { if case .settled(_, .approved) = $0 { true } else { false } })
        guard case .reversing(let repetition) = rig.link.exchange(id)?.stage else {
            Issue.record("not being taken back")
            return
        }
        let again = rig.put(.received(try rig.answer(to: repetition.message, "00")))
        #expect(again.told == [] && again.sent.map(\.type.description) == ["0421"])
        _ = rig.put(.received(try rig.answer(to: repetition.message, "00")))
        #expect(rig.link.exchange(id)?.stage == .reversed)
        #expect(
            rig.put(.received(try rig.answer(to: request, "00"))) == [.alarm(.lateApproval(id, afterReversal: true))])
    }

    /// Seed 331 of the second host: it acknowledged the reversal of what it did not have, and booked the payment after that.
    @Test(
        "S33: an answer that may be older than a late approval ends no reversal; the one after it does",
        arguments: [1, 2], [("00", "00"), ("00", "94"), ("00", "25"), ("25", "00"), ("25", "25")])
    func olderThanApproval(sendings: Int, codes: (String, String)) throws {
        var rig = try LinkRig()
        let request = try rig.pay("a")
        let reversal = try #require(rig.put(.tick, after: 20_000).sent.first)
        if sendings == 2 { #expect(rig.put(.tick, after: 10_000).sent.count == 1) }
        _ = rig.put(.received(try rig.answer(to: request, "00")))
        for _ in 0..<sendings {
            let effects = rig.put(.received(try rig.answer(to: reversal, codes.0)))
            #expect(effects.told == [] && effects.sent.map(\.type.description) == ["0421"])
        }
        // One that is lost is asked for soon, however many there were before.
        #expect(rig.put(.tick, after: 29_999).sent == [] && rig.put(.tick, after: 1).sent.count == 1)
        let end = rig.put(.received(try rig.answer(to: reversal, codes.1))).told
        // What it has approved, and never took back, it cannot have never had.
        let isDenied = codes == ("25", "25")
        #expect(end.contains(.alarm(.openItem(id))) == isDenied && end.contains(.reversed(id)) != isDenied)
    }

    /// 25 unable to locate record, 94 duplicate transmission, 00 done.
    @Test(
        "S23: what a host approves after it has ended its reversal is taken back once more",
        arguments: ["25", "94", "00"])
    func approvedAfterAll(code: String) throws {
        var rig = try LinkRig()
        let request = try rig.pay("a")
        _ = rig.put(.tick, after: 20_000)
        // The first one is told apart from its repeats: “sent twice” ends none that was sent once.
        if code == "94" { _ = rig.put(.tick, after: 10_000) }
        guard case .reversing(let repetition) = rig.link.exchange(id)?.stage else {
            Issue.record("not being taken back")
            return
        }
        _ = rig.put(.received(try rig.answer(to: repetition.message, code)))
        #expect(rig.link.exchange(id)?.stage == .reversed)
        // Also where the card's data is not here any more.
        _ = rig.put(.shed(id))
        #expect(rig.link.exchange(id)?.mayStillBeApproved == true)
        let told: [LinkEffect] = [.alarm(.lateApproval(id, afterReversal: true)), .alarm(.approvedAfterAll(id))]
        #expect(rig.put(.received(try rig.answer(to: request, "00"))) == told)
        #expect(rig.put(.received(try rig.answer(to: request, "51"))) == [])
        // As the books bring it. What was approved before its end is approved a second time without a doubt.
        let kept = try #require(rig.link.exchange(id))
        _ = rig.put(.adopt(Exchange(id: id, order: 0, original: request, stage: .answered(.approved)), rest: 0))
        let again = try #require(rig.put(.reverse(id, .timeout)).sent.first)
        #expect(
            again.type == MessageType(420) && again.text(90) == repetition.message.text(90) && kept.stage == .reversed)
        #expect(rig.put(.received(try rig.answer(to: again, "00"))).told == [.reversed(id)])
        #expect(rig.link.exchange(id)?.mayStillBeApproved == false)
        #expect(
            rig.put(.received(try rig.answer(to: request, "00"))) == [.alarm(.lateApproval(id, afterReversal: true))])
    }

    @Test func `a reversal waits for the answer, and what is approved then is no approval`() throws {
        var rig = try LinkRig()
        let request = try rig.pay("a")
        #expect(rig.put(.reverse(id, .customerCancel)).sent == [])
        let effects = rig.put(.received(try rig.answer(to: request, "00")))
        #expect(effects.told == [.settled(id, .unknown)])
        #expect(effects.sent.first?.text(39) == "17")
    }

    @Test func `a payment that comes after its reversal is not sent`() throws {
        var rig = try LinkRig()
        #expect(rig.put(.reverse(id, .timeout)).told == [.reversed(id)])
        #expect(rig.put(.authorize(id, try rig.payment())) == [.settled(id, .declined(.declined("94")))])
    }

    @Test func `a reversal that is refused goes on, and after the last attempt a person sees it`() throws {
        var rules = LinkRules()
        rules.mostAttempts = 2
        var rig = try LinkRig(rules: rules)
        _ = try rig.pay("a")
        let reversal = try #require(rig.put(.tick, after: 20_000).sent.first)
        #expect(rig.put(.received(try rig.answer(to: reversal, "05"))) == [.alarm(.reversalRefused(id, "05"))])
        #expect(rig.put(.tick, after: 10_000).sent.count == 1)
        #expect(rig.put(.tick, after: 30_000).told == [.alarm(.openItem(id))])
        #expect(rig.link.openExchanges.map(\.id) == [id])
        #expect(rig.put(.forget(id)) == [] && rig.link.exchange(id) != nil)
    }

    @Test func `after a restart what was sent is taken back, whatever the host says to it`() throws {
        var rig = try LinkRig()
        let effects = rig.put(.authorize(id, try rig.payment()))
        let request = try #require(effects.sent.first)
        guard case .record(let recorded) = effects.first else { throw LinkRig.Missing() }
        rig.link = AcquirerLink(rig.packager, books: [recorded], stan: 500, at: rig.moment)
        let signOn = try #require(rig.put(.connected).sent.first)
        _ = rig.put(.received(try rig.answer(to: signOn, "00")))
        let answered = rig.put(.received(try rig.answer(to: request, "00")))
        #expect(answered.told == [.settled(id, .unknown)] && answered.sent.first?.type == MessageType(0420))
    }

    // MARK: - Advices and reconciliation

    @Test func `an advice waits for the sign-on, is repeated as 0221 and ends with its acknowledgement`() throws {
        var rig = try LinkRig(signsOn: false)
        let advice = try rig.payment("advice-0220-offline-1987-ascii-binbitmap")
        #expect(rig.put(.advise(id, advice)).sent == [])
        let signOn = try #require(rig.put(.connected).sent.first)
        let first = try #require(rig.put(.received(try rig.answer(to: signOn, "00"))).sent.first)
        #expect(first.type == MessageType(0220) && first[55] == advice[55])
        #expect(rig.put(.received(try rig.answer(to: first, "91"))) == [])
        #expect(rig.put(.tick, after: 10_000).sent.first?.type == MessageType(0221))
        #expect(rig.put(.received(try rig.answer(to: first, "94"))).told == [.advised(id, isAccepted: true)])
    }

    @Test func `a declined advice is the shop's loss, and is told`() throws {
        var rig = try LinkRig()
        let sent = try #require(
            rig.put(.advise(id, try rig.payment("advice-0220-offline-1987-ascii-binbitmap"))).sent.first)
        let told = rig.put(.received(try rig.answer(to: sent, "51"))).told
        #expect(told == [.advised(id, isAccepted: false), .alarm(.adviceDeclined(id, "51"))])
    }

    @Test(arguments: [("1", Balance.inBalance), ("2", .outOfBalance), (nil, .unsaid)] as [(String?, Balance)])
    func `a reconciliation is repeated until the host has compared`(code: String?, balance: Balance) throws {
        var rig = try LinkRig(.ascii1987)
        let request = try rig.payment("recon-0500-1987-ascii-binbitmap")
        let sent = try #require(rig.put(.reconcile(id, request)).sent.first)
        #expect(rig.put(.tick, after: 10_000).sent.first?.type == MessageType(0501))
        let answer = try rig.answer(to: sent, "00") { if let code { $0.set(66, code) } }
        #expect(rig.put(.received(answer)).told.first == .reconciled(id, balance))
    }
}

extension [LinkEffect] {
    /// The two effects of an acknowledged reversal.
    fileprivate func reversedNow(_ id: ExchangeID, _ rig: LinkRig) -> [LinkEffect] {
        guard let exchange = rig.link.exchange(id) else { return [] }
        return [.record(exchange), .reversed(id)]
    }
}
