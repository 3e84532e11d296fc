// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import ISO8583

/// A link that ends what another one began, and links that work side by side.
struct LinkAdoptionTests {
    private func begun(_ rig: inout LinkRig) throws -> Exchange {
        let effects = rig.put(.authorize(ExchangeID("one"), try rig.payment()))
        for case .record(let exchange) in effects { return exchange }
        throw LinkRig.Missing()
    }

    @Test func `a payment that another link had sent is taken back after the rest of its time`() throws {
        var first = try LinkRig()
        let exchange = try begun(&first)
        var second = try LinkRig(stan: 700)
        #expect(second.put(.adopt(exchange, rest: 5_000)).sent.isEmpty)
        #expect(second.put(.tick, after: 4_999).sent.isEmpty)
        let effects = second.put(.tick, after: 1)
        #expect(effects.told.contains(.settled(ExchangeID("one"), .unknown)))
        let reversal = try #require(effects.sent.first)
        #expect(reversal.type.description == "0420")
        #expect(reversal.text(90)?.dropFirst(4).prefix(6) == exchange.original.text(11).map { $0[...] })
        #expect(reversal.text(11) == "000700")
        let answer = try second.answer(to: reversal, "25")
        #expect(second.put(.received(answer)).told == [.reversed(ExchangeID("one"))])
    }

    @Test func `an approval that comes to the link that took over is not believed`() throws {
        var first = try LinkRig()
        let exchange = try begun(&first)
        var second = try LinkRig(stan: 700)
        _ = second.put(.adopt(exchange, rest: 5_000))
        let told = second.put(.received(try second.answer(to: exchange.original, "00"))).told
        #expect(told == [.settled(ExchangeID("one"), .unknown)])
    }

    @Test func `what is open already is adopted no second time`() throws {
        var rig = try LinkRig()
        let exchange = try begun(&rig)
        #expect(rig.put(.adopt(exchange, rest: 0)).isEmpty)
        let answer = try rig.answer(to: exchange.original, "00")
        #expect(rig.put(.received(answer)).told == [.settled(ExchangeID("one"), .approved(answer))])
    }

    /// docs/service/payment-service.md: a card's number is in memory as long as its payment is worked on.
    @Test func `what is at an end keeps nothing of the card, and is taken back from the books`() throws {
        var rig = try LinkRig()
        let id = ExchangeID("one")
        let sent = try rig.pay("one")
        let kept = try #require(rig.link.exchange(id))
        // Open, it has to be reversed if no answer comes.
        _ = rig.put(.shed(id))
        #expect(rig.link.exchange(id)?.original[2] == sent[2])
        _ = rig.put(.received(try rig.answer(to: sent, "00")))
        _ = rig.put(.shed(id))
        let shed = try #require(rig.link.exchange(id)?.original)
        #expect(shed[2] == nil && shed[14] == nil && shed[35] == nil && shed[55] == nil)
        #expect(rig.put(.received(try rig.answer(to: sent, "05"))).told == [.alarm(.contradictsItself(id))])
        let refused = rig.put(.reverse(id, .customerCancel))
        #expect(refused.sent.isEmpty && refused.told == [.alarm(.cannotReverse(id))])
        _ = rig.put(.adopt(Exchange(id: id, order: 0, original: kept.original, stage: .answered(.approved)), rest: 0))
        #expect(rig.put(.reverse(id, .customerCancel)).sent.first?[2] == sent[2])
    }

    /// Sent before a restart, an answer to it may come after it: a host has queues of its own.
    @Test(
        "S33: an answer that may be older than a restart ends no reversal of what the host has approved",
        arguments: [1, 2])
    func olderThanRestart(sendings: Int) throws {
        let id = ExchangeID("one")
        var first = try LinkRig()
        let request = try first.pay("one")
        let reversal = try #require(first.put(.tick, after: 20_000).sent.first)
        if sendings == 2 { _ = first.put(.tick, after: 10_000) }
        _ = first.put(.received(try first.answer(to: request, "00")))
        let kept = try #require(first.link.exchange(id))
        #expect(kept.isApprovedByHost && kept.sendings == sendings)
        var second = try LinkRig(stan: 700)
        let repetition = Repetition(message: reversal, attempts: kept.sendings)
        let books = Exchange(
            id: id, order: 0, original: kept.original, stage: .reversing(repetition), isApprovedByHost: true)
        _ = second.put(.adopt(books, rest: 0))
        #expect(second.put(.tick).sent.map(\.type.description) == ["0421"])
        for _ in 0..<sendings {
            let effects = second.put(.received(try second.answer(to: reversal, "00")))
            #expect(effects.told == [] && effects.sent.map(\.type.description) == ["0421"])
        }
        #expect(second.put(.received(try second.answer(to: reversal, "00"))).told == [.reversed(id)])
    }

