// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Foundation
import Rigs
import Synchronization
import TestSupport
import Testing

/// A card at the edge of the field: for some time after it was put there a share of its answers arrives as half a status word.
private struct EdgeCard: VirtualCard {
    private var card: any VirtualCard
    private let steady: ContinuousClock.Instant
    private let share: Int
    private var seed: UInt64

    init(_ card: any VirtualCard, failingFor time: Duration, _ share: Int, seed: UInt64) {
        self.card = card
        steady = ContinuousClock.now.advanced(by: time)
        self.share = share
        self.seed = seed
    }

    var activation: CardActivation { card.activation }

    mutating func powerOn() { card.powerOn() }

    mutating func answer(_ command: [UInt8]) -> VirtualCardReply {
        seed &+= 1
        var random = SeededGenerator(seed: seed)
        // What the reader answers by itself is in order.
        guard command.first != 0xFF, ContinuousClock.now < steady, Int.random(in: 0..<100, using: &random) < share
        else {
            return card.answer(command)
        }
        return .answer([0x90])
    }
}

/// A ticket or a sticker: nothing in it takes a command.
private struct Ticket: VirtualCard {
    let activation = CardActivation(
        technology: .typeA, uid: [0x04, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66],
        // MIFARE Ultralight, as a PC/SC reader says it (PC/SC part 3 section 3.1.3.2.3.2).
        atr: [
            0x3B, 0x8F, 0x80, 0x01, 0x80, 0x4F, 0x0C, 0xA0, 0x00, 0x00, 0x03, 0x06, 0x03, 0x00, 0x03, 0x00, 0x00, 0x00,
            0x00,
            0x68,
        ], sak: 0x00)

    mutating func powerOn() {}

    mutating func answer(_ command: [UInt8]) -> VirtualCardReply {
        command.first == 0xFF ? .answer(activation.uid + [0x90, 0x00]) : .answer([0x6A, 0x81])
    }
}

/// What `EdgeOfFieldTests` do in virtual time, through the unmodified libnfc and the unmodified pcscd.
@Suite("R1 The edge of the field, on real drivers", .serialized, .timeLimit(.minutes(240)))
struct WobbleAtTheEdgeTests {
    private let rounds =
        ProcessInfo.processInfo.environment["NFC_TAP_WOBBLES"].flatMap(Int.init).map { min($0, 1_000) } ?? 20

    /// What can be done to a reader.
    private struct Desk {
        let insert: (any VirtualCard) -> Void
        let remove: () -> Void
        /// An error of the air to come, where the rig has them.
        var fault: (inout SeededGenerator) -> Void = { _ in }
    }

    private func desk(_ emulator: PN532Emulator) -> Desk {
        Desk {
            emulator.insert($0)
        } remove: {
            emulator.remove()
        } fault: { random in
            // Time-out, CRC, parity, framing, RF protocol (PN532 user manual section 7.1).
            let statuses: [PN532Status] = [.timeOut, .checksum, .parity, .framing, .protocolError]
            emulator.fault(.status(statuses.randomElement(using: &random) ?? .timeOut))
        }
    }

    @Test("R1: cards that fail for up to two seconds and then lie still pay behind libnfc")
    func libnfcEdge() throws {
        let emulator = try PN532Emulator.start()
        defer { emulator.unplug() }
        try edge(Shop(reader: "libnfc:\(emulator.connectionString)"), desk(emulator))
    }

    @Test("R1: tickets and stickers use up no try behind libnfc")
    func libnfcTickets() throws {
        let emulator = try PN532Emulator.start()
        defer { emulator.unplug() }
        try tickets(Shop(reader: "libnfc:\(emulator.connectionString)"), desk(emulator))
    }

    @Test(
        "R1: cards that fail for up to two seconds and then lie still pay behind pcscd",
        .enabled(
            if: PrivatePCSCD.missing == nil || ProcessInfo.processInfo.environment["CI"] != nil,
            Comment(rawValue: PrivatePCSCD.missing ?? "")))
    func pcscdEdge() throws {
        let rig = try VPCDShop()
        try edge(rig.shop, Desk(insert: { rig.card.insert($0) }, remove: { rig.card.remove() }))
    }

    @Test(
        "R1: tickets and stickers use up no try behind pcscd",
        .enabled(
            if: PrivatePCSCD.missing == nil || ProcessInfo.processInfo.environment["CI"] != nil,
            Comment(rawValue: PrivatePCSCD.missing ?? "")))
    func pcscdTickets() throws {
        let rig = try VPCDShop()
        try tickets(rig.shop, Desk(insert: { rig.card.insert($0) }, remove: { rig.card.remove() }))
    }

