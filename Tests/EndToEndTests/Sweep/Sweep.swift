// SPDX-License-Identifier: Apache-2.0
import CardSim
import Foundation
import Synchronization
import TapClient
import TestSupport
import Wire

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

/// Payments that a till was told are approved.
final class Approvals: Sendable {
    private let ids = Mutex<[String]>([])
    func add(_ id: TransactionID) { ids.withLock { $0.append("\(id)") } }
    var all: [String] { ids.withLock { $0 } }
}

/// Customers at one lane, one after the other: one with a fault, then one without.
struct Sweep<Desk: SweepDesk>: Sendable {
    let client: TapClient
    let desk: Desk
    let approved: Approvals

    /// - Returns: what was wrong; nothing where all was right.
    func run(_ fault: SweepFault<Desk>, at step: Int, _ wish: SweepWish) async -> [String] {
        let name = "\(desk.lane): \(fault.name)\(fault.isStepped ? " at \(step)" : ""), \(wish)"
        do {
            var wrong = try await serve(fault, at: step, wish)
            desk.remove()
            try desk.repair()
            if let next = try await nextCustomer() { wrong.append(next) }
            return wrong.map { "\(name): \($0)" }
        } catch {
            return ["\(name): \(error)"]
        }
    }

    private func serve(_ fault: SweepFault<Desk>, at step: Int, _ wish: SweepWish) async throws -> [String] {
        let id = try await begin(wish)
        try fault.present(desk, wish.card, step)
        var wrong: [String] = []
        // Moved by nobody.
        var end = try await end(
            of: id, orArmedFor: fault.paysUnmoved ? .seconds(10) : .milliseconds(1_300),
            orReadFor: fault.paysUnmoved ? hangLimit : .seconds(4))
        if fault.paysUnmoved, end.state != wish.end, !mayFail(end, fault) {
            wrong.append("does not pay where it lies: \(words(end))")
        }
        if fault.mayNotPay, end.state == .approved { wrong.append("is taken for a contactless card") }
        if end.state == .approved { approved.add(id) }
        var presentations = 1
        while !end.state.isSettled, presentations < 4 {
            desk.remove()
            try desk.repair()
            try await Task.sleep(for: .milliseconds(250))
            try desk.insert(named: wish.card)
            presentations += 1
            end = try await self.end(of: id, orArmedFor: .seconds(5))
            if end.state == .approved { approved.add(id) }
        }
        if !end.state.isSettled {
            wrong.append("no end after \(presentations) presentations: \(words(end))")
            _ = try await client.cancel(id)
        } else if end.state != wish.end, !mayFail(end, fault) {
            wrong.append("ends as \(words(end))")
        }
        if end.state == .failed, end.error?.message.isEmpty != false || end.error?.resolution.isEmpty != false {
            wrong.append("fails without a word")
        }
        return wrong
    }

    private func mayFail(_ end: Transaction, _ fault: SweepFault<Desk>) -> Bool {
        end.state == .failed && fault.mayFail.contains(end.error?.code ?? "")
    }

    /// - Returns: what keeps this one from paying.
    private func nextCustomer() async throws -> String? {
        let tones = desk.tones
        let id = try await begin(.payment)
        try desk.insert(named: "visa")
        let end = try await end(of: id, orArmedFor: .seconds(15))
        defer { desk.remove() }
        guard end.state == .approved else {
            if !end.state.isSettled { _ = try await client.cancel(id) }
            return "the next customer does not pay: \(words(end))"
        }
        approved.add(id)
        guard let tones else { return nil }
        // What the reader shows comes after the result.
        try await Task.sleep(for: .milliseconds(400))
        let heard = (desk.tones ?? 0) - tones
        return heard == 1 ? nil : "an approved payment gives \(heard) tones"
    }

    /// Waits until the lane is ready, and until it takes cards for this customer.
    private func begin(_ wish: SweepWish) async throws -> TransactionID {
        try await eventually("a lane that is ready") { try await client.lane(desk.lane).state == .ready }
        var request = try wish.request
        request.lane = desk.lane
        let tap = try await client.start(request, idempotencyKey: UUID().uuidString)
        try await eventually("a lane that takes a card") {
            let seen = try await client.transaction(tap.id)
            return seen.state.isSettled || seen.events?.contains { $0.name == .readReadyForTap } == true
        }
        return tap.id
    }

    /// The transaction once it has ended, or has waited for a card for so long, or has read one for far too long.
    private func end(
        of id: TransactionID, orArmedFor patience: Duration, orReadFor longest: Duration = hangLimit
    ) async throws -> Transaction {
        var armedSince: ContinuousClock.Instant?
        let begin = ContinuousClock.now
        while true {
            let seen = try await client.transaction(id)
            if seen.state.isSettled { return seen }
            let now = ContinuousClock.now
            armedSince = seen.state == .armed ? armedSince ?? now : nil
            if let armedSince, now - armedSince > patience { return seen }
            if seen.state == .reading, now - begin > longest { return seen }
            guard now - begin < hangLimit else { throw Hung(description: "the end of \(id): \(words(seen))") }
            try await Task.sleep(for: .milliseconds(40))
        }
    }

    private func words(_ seen: Transaction) -> String {
        let events = (seen.events ?? []).map { event in
            event.name.rawValue + (event.error.map { " (\($0.code))" } ?? "")
        }
        return "\(seen.state) \(seen.error?.code ?? "") \(events)"
    }
}
