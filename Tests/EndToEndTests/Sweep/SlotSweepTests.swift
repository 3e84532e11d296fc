// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Foundation
import POSAPI
import PaymentValues
import Rigs
import TapClient
import TestSupport
import Testing

/// Readers of which pcscd has several: with the same name, with several slots, numbered anew.
@Suite(
    "The sweep of readers' slots and lamps", .serialized, .timeLimit(.minutes(20)),
    .enabled(
        if: PrivatePCSCD.missing == nil || ProcessInfo.processInfo.environment["CI"] != nil,
        Comment(rawValue: PrivatePCSCD.missing ?? "")))
struct SlotSweepTests {
    /// No word in it says which of its slots is which.
    private static let dual = "ACS ACR1281 1S Dual Reader"

    @Test("R16: two equal readers on two lanes: the card on each pays its own lane's sale")
    func twins() async throws {
        let readers = try (0..<2).map { _ in try IFDReader(name: "Rig PICC Interface") }
        let bench = try SlotBench(readers, lanes: ["pcsc:Rig PICC Interface", "pcsc:Rig PICC Interface"])
        try await bench.ready()
        let places = try await bench.client.lanes().map { $0.reader?.name ?? "" }
        try #require(Set(places).count == 2, "both lanes are on \(places)")
        for (lane, place) in places.enumerated() {
            let reader = readers[place.contains(" 00 ") ? 0 : 1]
            #expect(try await bench.pays(lane) { reader.insert($0) } == .approved, "\(place)")
            reader.remove()
        }
    }

    @Test("R7: a card on the contactless slot of a reader with several pays, whatever lies in the others")
    func slots() async throws {
        let reader = try IFDReader(name: Self.dual, slots: 3)
        let bench = try SlotBench([reader], lanes: ["pcsc:\(Self.dual)"])
        reader.insert(try Self.contactCard(), slot: 0)
        try await bench.ready()
        #expect(try await bench.pays(0) { reader.insert($0, slot: 1) } == .approved)
        reader.remove(slot: 1)
        reader.remove(slot: 0)
        #expect(try await bench.pays(0) { reader.insert($0, slot: 1) } == .approved)
    }

    @Test("R7: a lane stays on its slot when pcscd numbers its readers anew")
    func renumbered() async throws {
        let other = try IFDReader(name: "Rig Contact Reader")
        let reader = try IFDReader(name: Self.dual, slots: 2)
        let bench = try SlotBench([reader], lanes: ["pcsc:\(Self.dual)"])
        try await bench.ready()
        #expect(try await bench.pays(0) { reader.insert($0, slot: 1) } == .approved)
        reader.remove(slot: 1)
        try bench.pcscd.terminate()
        try bench.pcscd.restart([other.stanza, reader.stanza])
        reader.insert(try Self.contactCard(), slot: 0)
        try await bench.ready()
        #expect(try await bench.pays(0) { reader.insert($0, slot: 1) } == .approved)
    }

    @Test("R11: a card that another program has left without a protocol pays where it lies")
    func raw() async throws {
        let reader = try IFDReader(name: "Rig PICC Interface")
        let bench = try SlotBench([reader], lanes: ["pcsc:Rig PICC Interface"])
        try await bench.ready()
        // Who does not let go when its card leaves has the next card as well.
        let program = try OtherProgram("raw", reader: "Rig PICC Interface 00 00", socket: bench.pcscd.socketPath)
        reader.insert(try CardCatalogue.required("visa"))
        try program.holds()
        reader.remove()
        try await bench.ready()
        let end = try await bench.pays(0) {
            reader.insert($0)
            do { try program.ends() } catch { Issue.record(error) }
        }
        #expect(end == .approved)
    }

    @Test("R3: lamps are out some seconds after a sale, approved or failed")
    func lamps() async throws {
        for (name, escapes) in [("ACS ACR122U PICC Interface", false), ("ACS ACR1252 Dual Reader PICC", true)] {
            let reader = try IFDReader(name: name)
            reader.takesEscapes(escapes)
            let bench = try SlotBench([reader], lanes: ["pcsc:\(name)"])
            try await bench.ready()
            #expect(try await bench.pays(0) { reader.insert($0) } == .approved)
            reader.remove()
            // An ACR122U takes commands while a card is connected: the next one puts its lamp out.
            guard escapes else { continue }
            try await eventually("lamps that are out, \(name)") { reader.lamps == 0 }
        }
    }

