// SPDX-License-Identifier: Apache-2.0
import PSPAPI
import TestSupport
import Testing

@testable import Switch

/// Double entry: what one account gives another one gets, whatever happens in whatever order.
struct FiguresTests {
    @Test func `a hold is captured in parts, its rest given up, and nothing more can be taken`() throws {
        var (figures, booking) = PaymentFigures.approved(.preauth, 1_000)
        #expect(booking == Posting(card: -1_000, hold: 1_000))
        #expect(try figures.capture(300, tip: 0, isFinal: false, isOver: false).0 == Posting(hold: -300, shop: 300))
        let (last, rest) = try figures.capture(500, tip: 50, isFinal: true, isOver: false)
        #expect(last == Posting(card: 200, hold: -700, shop: 500))
        #expect(rest == 200)
        #expect(figures.held == 0)
        #expect(throws: PostingRefusal.settled) { try figures.capture(1, tip: 0, isFinal: true, isOver: false) }
        #expect(figures == PaymentFigures(kind: .preauth, authorised: 1_000, captured: 800, released: 200))
    }

    @Test func `what is over, too much, nothing or not a hold is refused with its reason`() throws {
        var (hold, _) = PaymentFigures.approved(.preauth, 1_000)
        #expect(throws: PostingRefusal.expired) { try hold.capture(1, tip: 0, isFinal: true, isOver: true) }
        #expect(throws: PostingRefusal.tooMuch) { try hold.capture(1_001, tip: 0, isFinal: true, isOver: false) }
        #expect(throws: PostingRefusal.unsupported) { try hold.capture(10, tip: 11, isFinal: true, isOver: false) }
        #expect(throws: PostingRefusal.settled) { try hold.refund(1) }
        var (sale, _) = PaymentFigures.approved(.sale, 1_000)
        #expect(throws: PostingRefusal.unsupported) { try sale.release(1, isOver: false) }
        #expect(throws: PostingRefusal.tooMuch) { try sale.refund(1_001) }
    }

    @Test("Random operations keep every account at what it was given", arguments: 1...20 as ClosedRange<UInt64>)
    func random(seed: UInt64) throws {
        var source = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let kind: AuthorizationRequest.Kind = Bool.random(using: &source) ? .preauth : .sale
            let value = Int64.random(in: 1...1_000, using: &source)
            var (figures, sum) = PaymentFigures.approved(kind, value)
            for _ in 0..<8 {
                let amount = Int64.random(in: 0...600, using: &source)
                var booking: Posting?
                var undone: Posting?
                switch Int.random(in: 0...2, using: &source) {
                case 0:
                    let isFinal = Bool.random(using: &source)
                    if let (made, rest) = try? figures.capture(amount, tip: 0, isFinal: isFinal, isOver: false) {
                        booking = made
                        if Bool.random(using: &source) { undone = figures.undo(.capture, amount, rest: rest) }
                    }
                case 1:
                    booking = try? figures.release(amount, isOver: false)
                    if booking != nil, Bool.random(using: &source) { undone = figures.undo(.release, amount, rest: 0) }
                default:
                    booking = try? figures.refund(amount)
                    if booking != nil, Bool.random(using: &source) { undone = figures.undo(.refund, amount, rest: 0) }
                }
                for item in [booking, undone].compactMap({ $0 }) {
                    #expect(item.card + item.hold + item.shop == 0)
                    sum = Posting(card: sum.card + item.card, hold: sum.hold + item.hold, shop: sum.shop + item.shop)
                }
                if let undone { #expect(undone == booking?.reversed) }
                #expect(sum.hold == figures.held)
                #expect(sum.shop == figures.captured - figures.refunded)
                #expect(sum.card == figures.released + figures.refunded - figures.authorised)
                #expect(figures.held >= 0 && figures.refunded <= figures.captured)
            }
        }
    }
}
