// SPDX-License-Identifier: Apache-2.0
import CardSim
import Foundation
import PSPAPI
import PaymentValues
import ReaderVirtual
import TestSupport

/// What a till believes of one tap in the end: a line of JSON for whoever holds it against the books.
struct TapBelief: Codable, Sendable {
    let id: String
    let kind: String
    /// `approved`, `declined`, `reversed`, or `open`.
    var belief: String
    /// Minor units: approved, taken for good, and given back.
    var approved: Int64 = 0
    var taken: Int64 = 0
    var refunded: Int64 = 0
    /// An operation without a final answer.
    var hasOpenOperation = false
    /// From the request to what the till believes.
    var milliseconds = 0.0
}

/// One till's day: taps one after the other, and what follows some of them.
struct ShopDay: Sendable {
    let till: TestTill
    let number: Int
    let taps: Int
    let seed: UInt64
    /// Amounts that make the acquirer's host fail: 93 to 99 cents.
    let hasFaults: Bool
    /// Sales and nothing else.
    let isPlain: Bool
    let pause: Duration
    let end: ContinuousClock.Instant

    private static let faults: [Int64] = [93, 94, 95, 96, 97, 98, 99]
    private static let declines: [Int64] = [5, 10, 51, 65, 91]

    private func amount(_ dice: inout SeededGenerator) -> Int64 {
        let whole = Int64.random(in: 2...90, using: &dice) * 100
        guard hasFaults else { return whole }
        switch Int.random(in: 0..<20, using: &dice) {
        case 0: return whole + Self.faults[Int.random(in: 0..<Self.faults.count, using: &dice)]
        case 1: return whole + Self.declines[Int.random(in: 0..<Self.declines.count, using: &dice)]
        default: return whole
        }
    }

    func run(_ tell: (TapBelief) async throws -> Void) async throws {
        var dice = SeededGenerator(seed: seed &* 1_000_003 &+ UInt64(number))
        var till = till
        let reader = try VirtualReaderControl(name: "till-\(number)") { _ in nil }
        try reader.present(CardCatalogue.visa(account: UInt32(number)), named: "visa")
        till.reader = reader
        // Not all of them at the same moment.
        if pause > .zero { try await Task.sleep(for: pause * Double(number % 997) / 997) }
        for _ in 0..<taps where ContinuousClock.now < end {
            let told = try await tap(till, &dice)
            try await tell(told)
            // Nobody was asked: a person at the till would not try again at once.
            if told.belief == "declined", hasFaults { try await Task.sleep(for: .milliseconds(200)) }
            if pause > .zero { try await Task.sleep(for: pause) }
        }
    }

    private func tap(_ till: TestTill, _ dice: inout SeededGenerator) async throws -> TapBelief {
        let value = amount(&dice)
        let choice = isPlain ? 0 : Int.random(in: 0..<100, using: &dice)
        let isHold = (80..<92).contains(choice)
        let request = try await till.sale(value, isHold ? .preauth : .sale)
        var told = TapBelief(id: request.id.text, kind: isHold ? "preauth" : "sale", belief: "open")
        let begin = ContinuousClock.now
        let belief: TestTill.Belief
        do { belief = try await till.pay(request, cancels: choice >= 96) } catch is Hung { return told }
        told.milliseconds = (ContinuousClock.now - begin) / .milliseconds(1)
        switch belief {
        case .declined: told.belief = "declined"
        case .reversed: told.belief = "reversed"
        case .approved(let approved):
            (told.belief, told.approved, told.taken) = ("approved", approved, isHold ? 0 : approved)
            if isHold {
                try await follow(&told, request.id, till, choice)
            } else if (92..<96).contains(choice) {
                let half = max(1, approved / 2)
                let done = try await till.refund(half, of: request.id)
                told.refunded = done == .approved ? half : 0
                told.hasOpenOperation = done == .open
            }
        }
        return told
    }

    /// A hold is taken whole, taken in part, taken in two parts, or given up.
    private func follow(_ told: inout TapBelief, _ id: TransactionID, _ till: TestTill, _ choice: Int) async throws {
        let half = told.approved / 2
        var done: [TestTill.OperationBelief] = []
        switch choice {
        case 80..<84:
            done = [try await till.capture(told.approved, of: id, final: true)]
            if done == [.approved] { told.taken = told.approved }
        case 84..<87:
            done = [try await till.capture(half, of: id, final: true)]
            if done == [.approved] { told.taken = half }
        case 87..<90:
            for isFinal in [false, true] {
                done.append(try await till.capture(half, of: id, final: isFinal))
                if done.last == .approved { told.taken += half }
            }
        default: done = [try await till.release(told.approved, of: id)]
        }
        told.hasOpenOperation = done.contains(.open)
    }
}
