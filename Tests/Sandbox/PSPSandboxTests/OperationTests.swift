// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import PSPAPI
import PaymentValues
import Testing

@testable import PSPSandbox

/// What follows an approval, bounded by the sandbox's own books whatever a daemon believes.
struct OperationTests {
    /// Authorised, held, captured, released, refunded, money.
    private func figures(_ entry: LedgerEntry) -> [Int64] {
        [entry.authorised, entry.held, entry.captured, entry.released, entry.refunded, entry.money]
    }

    @Test func `a final capture takes a part and gives up the rest`() async throws {
        try await SandboxBench.run { bench in
            let id = try await bench.approved(20_000)
            let answer = try await bench.capture(13_400, of: id, tip: 1_400)
            #expect(answer.outcome == .approved && answer.amountDone?.value == 13_400)
            #expect(answer.account?.captured == 13_400 && answer.account?.released == 6_600)
            let entry = try await bench.entry(id)
            #expect(figures(entry) == [20_000, 0, 13_400, 6_600, 0, 13_400])
            #expect(entry.tips == 1_400 && entry.outstanding == 13_400)
        }
    }

    @Test func `captures that are not final leave the rest, and a release gives it up`() async throws {
        try await SandboxBench.run { bench in
            let id = try await bench.approved(10_000)
            #expect(try await bench.capture(4_000, of: id, final: false).outcome == .approved)
            #expect(try await bench.capture(3_000, of: id, final: false).outcome == .approved)
            #expect(try await bench.release(3_001, of: id).reason == .tooMuch)
            #expect(try await bench.release(3_000, of: id).outcome == .approved)
            #expect(try await bench.capture(1, of: id).reason == .alreadySettled)
            #expect(figures(try await bench.entry(id)) == [10_000, 0, 7_000, 3_000, 0, 7_000])
        }
    }

    @Test func `an adjustment names the sum to be held, and a declined one changes nothing`() async throws {
        try await SandboxBench.run { bench in
            let id = try await bench.approved(5_000)
            #expect(try await bench.release(4_000, of: id).outcome == .approved)
            // Two thousand more than is held, not two thousand less than was.
            #expect(try await bench.adjust(id, to: 3_000).outcome == .approved)
            #expect(figures(try await bench.entry(id)) == [7_000, 3_000, 0, 4_000, 0, 0])
            #expect(try await bench.adjust(id, to: 12_051).outcome == .declined)
            #expect(try await bench.capture(3_000, of: id).outcome == .approved)
            #expect(try await bench.adjust(id, to: 9_000).reason == .alreadySettled)
            #expect(figures(try await bench.entry(id)) == [7_000, 0, 3_000, 4_000, 0, 3_000])
        }
    }

    @Test func `a tip above the hold is captured up to the service's limit`() async throws {
        let request = try SandboxBench.request(4_020, type: .preauth)
        try await SandboxBench.run { bench in
            #expect(try await bench.answer(to: request).maximumCapture == SandboxBench.euro(8_040))
            #expect(try await bench.capture(8_041, of: request.id).reason == .tooMuch)
            #expect(try await bench.capture(4_600, of: request.id, tip: 600).outcome == .approved)
            #expect(figures(try await bench.entry(request.id)) == [4_020, 0, 4_600, 0, 0, 4_600])
            let other = try await bench.approved(4_000)
            #expect(try await bench.capture(4_001, of: other).reason == .tooMuch)
        }
    }

    @Test func `what is held is held until its time, which can be prolonged`() async throws {
        let clock = Clock()
        try await SandboxBench.run(
            timing: SandboxTiming(hold: .seconds(100)), now: { clock.now }
        ) { bench in
            let id = try await bench.approved(2_000)
            clock.advance(60)
            let later = try #require(try await bench.adjust(id, to: nil).captureBefore)
            #expect(later == clock.now.advanced(bySeconds: 100))
            clock.advance(60)
            #expect(try await bench.capture(500, of: id, final: false).outcome == .approved)
            clock.advance(60)
            #expect(try await bench.capture(500, of: id).reason == .expired)
            #expect(try await bench.entry(id).captured == 500)
        }
    }

