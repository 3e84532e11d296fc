// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PSPAPI
import PaymentValues
import Testing

@testable import Transactions

/// A hand-over to a terminal is a link but for its address and a declined card.
extension LinkMachineTests {
    @Test
    func `A hand-over needs no address and shows none; the terminal's word ends it, be it that a card was declined`()
        throws
    {
        for isPaid in [true, false] {
            var desk = try opened(.handover)
            #expect(desk.states == [.sent] && desk.machine.transaction.link == nil)
            desk.wait(2)
            desk.reply(isPaid ? paid(desk) : declined(desk))
            #expect(desk.asked == ["open", "look"] && desk.machine.isOver)
            #expect(desk.states == [.sent, isPaid ? .approved : .declined])
            #expect(desk.events == [isPaid ? .paymentApproved : .paymentDeclined])
            #expect(desk.machine.transaction.card?.last4 == "1111")
            if !isPaid {
                #expect(desk.machine.transaction.result?.responseCode == "51")
                #expect(desk.machine.transaction.result?.reason == .insufficientFunds)
            }
        }
    }

    @Test func `An address in a hand-over's answer is shown to nobody`() throws {
        var desk = try desk(.handover)
        desk.take(.begin)
        desk.take(.connected)
        var answer = LinkAnswer(id: desk.machine.id, state: .open)
        answer.url = "https://pay.example/7"
        desk.reply(.answered(answer))
        #expect(desk.machine.transaction.link == nil && desk.told.isEmpty && desk.state == .sent)
    }

    @Test func `A declined card ends no link, and no hand-over without the answer to its payment`() throws {
        var link = try opened()
        link.wait(2)
        link.reply(declined(link))
        #expect(link.state == .sent)
        var desk = try opened(.handover)
        for payment in [nil, AuthorizationAnswer(outcome: .approved, responseCode: "00")] {
            desk.wait(60)
            var answer = LinkAnswer(id: desk.machine.id, state: .declined)
            answer.payment = payment
            desk.reply(.answered(answer))
            #expect(desk.state == .sent)
        }
    }

    @Test func `A hand-over whose time is over is taken from the terminal, and can be tried at another one`() throws {
        var desk = try opened(.handover)
        desk.wait(900)
        #expect(desk.asked.last == "close" && desk.state == .sent)
        desk.reply(ended(desk, .expired))
        #expect(desk.state == .declined && desk.machine.transaction.result?.reason == .handoverExpired)
        var told = desk.machine.transaction
        told.offeredTerminals = ["counter-3"]
        #expect(told.alternatives?.last?.request.to == "counter-3")
    }

    @Test func `A cancel or a reversal that finds a declined card leaves nothing to take back`() throws {
        var desk = try opened(.handover)
        desk.take(.cancel(.client, RequestID(1)))
        desk.reply(declined(desk))
        #expect(desk.answers == [.tooLate(.declined, becomesReversal: false)] && desk.state == .declined)
        desk = try opened(.handover)
        desk.take(.reverse(.customerCancel, RequestID(1)))
        desk.reply(declined(desk))
        #expect(desk.state == .declined && !desk.asked.contains("reverse"))
    }

    @Test func `A restart goes on with a hand-over for the rest of its time`() throws {
        var recovered = try transaction(.sent, .handover)
        recovered.history.append(Transaction.Step(state: .sent, at: Self.begin.wall))
        for (age, question) in [(Int64(60), "look"), (900, "close")] {
            var desk = Desk(
                TransactionMachine(
                    recorded: recovered, TransactionParameters(kind: .sale, owner: Principal(uid: 1)), at: Self.begin))
            desk.now.wall = desk.now.wall.advanced(bySeconds: age)
            desk.take(.recover())
            desk.take(.due)
            #expect(desk.asked == [question] && desk.states.isEmpty, "\(age)")
            desk.reply(paid(desk))
            #expect(desk.state == .approved)
        }
    }
}
