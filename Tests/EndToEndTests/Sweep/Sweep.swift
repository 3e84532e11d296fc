// SPDX-License-Identifier: Apache-2.0
import CardSim
import Foundation
import POSAPI
import PaymentValues
import TapClient
import TestSupport

/// What a customer comes for.
enum SweepWish: String, CaseIterable, Sendable {
    case payment, passes

    var card: String { self == .payment ? "visa" : "apple-pass" }
    var end: TransactionState { self == .payment ? .approved : .completed }
    /// Commands that the card gets, and one that it does not.
    var steps: ClosedRange<Int> { self == .payment ? 1...5 : 1...3 }

    var request: TransactionRequest {
        get throws {
            guard let currency = Currency("EUR") else { throw Trouble.missing("EUR") }
            var request =
                self == .payment
                ? TransactionRequest(type: .purchase, amount: Money(value: 700, currency: currency))
                : TransactionRequest(type: .loyalty, amount: .none)
            (request.detached, request.deadline) = (true, 60)
            return request
        }
    }
}

/// Customers at one lane, one after the other: one with faults, then one without.
struct Sweep<Desk: SweepDesk>: Sendable {
    let till: SweepTill
    let desk: Desk

    /// One fault at one command.
    ///
    /// - Returns: what was wrong; nothing where all was right.
    func run(_ fault: SweepFault<Desk>, at step: Int, _ wish: SweepWish) async -> [String] {
        await round("\(fault.name)\(fault.isStepped ? " at \(step)" : ""), \(wish)") {
            try await serve(fault, at: step, wish)
        }
    }

    /// One to three faults at random, at any command and of any length, and then a card that has none.
    ///
    /// - Returns: what was wrong, with the seed; nothing where all was right.
    func run(random seed: UInt64, of all: [SweepFault<Desk>]) async -> [String] {
        var random = SeededGenerator(seed: seed)
        let wish = Int.random(in: 0..<4, using: &random) == 0 ? SweepWish.passes : .payment
        // Reads of passes take what a payment may not be made with.
        let choice = wish == .passes ? all.filter { !$0.mayNotPay } : all
        let story = (0..<Int.random(in: 1...3, using: &random)).compactMap { _ -> SweepChapter<Desk>? in
            choice.randomElement(using: &random).map { SweepChapter($0, wish, &random) }
        }
        return await round("seed \(seed): \(story), \(wish)") { try await serve(story, wish) }
    }

    private func round(_ name: String, _ customer: () async throws -> [String]) async -> [String] {
        do {
            var wrong = try await customer()
            desk.remove()
            try desk.repair()
            if let next = try await nextCustomer() { wrong.append(next) }
            return wrong.map { "\(desk.lane): \(name): \($0)" }
        } catch {
            return ["\(desk.lane): \(name): \(error)"]
        }
    }

    private func serve(_ fault: SweepFault<Desk>, at step: Int, _ wish: SweepWish) async throws -> [String] {
        let id = try await till.begin(wish, on: desk.lane)
        try await fault.present(desk, wish.card, step)
        var wrong: [String] = []
        // Moved by nobody.
        var end = try await till.end(
            of: id, orArmedFor: fault.paysUnmoved ? .seconds(10) : .milliseconds(1_300),
            orReadFor: fault.paysUnmoved ? hangLimit : .seconds(4))
        if fault.paysUnmoved, end.state != wish.end, !mayFail(end, fault.mayFail) {
            wrong.append("does not pay where it lies: \(words(end))")
        }
        if fault.mayNotPay, end.state == .approved { wrong.append("is taken for a contactless card") }
        end = try await present(wish, end)
        return wrong + (try await judge(end, wish, mayFail: fault.mayFail))
    }