    @Test func `refunds never give back more than was taken`() async throws {
        try await SandboxBench.run { bench in
            let id = try await bench.approved(1_250, .sale)
            #expect(try await bench.refund(500, of: id).outcome == .approved)
            #expect(try await bench.refund(750, of: id).outcome == .approved)
            #expect(try await bench.refund(1, of: id).reason == .tooMuch)
            #expect(figures(try await bench.entry(id)) == [1_250, 0, 1_250, 0, 1_250, 0])
            let held = try await bench.approved(1_200)
            #expect(try await bench.refund(100, of: held).reason == .alreadySettled)
            let part = try await bench.approved(1_200, .sale)
            let half = try await bench.refund(1_010, of: part)
            #expect(half.outcome == .partial && half.amountDone?.value == 505)
            #expect(try await bench.refund(800, of: part).reason == .tooMuch)
        }
    }

    @Test func `a linked refund is taken back at its own id, once, and not refunded if it was reversed before`()
        async throws
    {
        try await SandboxBench.run { bench in
            let id = try await bench.approved(1_200, .sale)
            let refund = TransactionID()
            #expect(try await bench.refund(700, of: id, id: refund).outcome == .approved)
            for _ in 0..<2 { #expect(try await bench.reverse(refund).status == 200) }
            #expect(figures(try await bench.entry(id)) == [1_200, 0, 1_200, 0, 0, 1_200])
            let early = TransactionID()
            #expect(try await bench.reverse(early).status == 200)
            #expect(try await bench.refund(700, of: id, id: early).outcome == .declined)
            #expect(try await bench.entry(id).refunded == 0)
        }
    }

    @Test func `a refund to the same card is declined for another one before anything is booked`() async throws {
        try await SandboxBench.run { bench in
            let id = try await bench.approved(1_200, .sale)
            for (card, outcome) in [("mastercard", AdapterOperationAnswer.Outcome.declined), ("visa", .approved)] {
                let read = try SandboxBench.request(300, card: card, type: .refund)
                let answer = try await bench.refund(300, of: id, id: read.id, card: .same, read: read)
                #expect(answer.outcome == outcome, "\(card)")
            }
            let read = try SandboxBench.request(300, card: "mastercard", type: .refund)
            #expect(try await bench.refund(300, of: id, id: read.id, card: .any, read: read).outcome == .approved)
            #expect(try await bench.entry(id).refunded == 600)
        }
    }

    @Test func `a reversal takes back what is left, and says how`() async throws {
        try await SandboxBench.run { bench in
            let id = try await bench.approved(2_000)
            _ = try await bench.capture(500, of: id, final: false)
            let answer = try await bench.reverse(id)
            #expect(try WireJSON.decode(ReversalAnswer.self, from: answer.body).how == .refunded)
            let entry = try await bench.entry(id)
            #expect(entry.state == .reversed && entry.outstanding == 0 && entry.reversed == 2_000)
            #expect(try await bench.capture(500, of: id).outcome == .declined)
        }
    }

    @Test func `an operation's key is its id, and counts once`() async throws {
        try await SandboxBench.run { bench in
            let id = try await bench.approved(2_000)
            let operation = OperationID()
            let first = try await bench.capture(700, of: id, final: false, id: operation)
            #expect(try await bench.capture(700, of: id, final: false, id: operation) == first)
            #expect(try await bench.operation(operation) == first)
            #expect(try await bench.entry(id).captured == 700)
            let other = CaptureRequest(id: operation, mode: .test, amount: try SandboxBench.euro(800), final: false)
            #expect(try await bench.operate("captures", on: id, other, key: operation.text).status == 422)
            #expect(try await bench.operate("captures", on: id, other, key: OperationID().text).status == 400)
            let stranger = TransactionID()
            let nobody = CaptureRequest(id: OperationID(), mode: .test, amount: other.amount, final: true)
            #expect(try await bench.operate("captures", on: stranger, nobody, key: nobody.id.text).status == 404)
            #expect(try await bench.operation(nobody.id) == nil)
            #expect(try await bench.ledger().unseenOperations == [])
        }
    }

    @Test func `what the sandbox is told to do without is declined and not said in its health`() async throws {
        try await SandboxBench.run(features: [.sale, .preauth, .capture]) { bench in
            let health = try WireJSON.decode(AdapterHealth.self, from: try await bench.get("/v1/health").body)
            #expect(health.supports == ["sale", "preauth", "capture"])
            let id = try await bench.approved(2_000)
            #expect(try await bench.release(100, of: id).reason == .notSupported)
            #expect(try await bench.capture(100, of: id, final: false).reason == .notSupported)
            #expect(try await bench.capture(100, of: id).outcome == .approved)
        }
    }
}
