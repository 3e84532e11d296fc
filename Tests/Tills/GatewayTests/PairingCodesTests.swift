// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
import TestSupport
import Testing

@testable import Gateway

@Suite("Pairing codes")
struct PairingCodesTests {
    private let now = DoorTests.now
    private let draft = TillDraft(till: "bar-1", roles: [.cashier], lanes: ["main"])

    private func offer(_ desk: inout PairingCodes, _ till: String = "bar-1", after seconds: Int64 = 0) -> String {
        var system = SystemRandomNumberGenerator()
        var draft = draft
        draft.till = till
        return desk.offer(draft, at: now.advanced(bySeconds: seconds), using: &system)
    }

    @Test func `a code has eight characters that are not taken for each other`() {
        var desk = PairingCodes()
        for _ in 0..<200 {
            let code = offer(&desk)
            #expect(code.count == 9 && code.split(separator: "-").map(\.count) == [4, 4])
            #expect(code.allSatisfy { $0 == "-" || "23456789ABCDEFGHJKMNPQRSTUVWXYZ".contains($0) })
        }
    }

    @Test func `it is typed in any case, with dashes and blanks or without, and holds once`() {
        for change: (String) -> String in [
            { $0 }, { $0.lowercased() }, { $0.filter { $0 != "-" } }, { $0.map { " \($0)" }.joined() + "--" },
        ] {
            var desk = PairingCodes()
            let code = offer(&desk)
            #expect(desk.redeem(change(code), at: now) == .paired(draft))
            #expect(desk.redeem(change(code), at: now) == .spent)
        }
    }

    @Test func `it ends after five minutes`() {
        var desk = PairingCodes()
        let (first, second) = (offer(&desk, "bar-1"), offer(&desk, "bar-2"))
        #expect(desk.redeem(first, at: now.advanced(bySeconds: 299)) == .paired(draft))
        #expect(desk.redeem(second, at: now.advanced(bySeconds: 300)) == .spent)
    }

    @Test func `a new code of a till ends its old one, and no other`() {
        var desk = PairingCodes()
        let (old, other, new) = (offer(&desk), offer(&desk, "bar-2"), offer(&desk))
        #expect(desk.redeem(old, at: now) == .spent)
        #expect(desk.redeem(new, at: now) == .paired(draft))
        if case .paired = desk.redeem(other, at: now) {} else { Issue.record("the other till's code ended") }
    }

    @Test func `five wrong codes end every open one`() {
        var desk = PairingCodes()
        let codes = [offer(&desk), offer(&desk, "bar-2")]
        for _ in 0..<5 { #expect(desk.redeem("AAAA-AAAA", at: now) == .wrong) }
        for code in codes { #expect(desk.redeem(code, at: now) == .spent) }
    }

    @Test func `ten codes in a minute that pair nothing are enough for everybody`() {
        var desk = PairingCodes()
        for _ in 0..<10 { _ = desk.redeem("AAAA-AAAA", at: now) }
        let code = offer(&desk)
        guard case .tooOften(let seconds) = desk.redeem(code, at: now) else {
            return #expect(Bool(false), "an eleventh")
        }
        #expect((1...60).contains(seconds))
        #expect(desk.redeem(code, at: now.advanced(bySeconds: 60)) == .paired(draft))
    }

    @Test func `the code of a till that is revoked ends`() {
        var desk = PairingCodes()
        let code = offer(&desk)
        desk.withdraw("bar-1")
        #expect(desk.redeem(code, at: now) == .spent)
    }

    /// A second desk that is a list and nothing clever says what each code comes to.
    @Test(arguments: 0..<40)
    func `in any order of commands and attempts a code pairs at most once, in time, and unguessed`(
        seed: UInt64
    ) {
        var generator = SeededGenerator(seed: seed)
        var desk = PairingCodes()
        var open: [(code: String, till: String, until: Int64)] = []
        var (wrong, clock) = (0, Int64(0))
        var attempts: [Int64] = []
        for _ in 0..<300 {
            clock += Int64.random(in: 0...40, using: &generator)
            let time = now.advanced(bySeconds: clock)
            open.removeAll { $0.until <= clock }
            if Int.random(in: 0..<3, using: &generator) == 0 {
                var draft = draft
                draft.till = "bar-\(Int.random(in: 1...3, using: &generator))"
                open.removeAll { $0.till == draft.till }
                if open.isEmpty { wrong = 0 }
                let code = desk.offer(draft, at: time, using: &generator)
                open.append((code, draft.till, clock + 300))
                continue
            }
            let guess = Bool.random(using: &generator) ? nil : open.randomElement(using: &generator)
            attempts.removeAll { clock - $0 >= 60 }
            let redemption = desk.redeem(guess?.code ?? "0000-0000", at: time)
            if attempts.count >= 10 {
                guard case .tooOften = redemption else { return #expect(Bool(false), "\(redemption)") }
                continue
            }
            if let guess {
                guard case .paired(let draft) = redemption else { return #expect(Bool(false), "\(redemption)") }
                #expect(draft.till == guess.till)
                open.removeAll { $0.code == guess.code }
            } else {
                #expect(redemption == .wrong)
                attempts.append(clock)
                wrong += 1
                if wrong == 5 { (open, wrong) = ([], 0) }
            }
        }
    }
}

@Suite("How often a till may ask")
struct RateLimitsTests {
    private static let second: UInt64 = 1_000_000_000

    @Test func `thirty requests come at once, and ten a second after that`() {
        var limits = RateLimits()
        for _ in 0..<30 { #expect(limits.wait(of: "a", isCreating: false, at: 5) == nil) }
        #expect(limits.wait(of: "a", isCreating: false, at: 5) == 1)
        for _ in 0..<10 { #expect(limits.wait(of: "a", isCreating: false, at: 5 + Self.second) == nil) }
        #expect(limits.wait(of: "a", isCreating: false, at: 5 + Self.second) != nil)
    }

    @Test func `one till's haste is no other's`() {
        var limits = RateLimits()
        for _ in 0..<100 { _ = limits.wait(of: "a", isCreating: false, at: 0) }
        #expect(limits.wait(of: "b", isCreating: false, at: 0) == nil)
    }

    @Test func `sales have a pace of their own`() {
        var limits = RateLimits()
        for _ in 0..<3 { #expect(limits.wait(of: "a", isCreating: true, at: 0) == nil) }
        #expect(limits.wait(of: "a", isCreating: true, at: 0) == 1)
        #expect(limits.wait(of: "a", isCreating: false, at: 0) == nil)
        #expect(limits.wait(of: "a", isCreating: true, at: Self.second) == nil)
    }

    @Test func `refused tokens are counted for a minute`() {
        var window = FailureWindow()
        for _ in 0..<5 { #expect(window.failed(at: 0) == false) }
        #expect(window.failed(at: 59 * Self.second) == true)
        #expect(window.failed(at: 60 * Self.second) == false)
    }

    @Test func `a flood of refusals is few lines, and none is lost from the count`() {
        var ledger = RefusalLedger()
        for number in 0..<10_000 { ledger.note(.tokenUnknown, till: "till-\(number % 500)") }
        for _ in 0..<7 { ledger.note(.originRefused, till: nil) }
        let report = ledger.take()
        #expect(report.refusals.count <= 64)
        #expect(report.refusals.reduce(0) { $0 + $1.count } == 10_007)
        #expect(ledger.isEmpty)
        ledger.putBack(report)
        #expect(ledger.take().refusals.reduce(0) { $0 + $1.count } == 10_007)
    }
}
