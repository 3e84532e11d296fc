// SPDX-License-Identifier: Apache-2.0
import CardSim
import Loyalty
import ReaderCore
import ReaderVirtual
import Testing

@testable import TapSession

/// A phone with pass and card that goes, or talks nonsense, at each of its commands in turn.
@Suite struct CombinedFaultTests {
    private struct Ended {
        var ending: PassAndPaymentTap.Ending
        var passes: LoyaltyOutcome?
        var payment: PaymentTapResult?
        var commands: Int
    }

    static let phones = ["apple-pass", "apple-two-passes", "google-pass", "google-second-select"]
    /// More than any of them is asked.
    static let mostCommands = 12

    @Test(arguments: phones, ["card-gone after", "garbage at", "status 6F00 at"])
    func `a fault at any command of pass or payment ends in an outcome, and a pass that is there stays`(
        phone: String, fault: String
    ) throws {
        var whole = 0
        for command in 1...CombinedFaultTests.mostCommands {
            let ended = try run(phone, fault: "fault \(fault) \(command)")
            switch ended.ending {
            case .paid:
                #expect(ended.payment != nil)
            case .failed(let error):
                #expect(error == .reader(.timedOut) || error == .reader(.cardLost), "\(command): \(error)")
                #expect(ended.payment == nil)
            case .stoppedOnPass:
                Issue.record("not asked for")
            }
            #expect(ended.passes != nil || ended.ending == .failed(.reader(.timedOut)), "\(command)")
            if ended.passes?.hasPass == true {
                #expect(ended.passes?.member("club") == "MEMBER-0001", "\(command)")
            }
            if ended.passes?.hasPass == true, ended.payment?.read != nil { whole += 1 }
        }
        #expect(whole >= 1, "a fault behind the last command is none")
    }

    private func run(_ phone: String, fault: String) throws -> Ended {
        let bench = try LoyaltyBench()
        let template = try TapBench(milliseconds: 300)
        try bench.present(phone, payment: "visa")
        try bench.control.obey(fault)
        let tap = try #require(
            PassAndPaymentTap(
                loyalty: try bench.tap(.passesAndPayment(stopOnPass: false), presentations: 2, milliseconds: 300),
                payment: template.tap))
        var passes: LoyaltyOutcome?
        var payment: PaymentTapResult?
        let ending = tap.run(
            on: bench.reader, cancellation: bench.cancellation, onLoyaltySignal: { _ in }, onSignal: { _ in },
            deliverPasses: { passes = $0 }, deliverPayment: { payment = $0 })
        #expect(try bench.control.obey("state").contains("field=off"))
        #expect(try bench.control.obey("state").contains("broadcast=-"))
        let commands = bench.reader.takeTranscript().steps.count {
            if case .exchanged = $0 { true } else { false }
        }
        return Ended(ending: ending, passes: passes, payment: payment, commands: commands)
    }
}
