// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

@testable import ISO8583

/// A host whose answers contradict each other, or mean nothing that is known: what it leaves open a person sees.
struct HostContradictionTests {
    private let id = ExchangeID("a")

    /// The repetition that takes the payment back.
    private func reversal(_ rig: LinkRig) throws -> ISOMessage {
        guard case .reversing(let repetition) = rig.link.exchange(id)?.stage else { throw LinkRig.Missing() }
        return repetition.message
    }

    // MARK: - S4

    /// Field 39 of ISO 8583:1987: 25 unable to locate record, 12 invalid transaction.
    @Test("S4: a host that does not know what it has approved ends no reversal", arguments: ["25", "12"])
    func approvedAndUnknown(code: String) throws {
        var rig = try LinkRig()
        let request = try rig.pay("a")
        _ = rig.put(.received(try rig.answer(to: request, "00")))
        _ = rig.put(.reverse(id, .customerCancel))
        let told = rig.put(.received(try rig.answer(to: try reversal(rig), code))).told
        #expect(!told.contains(.reversed(id)) && !told.isEmpty)
        #expect(rig.link.openExchanges.map(\.id) == [id])
        guard code == "25" else { return }
        #expect(told == [.alarm(.reversalContradictsApproval(id, code)), .alarm(.openItem(id))])
        #expect(rig.link.exchange(id)?.repetition?.isGivenUp == true)
        // Somebody has asked the acquirer, and asks for the reversal again.
        let again = try #require(rig.put(.reverse(id, .customerCancel)).sent.first)
        #expect(again.type == MessageType(421))
        #expect(rig.put(.received(try rig.answer(to: again, "00"))).told == [.reversed(id)])
    }