    private func serve(_ story: [SweepChapter<Desk>], _ wish: SweepWish) async throws -> [String] {
        let id = try await till.begin(wish, on: desk.lane)
        var end = try await till.look(at: id)
        var wrong: [String] = []
        var mayPay = false
        for chapter in story where !end.state.isSettled {
            try await chapter.fault.present(desk, wish.card, chapter.step)
            mayPay = mayPay || !chapter.fault.mayNotPay
            try await Task.sleep(for: chapter.stay)
            if chapter.isRepairedFirst { try desk.repair() }
            desk.remove()
            try desk.repair()
            try await Task.sleep(for: chapter.absence)
            end = try await till.look(at: id)
            if end.state == .approved, !mayPay { wrong.append("is taken for a contactless card") }
        }
        end = try await present(wish, try await till.end(of: id, orArmedFor: .zero))
        // Three presentations that came to nothing are all that a customer has.
        let failures: Set<String> = story.count < 3 ? [] : ["read.retries_exhausted"]
        let named = story.reduce(into: failures) { $0.formUnion($1.fault.mayFail) }
        return wrong + (try await judge(end, wish, mayFail: named))
    }

    /// Presents a card without a fault until the transaction has ended, four times at most.
    private func present(_ wish: SweepWish, _ seen: Transaction) async throws -> Transaction {
        var end = seen
        for _ in 0..<3 where !end.state.isSettled {
            desk.remove()
            try desk.repair()
            try await Task.sleep(for: .milliseconds(250))
            try desk.insert(named: wish.card)
            end = try await till.end(of: end.id, orArmedFor: .seconds(5))
        }
        return end
    }

    private func judge(_ end: Transaction, _ wish: SweepWish, mayFail failures: Set<String>) async throws -> [String] {
        var wrong: [String] = []
        if !end.state.isSettled {
            wrong.append("no end after three more presentations: \(words(end))")
            try await till.cancel(end.id)
        } else if end.state != wish.end, !mayFail(end, failures) {
            wrong.append("ends as \(words(end))")
        }
        if end.state == .failed, end.error?.message.isEmpty != false || end.error?.resolution.isEmpty != false {
            wrong.append("fails without a word")
        }
        return wrong
    }

    private func mayFail(_ end: Transaction, _ failures: Set<String>) -> Bool {
        end.state == .failed && failures.contains(end.error?.code ?? "")
    }

    /// - Returns: what keeps this one from paying.
    private func nextCustomer() async throws -> String? {
        let tones = desk.tones
        let id = try await till.begin(.payment, on: desk.lane)
        try desk.insert(named: "visa")
        let end = try await till.end(of: id, orArmedFor: .seconds(15))
        defer { desk.remove() }
        guard end.state == .approved else {
            if !end.state.isSettled { try await till.cancel(id) }
            return "the next customer does not pay: \(words(end))"
        }
        guard let tones else { return nil }
        // What the reader shows comes after the result.
        try await Task.sleep(for: .milliseconds(400))
        let heard = (desk.tones ?? 0) - tones
        return heard == 1 ? nil : "an approved payment gives \(heard) tones"
    }

    private func words(_ seen: Transaction) -> String {
        let events = (seen.events ?? []).map { event in
            event.name.rawValue + (event.error.map { " (\($0.code))" } ?? "")
        }
        return "\(seen.state) \(seen.error?.code ?? "") \(events)"
    }
}

/// One fault of a customer's, when it comes, and how long what is presented stays and is away.
struct SweepChapter<Desk: SweepDesk>: Sendable, CustomStringConvertible {
    let fault: SweepFault<Desk>
    let step: Int
    let stay: Duration
    let absence: Duration
    /// The fault ends while the card lies there.
    let isRepairedFirst: Bool

    init(_ fault: SweepFault<Desk>, _ wish: SweepWish, _ random: inout SeededGenerator) {
        self.fault = fault
        step = Int.random(in: wish.steps, using: &random)
        stay = .milliseconds(Int.random(in: 0...800, using: &random))
        absence = .milliseconds(Int.random(in: 0...300, using: &random))
        isRepairedFirst = Bool.random(using: &random)
    }

    var description: String {
        "\(fault.name)\(fault.isStepped ? " at \(step)" : "") for \(stay), away for \(absence)"
            + (isRepairedFirst ? ", repaired first" : "")
    }
}