    /// A host that says that it does not have a payment and books it after that tells it over the line that it came by.
    @Test(
        "S33: nobody hears a late approval of what was sent over a line that has ended, and it is taken back once more",
        arguments: [false, true])
    func unheard(isLineLostBefore: Bool) throws {
        let id = ExchangeID("one")
        var first = try LinkRig()
        _ = try first.pay("one")
        if isLineLostBefore {
            _ = first.put(.disconnected)
            _ = first.put(.connected)
            _ = first.put(.received(try first.answer(to: try first.signOn(), "00")))
        }
        let reversal = try #require(first.put(.tick, after: 20_000).sent.first { $0.type.kind == 4 })
        #expect(first.put(.received(try first.answer(to: reversal, "25"))).told == [.reversed(id)])
        let kept = try #require(first.link.exchange(id))
        #expect(kept.mayStillBeApproved && kept.wouldBeHeard != isLineLostBefore)
        _ = first.put(.disconnected)
        #expect(first.link.exchange(id)?.wouldBeHeard == false)
        // As the books bring it: a reversal of its own, and never the payment.
        var second = try LinkRig(stan: 700)
        _ = second.put(.adopt(Exchange(id: id, order: 0, original: kept.original, stage: .reversed), rest: 0))
        #expect(second.link.exchange(id)?.wouldBeHeard == false && second.put(.tick).sent == [])
        let again = second.put(.reverse(id, .timeout)).sent
        #expect(again.map(\.type.description) == ["0420"] && again.first?.text(90) == reversal.text(90))
        let last = try #require(again.first)
        #expect(second.put(.received(try second.answer(to: last, "25"))).told == [.reversed(id)])
    }

    @Test func `what was withdrawn is neither taken back nor answered`() throws {
        var rig = try LinkRig()
        let exchange = try begun(&rig)
        _ = rig.put(.withdraw(ExchangeID("one")))
        #expect(rig.put(.tick, after: 60_000).told.isEmpty)
        let told = rig.put(.received(try rig.answer(to: exchange.original, "00"))).told
        #expect(told == [.alarm(.stray(try #require(exchange.original.type.answer)))])
    }

    @Test func `a link takes trace numbers of its own share and begins it again at its end`() throws {
        let packager = try Packager(.bcd1987)
        let rig = try LinkRig()
        var link = AcquirerLink(packager, stan: 103, stans: 101...103, at: rig.moment)
        let first = link.handle(.connected, at: rig.moment).sent
        #expect(first.first?.text(11) == "000103")
        #expect(link.stan == 101)
        #expect(AcquirerLink(packager, stan: 7, stans: 101...103, at: rig.moment).stan == 101)
    }

    /// ISO 8583:1987: 0420 with field 95 says what remains; it is answered by 0430 and repeated as 0421.
    @Test func `a reversal of a part is an advice of its own`() throws {
        var rig = try LinkRig()
        let original = try rig.pay("one")
        var message = original.keeping([2, 3, 4, 12, 13, 14, 22, 25, 32, 37, 41, 42, 49])
        message.type = try #require(MessageType(420))
        message.set(39, "17")
        message.set(90, try #require(OriginalData(of: original)).field90)
        message.set(95, try #require(ReplacementAmounts(actual: 5)).field95)
        let sent = try #require(rig.put(.advise(ExchangeID("part"), message)).sent.first)
        #expect(rig.put(.tick, after: 10_000).sent.first?.type.description == "0421")
        let told = rig.put(.received(try rig.answer(to: sent, "00"))).told
        #expect(told == [.advised(ExchangeID("part"), isAccepted: true)])
    }
}