    /// As what the till gave up, a wrong sum, and an approval after the deadline.
    @Test("S4: also what was approved and not believed is not unknown to its host", arguments: 0..<6)
    func approvedAndNotBelieved(way: Int) throws {
        var rig = try LinkRig()
        let request = try rig.pay("a")
        var answer = try rig.answer(to: request, "00")
        switch way {
        case 0: _ = rig.put(.reverse(id, .customerCancel))
        case 1: answer.set(4, "000000001499")
        case 2: _ = rig.put(.tick, after: 20_000)
        // After the deadline, and of a wrong sum or in a wrong currency.
        case 4:
            _ = rig.put(.tick, after: 20_000)
            answer.set(4, "000000001499")
        case 5:
            _ = rig.put(.tick, after: 20_000)
            answer.set(49, "840")
        default: answer.set(49, "840")
        }
        _ = rig.put(.received(answer))
        let sent = try reversal(rig)
        // Sent before the approval came, and so is its answer: that may be older than what the host has booked.
        if [2, 4, 5].contains(way) { #expect(rig.put(.received(try rig.answer(to: sent, "25"))).sent.count == 1) }
        let told = rig.put(.received(try rig.answer(to: sent, "25"))).told
        #expect(told.first == .alarm(.reversalContradictsApproval(id, "25")))
        #expect(rig.link.openExchanges.map(\.id) == [id])
    }

    @Test("S4: an approval is known after a restart, too")
    func approvedBeforeRestart() throws {
        var first = try LinkRig()
        let request = try first.pay("a")
        _ = first.put(.received(try first.answer(to: request, "00")))
        let recorded = first.put(.reverse(id, .customerCancel)).compactMap {
            if case .record(let exchange) = $0 { exchange } else { nil }
        }
        let exchange = try #require(recorded.last)
        #expect(exchange.isApprovedByHost)
        var rig = try LinkRig(stan: 700)
        let repetition = try #require(exchange.repetition)
        _ = rig.put(.adopt(exchange, rest: 0))
        // The first answer may be older than the restart.
        let answer = try rig.answer(to: repetition.message, "25")
        #expect(rig.put(.received(answer)).told == [])
        let told = rig.put(.received(answer)).told
        #expect(told.first == .alarm(.reversalContradictsApproval(id, "25")))
    }

    @Test("S4: 94 to the first reversal says nothing; to its repeat it is an end")
    func sentTwice() throws {
        var rig = try LinkRig()
        _ = try rig.pay("a")
        _ = rig.put(.tick, after: 20_000)
        let answer = try rig.answer(to: try reversal(rig), "94")
        #expect(rig.put(.received(answer)).told == [.alarm(.stanUsedTwice(id))])
        #expect(rig.put(.tick, after: 10_000).sent.first?.type == MessageType(421))
        #expect(rig.put(.received(answer)).told == [.reversed(id)])
    }

    @Test("S4: invalid transaction ends no reversal unless the packager says so")
    func invalidTransaction() throws {
        for name in Packager.BuiltIn.allCases { #expect(try !Packager(name).codes.reversed.contains("12")) }
        var rig = try LinkRig()
        _ = try rig.pay("a")
        _ = rig.put(.tick, after: 20_000)
        let told = rig.put(.received(try rig.answer(to: try reversal(rig), "12"))).told
        #expect(told == [.alarm(.reversalRefused(id, "12"))])
    }

    // MARK: - S21

    /// The first code, the second one, and whether the two say different things of money.
    @Test(
        "S21: a host that answers twice, with money and without it, leaves an open item",
        arguments: [
            ("00", "51", true), ("51", "00", true), ("91", "10", true), ("00", "91", true), ("00", "10", true),
            ("51", "05", false),
            ("00", "96", false), ("51", "96", false),
        ])
    func answeredTwice(first: String, second: String, isMoney: Bool) throws {
        var rig = try LinkRig()
        let request = try rig.pay("a")
        _ = rig.put(.received(try rig.answer(to: request, first)))
        let stage = rig.link.exchange(id)?.stage
        let answer = try rig.answer(to: request, second) { if second == "10" { $0.set(4, "000000000700") } }
        #expect(rig.put(.received(answer)) == [.alarm(isMoney ? .contradictsItself(id) : .answersDiffer(id))])
        // What was told stands.
        #expect(rig.link.exchange(id)?.stage == stage)
        var wrong = try rig.answer(to: request, "00")
        wrong.set(4, "000000009999")
        #expect(rig.put(.received(wrong)) == [.alarm(.contradictsItself(id))])
    }

    @Test("S21: an advice that was refused for good and is accepted after that is an open item")
    func acknowledgedTwice() throws {
        for (first, second, isMoney) in [
            ("57", "00", true), ("57", "94", true), ("57", "57", false), ("00", "57", false), ("00", "00", false),
        ] {
            var rig = try LinkRig()
            let advice = try rig.payment("advice-0220-offline-1987-ascii-binbitmap")
            let sent = try #require(rig.put(.advise(id, advice)).sent.first)
            _ = rig.put(.received(try rig.answer(to: sent, first)))
            let effects = rig.put(.received(try rig.answer(to: sent, second)))
            #expect(effects == (isMoney ? [.alarm(.contradictsItself(id))] : []), "\(first), then \(second)")
        }
    }

    // MARK: - S11

    /// ISO 8583:1987, field 39: 16 approved, update track 3.
    @Test("S11: 16 is an approval")
    func approvedWithTrackThree() throws {
        var rig = try LinkRig()
        let answer = try rig.answer(to: try rig.pay("a"), "16")
        #expect(rig.put(.received(answer)).told == [.settled(id, .approved(answer))])
    }

    /// 32 completed partially; blanks, and values that no list has.
    @Test("S11: a code that means nothing known is doubtful and taken back", arguments: ["32", "  ", "87", "ZZ", "0 "])
    func unknownCode(code: String) throws {
        var rig = try LinkRig()
        let effects = rig.put(.received(try rig.answer(to: try rig.pay("a"), code)))
        let alarm: [LinkEffect] = code == "32" ? [] : [.alarm(.unknownCode(id, code))]
        #expect(effects.told == [.settled(id, .unknown)] + alarm)
        #expect(effects.sent.first?.type == MessageType(420))
    }

    @Test("S11: an advice with an unknown answer is sent again, and told of")
    func unknownCodeOfAdvice() throws {
        var rig = try LinkRig()
        let advice = try rig.payment("advice-0220-offline-1987-ascii-binbitmap")
        let sent = try #require(rig.put(.advise(id, advice)).sent.first)
        #expect(rig.put(.received(try rig.answer(to: sent, "ZZ"))).told == [.alarm(.unknownCode(id, "ZZ"))])
        #expect(rig.put(.tick, after: 10_000).sent.first?.type == MessageType(221))
    }

    // MARK: - S5

    /// Elavon, EISOP: 0510 has field 39 of its own; 0500 is repeated as 0501.
    @Test("S5: a day that the host could not look at is told again", arguments: ["91", "30", "96", "  ", nil])
    func dayNotTaken(code: String?) throws {
        var rig = try LinkRig(.ascii1987)
        let sent = try #require(
            rig.put(.reconcile(id, try rig.payment("recon-0500-1987-ascii-binbitmap"))).sent.first)
        let answer = try rig.answer(to: sent, code) { $0.set(66, "1") }
        #expect(rig.put(.received(answer)).told == [.alarm(.dayNotTaken(id, code ?? ""))])
        let again = try #require(rig.put(.tick, after: 10_000).sent.first)
        #expect(again.type == MessageType(501))
        let agreed = try rig.answer(to: again, "00") { $0.set(66, "1") }
        #expect(rig.put(.received(agreed)).told == [.reconciled(id, .inBalance)])
    }

    @Test("S5: a reconciliation error is a difference")
    func dayDiffers() throws {
        var rig = try LinkRig(.ascii1987)
        let sent = try #require(
            rig.put(.reconcile(id, try rig.payment("recon-0500-1987-ascii-binbitmap"))).sent.first)
        #expect(rig.put(.received(try rig.answer(to: sent, "95"))).told.first == .reconciled(id, .outOfBalance))
    }
}
