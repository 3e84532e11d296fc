// SPDX-License-Identifier: Apache-2.0
import CardSim
import Foundation
import POSAPI
import PSPSandbox
import PaymentValues
import ReaderVirtual
import TestSupport
import Testing

@testable import TapDaemon

/// F1: a card that wobbles while it is presented must not leave a sale without an end (rule R3).
@Suite("F1 cards that wobble", .timeLimit(.minutes(240)))
struct WobbleTests {
    private static let loyalty =
        #","detached":true,"loyalty":{}"#

    @Test("F1: two cards, then one of them alone: the sale is approved", arguments: ["", loyalty])
    func collision(more: String) async throws {
        try await Shop.withSandbox { shop, _ in
            try shop.reader.obey("present visa")
            try shop.reader.obey("collide")
            let id = try await shop.post(purchase(700, more: more)).transaction().id
            try await shop.event(.readRetry, of: id)
            try shop.reader.obey("remove")
            try shop.reader.obey("present visa")
            #expect(try await shop.reach(WobbleTests.ends, id).state == .approved)
            #expect(try shop.journal("SELECT state FROM payment WHERE id = '\(id)'") == "approved")
        }
    }

    @Test("F2: two cards that stay are told of once")
    func staying() async throws {
        let folder = try TestFolder()
        try await Shop.open(in: folder) { shop in
            try shop.reader.obey("present visa")
            try shop.reader.obey("collide")
            let id = try await shop.post(purchase(700, more: #","detached":true"#)).transaction().id
            try await shop.event(.readRetry, of: id)
            // The reader looks some twenty times a second.
            try await Task.sleep(for: .milliseconds(500))
            _ = try await shop.delete("/v1/transactions/\(id)")
            let events = try #require(try await shop.get("/v1/transactions/\(id)").transaction().events)
            #expect(events.count { $0.name == .readRetry } == 1)
        }
    }

    @Test(
        "F1 R3: whatever a card does at any command, the sale ends in the journal and the next customer pays",
        arguments: ["", loyalty])
    func random(more: String) async throws {
        let folder = try TestFolder()
        var wish = Shop.Wish()
        wish.lanes = 8
        try await withSandbox(in: folder) { sandbox in
            try await Shop.open(in: folder, wish) { shop in
                let seeds = WorkList(0..<WobbleTests.rounds)
                let approved = try await withThrowingTaskGroup(of: [TransactionID].self) { group in
                    for lane in 0..<wish.lanes {
                        group.addTask {
                            var approved: [TransactionID] = []
                            while let seed = seeds.next() {
                                approved += try await round(seed, lane, more, shop)
                            }
                            return approved
                        }
                    }
                    return try await group.reduce(into: []) { $0 += $1 }
                }
                // What was charged is what tills were told, once each.
                let booked = await sandbox.ledger.transactions.filter { $0.state == .approved }.map(\.id)
                #expect(Set(booked) == Set(approved) && booked.count == approved.count)
            }
        }
    }

    /// One customer with a card or several that wobble, and the next one with a card that does not.
    ///
    /// - Returns: what was approved.
    private func round(_ seed: Int, _ lane: Int, _ more: String, _ shop: Shop) async throws -> [TransactionID] {
        var random = SeededGenerator(seed: UInt64(seed))
        let reader = shop.readers[lane]
        let place = #","lane":"lane-\#(lane)""#
        let id = try await shop.post(purchase(700, more: (more.isEmpty ? #","detached":true"# : more) + place))
            .transaction().id
        var story: [String] = []
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let command = WobbleTests.command(&random)
            story.append(command)
            // Nothing to collide with, or a card that is there already: that is the story, too.
            do { try reader.obey(command) } catch {}
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...30, using: &random)))
        }
        let end = try await present("visa", to: reader, until: id, shop)
        let written = try shop.journal("SELECT state FROM payment WHERE id = '\(id)'")
        #expect(end?.state.isSettled == true, "seed \(seed): \(story)")
        #expect(end?.state != .failed || end?.error != nil, "seed \(seed): \(story)")
        #expect(written == end?.state.rawValue, "seed \(seed): \(story)")
        for command in ["fault none", "remove"] { try reader.obey(command) }
        try await eventually("lane \(lane), which is ready, after seed \(seed): \(story)") {
            await shop.runner.laneStatuses().first { $0.name == "lane-\(lane)" }?.state == .ready
        }
        let next = try await shop.post(purchase(800, more: #","detached":true"# + place)).transaction().id
        let paid = try await present("visa", to: reader, until: next, shop)
        #expect(paid?.state == .approved, "the customer after seed \(seed): \(story)")
        try reader.obey("remove")
        return [end, paid].compactMap(\.self).filter { $0.state == .approved }.map(\.id)
    }

    /// Holds a card to the reader again and again until the transaction has ended, as a customer does.
    private func present(
        _ card: String, to reader: VirtualReaderControl, until id: TransactionID, _ shop: Shop
    ) async throws -> Transaction? {
        let deadline = ContinuousClock.now.advanced(by: hangLimit)
        var seen = try await shop.runner.transaction(id)
        while seen?.state.isSettled != true, ContinuousClock.now < deadline {
            // A card that is being read is left where it is.
            if seen?.state != .reading {
                for command in ["fault none", "remove", "present \(card)"] { try reader.obey(command) }
            }
            try await Task.sleep(for: .milliseconds(100))
            seen = try await shop.runner.transaction(id)
        }
        return seen
    }

    private static let ends: Set<TransactionState> = [.approved, .declined, .failed, .cancelled, .completed]
    private static let rounds = ProcessInfo.processInfo.environment["NFC_TAP_WOBBLES"].flatMap(Int.init) ?? 500

    private static func command(_ random: inout SeededGenerator) -> String {
        let at = Int.random(in: 1...6, using: &random)
        return [
            "present visa", "present visa", "present mastercard", "collide", "remove", "swap visa",
            "fault card-gone after \(at)", "fault mute at \(at)", "fault garbage at \(at)",
            "fault status 6F00 at \(at)",
            "fault none",
        ].randomElement(using: &random) ?? "remove"
    }
}

extension Shop {
    /// Waits until the transaction has had an event of this name.
    fileprivate func event(_ name: EventName, of id: TransactionID) async throws {
        try await eventually(name.rawValue) {
            let events = try await get("/v1/transactions/\(id)").transaction().events ?? []
            return events.contains { $0.name == name }
        }
    }
}
