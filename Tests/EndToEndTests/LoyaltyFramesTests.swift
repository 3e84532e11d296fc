// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Foundation
import Rigs
import TestSupport
import Testing

/// The daemon's polling frames on a PN532 that writes down what its antenna sends.
@Suite(.serialized)
struct LoyaltyFramesTests {
    static let wishes: [(body: String, frames: [String])] = [
        (#"{"type":"loyalty"}"#, ["6A01000002E4D2"]),
        (
            #"{"type":"purchase","amount":{"value":1250,"currency":"EUR"},"loyalty":{"stopOnPass":true}}"#,
            ["6A01000000F6F1"]
        ),
        (
            #"{"type":"purchase","amount":{"value":1250,"currency":"EUR"},"loyalty":{}}"#,
            ["6A010000017FE0"]
        ),
        (#"{"type":"purchase","amount":{"value":1250,"currency":"EUR"}}"#, []),
    ]

    @Test(
        "While no card is there, what is wanted is broadcast, and a payment alone broadcasts nothing",
        arguments: wishes)
    func waiting(body: String, frames: [String]) throws {
        let emulator = try PN532Emulator.start()
        defer { emulator.unplug() }
        let shop = try Shop(reader: "libnfc:\(emulator.connectionString)")
        try shop.awaitReader()
        #expect(emulator.rawFrames.isEmpty)
        _ = try ask(shop, body.replacingOccurrences(of: #"{"type""#, with: #"{"deadline":4,"type""#))
        let sent = emulator.rawFrames.filter { $0.bytes != [0x52] }
        #expect(Set(sent.map { hex($0.bytes) }) == Set(frames))
        #expect(sent.allSatisfy { $0.bitsOfLastByte == 0 && !$0.addsChecksum }, "whole bytes, our own checksum")
        #expect(frames.isEmpty || sent.count >= 2)
    }

    @Test("After the pass the reader asks for payment only")
    func both() throws {
        let emulator = try PN532Emulator.start()
        defer { emulator.unplug() }
        let shop = try Shop(reader: "libnfc:\(emulator.connectionString)")
        try shop.awaitReader()
        // The phone has a pass and no card: after the pass it goes, and nothing pays.
        let phone = try #require(WalletCatalogue.card(named: "apple-pass"))
        emulator.insert(VanishingCard(phone, after: 2))
        let purchase = #""type":"purchase","amount":{"value":1250,"currency":"EUR"}"#
        let body = #"{"deadline":8,\#(purchase),"loyalty":{"programmes":["club"]}}"#
        let state = try ask(shop, body)["state"] as? String
        #expect(state == "completed")
        #expect(hex(try #require(emulator.rawFrames.last { $0.bytes != [0x52] }).bytes) == "6A010000036DC3")
    }

    private func ask(_ shop: Shop, _ body: String) throws -> [String: Any] {
        let text = try shop.curl([
            "http://localhost/v1/transactions", "-H", "Content-Type: application/json", "-H",
            "Idempotency-Key: \(UUID().uuidString)", "-H", "Prefer: wait=30", "-d", body,
        ])
        return try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
    }

    private func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02X", $0) }.joined() }
}

/// A card that leaves the field instead of answering any further.
private struct VanishingCard: VirtualCard {
    private var card: any VirtualCard
    private var left: Int

    init(_ card: any VirtualCard, after answers: Int) {
        self.card = card
        left = answers
    }

    var activation: CardActivation { card.activation }

    mutating func powerOn() { card.powerOn() }

    mutating func answer(_ command: [UInt8]) -> VirtualCardReply {
        guard left > 0 else { return .gone }
        left -= 1
        return card.answer(command)
    }
}
