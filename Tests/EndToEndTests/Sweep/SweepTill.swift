// SPDX-License-Identifier: Apache-2.0
import Foundation
import POSAPI
import PaymentValues
import Synchronization
import TapClient
import TestSupport

/// The till of every lane of a sweep: what it asks the daemon, and what it was told is paid.
///
/// One user may open 200 connections in a second, and what comes beyond is closed without a word (`HTTPLimits`). All lanes are one
/// user's here, so calls take turns.
final class SweepTill: Sendable {
    private static let pace = Duration.milliseconds(7)
    private let client: TapClient
    private let next = Mutex(ContinuousClock.now)
    private let approved = Mutex<[String]>([])

    init(client: TapClient) { self.client = client }

    /// Payments that it was told are approved.
    var approvals: [String] { approved.withLock { $0 } }

    /// Asks for what the customer wishes, once the lane is ready; returns when it takes a card.
    func begin(_ wish: SweepWish, on lane: String) async throws -> TransactionID {
        try await eventually("a lane that is ready") {
            try await turn()
            return try await client.lane(lane).state == .ready
        }
        var request = try wish.request
        request.lane = lane
        try await turn()
        let tap = try await client.start(request, idempotencyKey: UUID().uuidString)
        try await eventually("a lane that takes a card") {
            let seen = try await look(at: tap.id)
            return seen.state.isSettled || seen.events?.contains { $0.name == .readReadyForTap } == true
        }
        return tap.id
    }

    func look(at id: TransactionID) async throws -> Transaction {
        try await turn()
        return try await client.transaction(id)
    }

    func cancel(_ id: TransactionID) async throws {
        try await turn()
        _ = try await client.cancel(id)
    }

    /// The transaction once it has ended, or has waited for a card for so long, or has read one for far too long.
    func end(
        of id: TransactionID, orArmedFor patience: Duration, orReadFor longest: Duration = hangLimit
    ) async throws -> Transaction {
        var armedSince: ContinuousClock.Instant?
        let begin = ContinuousClock.now
        while true {
            let seen = try await look(at: id)
            if seen.state.isSettled {
                if seen.state == .approved { approved.withLock { $0.append("\(id)") } }
                return seen
            }
            let now = ContinuousClock.now
            armedSince = seen.state == .armed ? armedSince ?? now : nil
            if let armedSince, now - armedSince > patience { return seen }
            if seen.state == .reading, now - begin > longest { return seen }
            guard now - begin < hangLimit else { throw Hung(description: "the end of \(id): \(seen.state)") }
            try await Task.sleep(for: .milliseconds(40))
        }
    }

    private func turn() async throws {
        let now = ContinuousClock.now
        let turn = next.withLock { next in
            let turn = max(next, now)
            next = turn.advanced(by: Self.pace)
            return turn
        }
        if turn > now { try await Task.sleep(until: turn, clock: .continuous) }
    }
}