    private func edge(_ shop: Shop, _ desk: Desk) throws {
        for seed in 0..<rounds {
            try shop.awaitReader()
            var random = SeededGenerator(seed: UInt64(seed))
            let id = try begin(shop)
            // Most people bring a card closer within half a second; the first one never takes longer than two.
            let part = Double.random(in: 0...1, using: &random)
            let time = seed == 0 ? 2 : 2 * part * part * part
            let share = Int.random(in: 30...100, using: &random)
            if Bool.random(using: &random) { desk.fault(&random) }
            let visa = try #require(CardCatalogue.card(named: "visa"))
            desk.insert(EdgeCard(visa, failingFor: .seconds(time), share, seed: random.next()))
            try shop.eventually("an end") { Self.isSettled(try state(shop, id)) }
            #expect(try state(shop, id) == "approved", "seed \(seed): \(time) s of \(share) in 100")
            desk.remove()
        }
    }

    private func tickets(_ shop: Shop, _ desk: Desk) throws {
        try shop.awaitReader()
        var random = SeededGenerator(seed: 1)
        let id = try begin(shop)
        for _ in 0..<max(4, rounds / 4) {
            desk.insert(Ticket())
            usleep(UInt32.random(in: 100_000...600_000, using: &random))
            desk.remove()
            usleep(50_000)
        }
        desk.insert(Ticket())
        try shop.eventually("its holder is told") { try retries(shop, id).contains("read.card_unsupported") }
        desk.remove()
        // Two that change places in the middle of a search are two cards.
        usleep(200_000)
        desk.insert(try #require(CardCatalogue.card(named: "visa")))
        try shop.eventually("an end") { Self.isSettled(try state(shop, id)) }
        #expect(try state(shop, id) == "approved")
        #expect(try retries(shop, id).allSatisfy { $0 == "read.card_unsupported" })
        let states = try shop.get("/v1/transactions/\(id)")["history"] as? [[String: Any]]
        #expect(states?.count { $0["state"] as? String == "reading" } == 1, "no ticket was read as a card")
    }

    /// The errors that its customer was told of, in order.
    private func retries(_ shop: Shop, _ id: String) throws -> [String] {
        try events(shop, id).filter { $0["name"] as? String == "read.retry" }.map {
            ($0["error"] as? [String: Any])?["code"] as? String ?? "nothing"
        }
    }

    private func events(_ shop: Shop, _ id: String) throws -> [[String: Any]] {
        try shop.get("/v1/transactions/\(id)")["events"] as? [[String: Any]] ?? []
    }

    private func begin(_ shop: Shop) throws -> String {
        let text = try shop.curl([
            "http://localhost/v1/transactions", "-H", "Content-Type: application/json", "-H",
            "Idempotency-Key: \(UUID().uuidString)", "-d",
            #"{"type":"purchase","amount":{"value":700,"currency":"EUR"},"detached":true}"#,
        ])
        let answer = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        let id = try #require(answer?["id"] as? String, "\(text)")
        // What lies there before it is asked for has to go first.
        try shop.eventually("a reader that asks for a card") {
            try events(shop, id).contains { $0["name"] as? String == "read.readyForTap" }
        }
        return id
    }

    private func state(_ shop: Shop, _ id: String) throws -> String? {
        try shop.get("/v1/transactions/\(id)")["state"] as? String
    }

    private static func isSettled(_ state: String?) -> Bool {
        ["approved", "declined", "failed", "cancelled", "completed"].contains(state)
    }
}

/// `nfc-tap read` with more than one card before the antenna.
@Suite("R12 Two cards and nfc-tap read", .timeLimit(.minutes(5)))
struct TwoCardsTests {
    @Test("R12: two cards are told of once, and the wait ends with 13 at the time that was asked for")
    func twoCards() throws {
        let emulator = try PN532Emulator.start()
        defer { emulator.unplug() }
        // The cards of the catalogue share a UID, and are one to libnfc.
        emulator.insert(try #require(CardCatalogue.card(named: "visa")))
        emulator.insert(Ticket())
        let folder = FileManager.default.temporaryDirectory
        let begin = ContinuousClock.now
        let read = try Program.tap.run(
            ["read", "--reader", "libnfc:\(emulator.connectionString)", "--timeout", "2"], in: folder)
        #expect(read.status == 13, "\(read.errors)")
        #expect(ContinuousClock.now - begin >= .seconds(2))
        let lines = read.errors.split(separator: "\n").filter { $0.contains("present one card only") }
        #expect(lines.count == 1, "\(lines.count) times")
    }
}
