// SPDX-License-Identifier: Apache-2.0
import CardSim
import Foundation
import ReaderVirtual
import TestSupport
import Testing
import Wire

@testable import TapDaemon

/// F1: a card that wobbles while it is presented must not leave a sale without an end (rule R3).
@Suite("F1 cards that wobble", .timeLimit(.minutes(240)))
struct WobbleTests {
    private static let loyalty =
        #","detached":true,"loyalty":{}"#

    @Test("F1: two cards, then one of them alone: the sale is approved", arguments: ["", loyalty])
    func collision(more: String) async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { _ in
            try await Shop.open(in: folder) { shop in
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

    @Test("F1 R3: whatever a card does at any command, the sale ends in the journal", arguments: ["", loyalty])
    func random(more: String) async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { _ in
            try await Shop.open(in: folder) { shop in
                for seed in 0..<WobbleTests.rounds {
                    var random = SeededGenerator(seed: UInt64(seed))
                    let id = try await shop.post(purchase(700, more: more.isEmpty ? #","detached":true"# : more))
                        .transaction().id
                    var story: [String] = []
                    for _ in 0..<Int.random(in: 1...6, using: &random) {
                        let command = WobbleTests.command(&random)
                        story.append(command)
                        // Nothing to collide with, or a card that is there already: that is the story, too.
                        do { try shop.reader.obey(command) } catch is VirtualCommandError {}
                        try await Task.sleep(for: .milliseconds(Int.random(in: 0...30, using: &random)))
                    }
                    let deadline = ContinuousClock.now.advanced(by: hangLimit)
                    var end = try await shop.store.transaction(id)
                    while end?.state.isSettled != true, ContinuousClock.now < deadline {
                        for command in ["fault none", "remove", "present visa"] { try shop.reader.obey(command) }
                        try await Task.sleep(for: .milliseconds(100))
                        end = try await shop.store.transaction(id)
                    }
                    let written = try shop.journal("SELECT state FROM payment WHERE id = '\(id)'")
                    #expect(end?.state.isSettled == true, "seed \(seed): \(story)")
                    #expect(written == end?.state.rawValue, "seed \(seed): \(story)")
                    for command in ["fault none", "remove"] { try shop.reader.obey(command) }
                    try await shop.lanes(are: .ready)
                }
            }
        }
    }

    private static let ends: Set<TransactionState> = [.approved, .declined, .failed, .cancelled, .completed]
    private static let rounds = ProcessInfo.processInfo.environment["NFC_TAP_WOBBLES"].flatMap(Int.init) ?? 40

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
