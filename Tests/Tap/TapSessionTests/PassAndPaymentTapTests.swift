// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
import Loyalty
import ReaderCore
import ReaderVirtual
import Testing

@testable import TapSession

@Suite struct PassAndPaymentTapTests {
    private struct Ended {
        var ending: PassAndPaymentTap.Ending
        var result: CombinedTap.Result
        var passes: LoyaltyOutcome?
        var payment: PaymentTapResult?
        var transcript: Transcript
        var order: [String]
    }

    private func run(
        _ wallet: String, payment: String? = nil, stopOnPass: Bool, milliseconds: UInt64 = 3_000,
        fault: String? = nil
    ) throws -> Ended {
        let bench = try LoyaltyBench()
        let template = try TapBench(milliseconds: milliseconds)
        try bench.present(wallet, payment: payment)
        if let fault { try bench.control.obey(fault) }
        let tap = try #require(
            PassAndPaymentTap(
                loyalty: try bench.tap(.passesAndPayment(stopOnPass: stopOnPass), milliseconds: milliseconds),
                payment: template.tap))
        var passes: LoyaltyOutcome?
        var result: PaymentTapResult?
        var order: [String] = []
        let ending = tap.run(
            on: bench.reader, cancellation: bench.cancellation, onLoyaltySignal: { _ in }, onSignal: { _ in },
            deliverPasses: {
                passes = $0
                order.append("passes")
            },
            deliverPayment: {
                result = $0
                order.append("payment")
            })
        #expect(try bench.control.obey("state").contains("field=off"))
        return Ended(
            ending: ending, result: tap.result(passes: passes, payment: result), passes: passes, payment: result,
            transcript: bench.reader.takeTranscript(), order: order)
    }

    @Test(arguments: ["apple-pass", "google-pass"])
    func `stop on pass, a pass comes first: pass only, and nothing of a payment is selected`(wallet: String) throws {
        let ended = try run(wallet, payment: "visa", stopOnPass: true)
        #expect(ended.ending == .stoppedOnPass)
        #expect(ended.result == .passOnly)
        #expect(ended.passes?.member("club") == "MEMBER-0001")
        #expect(!LoyaltyBench.selections(in: ended.transcript).contains(LoyaltyBench.paymentDirectory))
    }

    @Test(arguments: ["visa", "mastercard"])
    func `stop on pass, a card comes first: payment only, on the same activation`(card: String) throws {
        let ended = try run(card, stopOnPass: true)
        #expect(ended.ending == .paid)
        #expect(ended.result == .paymentOnly)
        #expect(ended.payment?.status == .onlineRequest)
        #expect(activations(ended.transcript) == 1)
    }

    @Test(arguments: [("apple-pass", "visa"), ("apple-pass", "mastercard"), ("google-pass", "visa")])
    func `no stop, phone with pass and card: both, the pass first`(wallet: String, card: String) throws {
        let ended = try run(wallet, payment: card, stopOnPass: false)
        #expect(ended.ending == .paid)
        #expect(ended.result == .both)
        #expect(ended.order == ["passes", "payment"])
        #expect(ended.passes?.member("club") == "MEMBER-0001")
        #expect(ended.payment?.status == .onlineRequest)
        let selections = LoyaltyBench.selections(in: ended.transcript)
        let first = try #require(selections.firstIndex(of: LoyaltyBench.paymentDirectory))
        #expect(selections[..<first].contains(LoyaltyBench.wallet))
        #expect(!selections[first...].contains(LoyaltyBench.wallet))
    }

    @Test func `the passes of two programmes come before one payment`() throws {
        let ended = try run("apple-two-passes", payment: "visa", stopOnPass: false)
        #expect(ended.passes?.member("club") == "MEMBER-0001")
        #expect(ended.passes?.member("voucher") == "GIFT-4242")
        #expect(ended.result == .both)
    }

    @Test(arguments: ["apple-pass", "google-pass"])
    func `no stop, phone with only a pass: pass only`(wallet: String) throws {
        let ended = try run(wallet, stopOnPass: false)
        #expect(ended.result == .passOnly)
        #expect(ended.passes?.member("club") == "MEMBER-0001")
        #expect(ended.payment?.read == nil)
    }

    @Test func `no stop, plain card: payment only`() throws {
        let ended = try run("visa", stopOnPass: false)
        #expect(ended.ending == .paid)
        #expect(ended.result == .paymentOnly)
        #expect(ended.passes?.hasPass == false)
    }

    @Test(arguments: [true, false])
    func `a phone without our pass pays`(stopOnPass: Bool) throws {
        let ended = try run("apple-no-pass", payment: "visa", stopOnPass: stopOnPass)
        #expect(ended.result == .paymentOnly)
        #expect(ended.payment?.status == .onlineRequest)
    }

    @Test func `an iPhone is activated anew for the payment, with the field off in between`() throws {
        let ended = try run("apple-pass", payment: "visa", stopOnPass: false)
        #expect(activations(ended.transcript) == 2)
    }

    @Test func `a phone that leaves after its pass leaves the pass`() throws {
        let ended = try run(
            "apple-pass", payment: "visa", stopOnPass: false, milliseconds: 1_500, fault: "fault card-gone after 4")
        #expect(ended.ending == .failed(.reader(.timedOut)))
        #expect(ended.result == .passOnly)
    }

    @Test func `a phone that stays locked until the deadline pays nothing`() throws {
        let bench = try LoyaltyBench()
        let template = try TapBench(milliseconds: 1_000)
        try bench.present("apple-locked", payment: "visa")
        let tap = try #require(
            PassAndPaymentTap(
                loyalty: try bench.tap(
                    .passesAndPayment(stopOnPass: true), presentations: .max, milliseconds: 1_000),
                payment: template.tap))
        var delivered = 0
        let ending = tap.run(
            on: bench.reader, cancellation: bench.cancellation, onLoyaltySignal: { _ in }, onSignal: { _ in },
            deliverPasses: { #expect($0.status("club") == .locked) }, deliverPayment: { _ in delivered += 1 })
        #expect(ending == .failed(.reader(.timedOut)))
        #expect(delivered == 0)
    }

    @Test func `a wish for passes alone makes no combined tap`() throws {
        let bench = try LoyaltyBench()
        #expect(PassAndPaymentTap(loyalty: try bench.tap(.passes), payment: try TapBench().tap) == nil)
    }

    private func activations(_ transcript: Transcript) -> Int {
        transcript.steps.count { if case .activated = $0 { true } else { false } }
    }
}