    @Test("R3: a read of passes without the daemon leaves no lamp on, whatever it found")
    func lampOfCommand() throws {
        let reader = try IFDReader(name: "ACS ACR1252 Dual Reader PICC")
        reader.takesEscapes(true)
        let pcscd = try PrivatePCSCD([reader.stanza])
        let folder = FileManager.default.temporaryDirectory.appending(path: "lamp-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        reader.insert(try CardCatalogue.required("visa"))
        let seen = try Program.tap.run(
            ["loyalty", "--reader", "pcsc", "--deadline", "20"], in: folder,
            environment: ["PCSCLITE_CSOCK_NAME": pcscd.socketPath])
        #expect(seen.status == 0, "\(seen.errors)")
        #expect(reader.lamps == 0)
    }

    @Test("nfc-tap read ends right, or says what is the matter, with every fault at every command; then it reads")
    func read() async throws {
        let reader = try IFDReader(name: "Rig PICC Interface")
        let pcscd = try PrivatePCSCD([reader.stanza])
        let folder = FileManager.default.temporaryDirectory.appending(path: "read-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func read(seconds: Int = 3) throws -> Finished {
            try Program.tap.run(
                ["read", "--reader", "pcsc", "--timeout", "\(seconds)"], in: folder,
                environment: ["PCSCLITE_CSOCK_NAME": pcscd.socketPath])
        }
        let desk = IFDDesk(lane: "none0", reader: reader, isHeard: false, socket: pcscd.socketPath)
        for (number, fault) in IFDDesk.faults.enumerated() {
            try await fault.present(desk, "visa", 1 + number % 4)
            let seen = try read()
            // 13 not completed, 69 no reader, 75 in use by another program.
            #expect([0, 13, 69, 75].contains(seen.status), "\(fault.name): \(seen.status) \(seen.errors)")
            #expect(seen.status == 0 || seen.errors.count > 20, "\(fault.name): \(seen.errors)")
            #expect(seen.errors.split(separator: "\n").count < 12, "\(fault.name): \(seen.errors.prefix(300))")
            desk.remove()
            desk.repair()
            try desk.insert(named: "visa")
            let next = try read(seconds: 20)
            #expect(next.status == 0 && next.output.contains("A0000000031010"), "after \(fault.name): \(next.errors)")
            desk.remove()
        }
    }

    /// A payment card in a slot with contacts.
    private static func contactCard() throws -> any VirtualCard {
        let card = try CardCatalogue.required("mastercard")
        var activation = card.activation
        activation.atr = [0x3B, 0x68, 0x00, 0x00, 0x00, 0x73, 0xC8, 0x40, 0x12, 0x00, 0x90, 0x00]
        return DressedCard(card, as: activation)
    }
}

/// A shop whose lanes are on readers that are played.
private final class SlotBench {
    let pcscd: PrivatePCSCD
    let client: TapClient
    private let shop: Shop

    init(_ readers: [IFDReader], lanes: [String]) throws {
        pcscd = try PrivatePCSCD(readers.map(\.stanza))
        shop = try Shop(
            environment: ["PCSCLITE_CSOCK_NAME": pcscd.socketPath],
            configuration: "mode = \"test\"\n"
                + lanes.enumerated().map { "[[lane]]\nname = \"lane\($0)\"\nreader = \"\($1)\"\n" }.joined())
        client = TapClient(path: shop.posSocket)
    }

    func ready() async throws {
        let client = client
        try await eventually("lanes that are ready") {
            try await client.lanes().allSatisfy { $0.state == .ready }
        }
    }

    /// How a sale ends on that lane when a card is put there in time.
    func pays(_ lane: Int, _ insert: (any VirtualCard) -> Void) async throws -> TransactionState {
        let client = client
        guard let currency = Currency("EUR") else { throw Trouble.missing("EUR") }
        var request = TransactionRequest(type: .purchase, amount: Money(value: 700, currency: currency))
        (request.detached, request.deadline, request.lane) = (true, 20, "lane\(lane)")
        let id = try await client.start(request, idempotencyKey: UUID().uuidString).id
        try await eventually("a lane that takes a card") {
            let seen = try await client.transaction(id)
            return seen.state.isSettled || seen.events?.contains { $0.name == .readReadyForTap } == true
        }
        insert(try CardCatalogue.required("visa"))
        return try await eventually("the end of a sale") {
            let state = try await client.transaction(id).state
            return state.isSettled ? state : nil
        }
    }
}
