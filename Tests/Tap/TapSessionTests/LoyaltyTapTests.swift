// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Codes
import Loyalty
import ReaderCore
import ReaderVirtual
import Testing

@testable import TapSession

@Suite struct LoyaltyTapTests {
    @Test(arguments: [
        ("apple-pass", PassStatus.delivered, CustomerAction.nothing),
        ("apple-two-passes", .delivered, .nothing),
        ("apple-gift", .noPass, .nothing),
        ("apple-no-pass", .noPass, .nothing),
        ("apple-locked", .locked, .unlockPhone),
        ("apple-unlocks", .delivered, .nothing),
        ("apple-choice", .choiceNeeded, .choosePass),
        ("apple-sign-up", .noPass, .nothing),
        ("apple-version-2", .unsupportedVersion, .askStaff),
        ("google-pass", .delivered, .nothing),
        ("google-several", .delivered, .nothing),
        ("google-chained", .delivered, .nothing),
        ("google-no-pass", .noPass, .nothing),
        ("google-locked", .locked, .unlockPhone),
        ("google-unlocks", .delivered, .nothing),
        ("google-choice", .choiceNeeded, .choosePass),
        ("google-transient", .delivered, .nothing),
        ("google-wrong-signature", .authenticationFailed(StatusWord(0x9500)), .askStaff),
        ("google-forged", .unreadable(.notAuthentic), .askStaff),
        ("google-plaintext", .unreadable(.notEncrypted), .askStaff),
        ("google-version-2", .unsupportedVersion, .askStaff),
        ("google-second-select", .delivered, .nothing),
        ("google-not-ready", .delivered, .nothing),
        ("google-busy", .delivered, .nothing),
        ("member-tag", .delivered, .nothing),
        ("member-card", .noPass, .nothing),
        ("random-uid", .noPass, .askStaff),
    ])
    func `every wallet ends as its state says`(name: String, club: PassStatus, action: CustomerAction) throws {
        let bench = try LoyaltyBench()
        try bench.present(name)
        // Of a phone that stays as it is the first look says all.
        let staysSo = action == .unlockPhone || action == .choosePass
        let outcome = try bench.run(try bench.tap(presentations: staysSo ? 0 : 3))
        #expect(outcome.status("club") == club)
        #expect(outcome.customerAction == action)
        #expect(bench.signals.contains(.cardDetected))
        if club == .delivered { #expect(outcome.member("club") != nil) }
    }

    @Test func `a read of passes alone ends with the first pass of an iPhone`() throws {
        let bench = try LoyaltyBench()
        try bench.present("apple-two-passes")
        let outcome = try bench.run(try bench.tap())
        #expect(outcome.member("club") == "MEMBER-0001")
        #expect(outcome.status("voucher") == .notAsked)
    }

    @Test func `a phone that only takes invitations gets one`() throws {
        let bench = try LoyaltyBench()
        try bench.present("apple-sign-up")
        var tap = try bench.tap()
        let club = try VASMerchant(
            passTypeIdentifier: WalletTestKeys.clubPassType, wish: .signUpOnly(url: "https://loyalty.example/join"))
        tap.request = try LoyaltyRequest(programmes: [
            try LoyaltyProgramme(id: "club", displayName: "Test Club", apple: club)
        ])
        let outcome = try bench.run(tap)
        #expect(outcome.status("club") == .signUpSent)
        #expect(outcome.customerAction == .followSignUp)
        #expect(try bench.control.obey("state").contains("feedback=read"))
    }

    @Test(arguments: CardCatalogue.names)
    func `a read of passes uses nothing of a payment, whatever is presented`(name: String) throws {
        let bench = try LoyaltyBench()
        try bench.present(name, payment: "visa")
        _ = try? bench.run(try bench.tap(presentations: 2))
        var allowed: Set = [LoyaltyBench.wallet, LoyaltyBench.smartTap, LoyaltyBench.tag]
        // Its UID would be a member number: it is asked whether it can pay (decision 150). No application has so short a name.
        if name == "member-card" {
            allowed.formUnion([Array("2PAY.SYS.DDF01".utf8)].map { Hex.string($0) })
            allowed.formUnion(PaymentNetwork.providersWithKernel.map { Hex.string($0) })
        }
        #expect(!bench.selections.isEmpty)
        #expect(Set(bench.selections).isSubset(of: allowed), "\(bench.selections)")
    }

    @Test func `a phone that stays locked keeps the reader no longer than the deadline, and its outcome says why`()
        throws
    {
        let bench = try LoyaltyBench()
        try bench.present("apple-locked")
        let outcome = try bench.run(try bench.tap(presentations: .max, milliseconds: 1_000))
        #expect(outcome.status("club") == .locked)
        #expect(outcome.ending == .stopped)
        #expect(bench.signals.count { $0 == .show(.again(.unlockPhone)) } == 1)
    }

    @Test func `without anything in time there is an error and a released reader`() throws {
        let bench = try LoyaltyBench()
        #expect(throws: ReaderError.timedOut) { try bench.run(try bench.tap(milliseconds: 20)) }
        #expect(try bench.control.obey("state").contains("field=off"))
    }

    @Test func `a wish to stop ends the wait, also while a phone is locked`() throws {
        let bench = try LoyaltyBench()
        bench.cancellation.cancel()
        #expect(throws: ReaderError.cancelled) { try bench.run(try bench.tap()) }
        try bench.present("apple-locked")
        #expect(throws: ReaderError.cancelled) { try bench.run(try bench.tap()) }
    }

    @Test(arguments: 1...6, ["apple-pass", "google-pass", "member-tag"])
    func `a phone torn away at any command ends in an outcome or finds nothing more`(command: Int, name: String) throws
    {
        let bench = try LoyaltyBench()
        try bench.present(name)
        try bench.control.obey("fault card-gone after \(command)")
        let tap = try bench.tap(milliseconds: 400)
        do throws(ReaderError) {
            let outcome = try bench.run(tap)
            #expect(outcome.hasPass || outcome.status("club") == .cardLost)
        } catch {
            #expect(error == .timedOut)
        }
    }

    @Test(arguments: 1...6, ["apple-pass", "google-pass", "member-tag"])
    func `a malformed answer to any command ends in an outcome`(command: Int, name: String) throws {
        let bench = try LoyaltyBench()
        try bench.present(name)
        try bench.control.obey("fault garbage at \(command)")
        let outcome = try bench.run(try bench.tap(milliseconds: 2_000))
        #expect(outcome.status("club") != .notAsked)
    }

    @Test func `a vanished reader is an error`() throws {
        let bench = try LoyaltyBench()
        try bench.control.obey("detach")
        #expect(throws: ReaderError.detached) { try bench.run(try bench.tap()) }
    }

    @Test func `a pass lights the lamp for read, none the one for error`() throws {
        let bench = try LoyaltyBench()
        try bench.present("google-pass")
        _ = try bench.run(try bench.tap())
        #expect(try bench.control.obey("state").contains("feedback=read"))
        try bench.control.obey("remove")
        try bench.present("apple-no-pass")
        _ = try bench.run(try bench.tap())
        #expect(try bench.control.obey("state").contains("feedback=error"))
    }
}
