// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Foundation
import Rigs
import TestSupport
import Testing

/// F1: what `WobbleTests` do on the virtual reader, through the unmodified libnfc and the unmodified pcscd.
@Suite("F1 cards that wobble, on real drivers", .serialized, .timeLimit(.minutes(240)))
struct WobbleOnReadersTests {
    private let rounds =
        ProcessInfo.processInfo.environment["NFC_TAP_WOBBLES"].flatMap(Int.init).map { min($0, 1_000) } ?? 5
    /// The last never comes to it.
    private static let wobbles: [FaultyCard.Fault] = [
        .leaves, .nothing, .garbage, .status(0x6F00), .edge(milliseconds: 0),
    ]
    static let ways = ["", #","loyalty":{}"#]

    /// What can be done to a reader.
    private struct Desk {
        let insert: (any VirtualCard) -> Void
        let remove: () -> Void
    }

    @Test("F1 Whatever a card does behind libnfc, the sale ends in the journal and for the till", arguments: ways)
    func libnfc(more: String) throws {
        let emulator = try PN532Emulator.start()
        defer { emulator.unplug() }
        let shop = try Shop(reader: "libnfc:\(emulator.connectionString)")
        // A second card beside the first is a collision.
        try wobble(
            shop,
            Desk {
                emulator.insert($0)
            } remove: {
                emulator.remove()
            }, more)
    }

    @Test(
        "F1 Whatever a card does behind pcscd, the sale ends in the journal and for the till",
        .enabled(
            if: PrivatePCSCD.missing == nil || ProcessInfo.processInfo.environment["CI"] != nil,
            Comment(rawValue: PrivatePCSCD.missing ?? "")), arguments: ways)
    func pcscd(more: String) throws {
        let rig = try VPCDShop()
        try wobble(
            rig.shop,
            Desk {
                rig.card.insert($0)
            } remove: {
                rig.card.remove()
            }, more)
    }

    private func wobble(_ shop: Shop, _ desk: Desk, _ more: String) throws {
        var ends: [String: Int] = [:]
        for seed in 0..<rounds {
            try shop.awaitReader()
            var random = SeededGenerator(seed: UInt64(seed))
            let id = try begin(shop, more)
            var story: [String] = []
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                let wobble = Self.wobbles.randomElement(using: &random) ?? .leaves
                let (command, pause) = (
                    Int.random(in: 1...8, using: &random), UInt32.random(in: 0...60_000, using: &random)
                )
                if Bool.random(using: &random) {
                    story.append("remove")
                    desk.remove()
                } else {
                    story.append("insert \(wobble) at \(command)")
                    desk.insert(FaultyCard(try visa(), wobble, at: command))
                }
                usleep(pause)
            }
            let end = ContinuousClock.now.advanced(by: hangLimit)
            var state = try self.state(shop, id)
            while !Self.isSettled(state), ContinuousClock.now < end {
                desk.remove()
                usleep(150_000)
                desk.insert(try visa())
                for _ in 0..<20 where !Self.isSettled(state) {
                    usleep(50_000)
                    state = try self.state(shop, id)
                }
            }
            #expect(Self.isSettled(state), "seed \(seed): \(state ?? "nothing") after \(story)")
            #expect(try journalled(shop, id) == state, "seed \(seed): \(story)")
            ends[state ?? "nothing", default: 0] += 1
            desk.remove()
        }
        print("\(rounds) wobbles\(more): \(ends.sorted { $0.key < $1.key })")
    }

    private func visa() throws -> any VirtualCard { try #require(CardCatalogue.card(named: "visa")) }

    private func begin(_ shop: Shop, _ more: String) throws -> String {
        let text = try shop.curl([
            "http://localhost/v1/transactions", "-H", "Content-Type: application/json", "-H",
            "Idempotency-Key: \(UUID().uuidString)", "-d",
            #"{"type":"purchase","amount":{"value":700,"currency":"EUR"},"detached":true\#(more)}"#,
        ])
        let answer = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        return try #require(answer?["id"] as? String, "\(text)")
    }

    private func state(_ shop: Shop, _ id: String) throws -> String? {
        try shop.get("/v1/transactions/\(id)")["state"] as? String
    }

    private static func isSettled(_ state: String?) -> Bool {
        ["approved", "declined", "failed", "cancelled", "completed"].contains(state)
    }

    private func journalled(_ shop: Shop, _ id: String) throws -> String {
        try Peer.sqlite(
            shop.folder.appending(path: "state/journal.sqlite").path, "SELECT state FROM payment WHERE id = '\(id)'",
            "-readonly")
    }
}
