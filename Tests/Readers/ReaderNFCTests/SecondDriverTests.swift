// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Foundation
import Rigs
import TestSupport
import Testing

/// A rig that only our own driver accepts proves little. nfcpy (PyPI, EUPL 1.1), run by python3, shares no code with libnfc:
/// it sets the line's speed, has the chip only select the card, and speaks ISO/IEC 14443-4 by itself.
@Suite("F8: the emulated chip with a second driver", .timeLimit(.minutes(5)))
struct SecondDriverTests {
    /// Opens the line by nfcpy's own transport and driver, and tells what the card answers to each command. The driver gives a chip
    /// a tenth of a second to acknowledge, which is enough for a chip but not for an emulator on a busy machine.
    private static let program = """
        import json, sys
        import nfc, nfc.tag
        from nfc.clf import pn532, transport
        path, technology, *commands = sys.argv[1:]
        class PatientTTY(transport.TTY):
            def read(self, timeout):
                frame = super().read(max(timeout, 30000))
                print("<", frame.hex(), file=sys.stderr)
                return frame
        frontend = nfc.ContactlessFrontend()
        frontend.device = pn532.init(PatientTTY(path))
        told = {"chip": frontend.device.chipset_name, "answers": []}
        target = frontend.sense(nfc.clf.RemoteTarget(technology))
        if target is not None:
            tag = nfc.tag.activate(frontend, target)
            told["type"] = tag.type
            told["identifier"] = tag.identifier.hex()
            told["answers"] = [tag.transceive(bytearray.fromhex(command)).hex() for command in commands]
            told["present"] = tag.is_present
        frontend.close()
        print(json.dumps(told))
        """

    private struct Told: Decodable {
        var chip: String
        var type: String?
        var identifier: String?
        var answers: [String]
        var present: Bool?
    }

    private static let missing: Comment = "python3 with nfcpy 1.0.4 is missing: scripts/install-peers.sh makes one"

    /// Whether the driver is there, or demanded (`NFC_TAP_REQUIRE_PEERS=1`), so that the test fails without it.
    private static func isToBeAsked() throws -> Bool {
        let isDemanded = ProcessInfo.processInfo.environment["NFC_TAP_REQUIRE_PEERS"] == "1"
        return try isDemanded || Peer.run(Peer.python, ["-c", "import nfc"]).status == 0
    }

    private static func ask(
        _ emulator: PN532Emulator, _ technology: String, _ commands: [[UInt8]]
    ) throws -> Told {
        let run = try Peer.run(
            Peer.python, ["-c", program, emulator.path, technology] + commands.map { Hex.string($0) })
        let line = emulator.log.map { "\($0.direction) \(Hex.string($0.data))" }
        try #require(run.status == 0, "\(run.errors)\(line)")
        return try JSONDecoder().decode(Told.self, from: run.bytes)
    }

    /// SELECT of the PPSE, 2PAY.SYS.DDF01 (EMV Book B §3.3.1).
    private static let selectPPSE =
        [0x00, 0xA4, 0x04, 0x00, 0x0E] + Array("2PAY.SYS.DDF01".utf8) + [UInt8(0x00)]

    @Test(.enabled(missing) { try isToBeAsked() })
    func `F8 nfcpy selects a card of type 4 and gets the PPSE from it`() throws {
        let emulator = try PN532Emulator.start()
        defer { emulator.unplug() }
        let card = try #require(CardCatalogue.card(named: "visa"))
        emulator.insert(card)
        let told = try Self.ask(emulator, "106A", [Self.selectPPSE])
        #expect(told.chip == "PN532v1.6")
        #expect(told.type == "Type4Tag")
        #expect(told.identifier == Hex.string(card.activation.uid).lowercased())
        let answer = try Hex.bytes(try #require(told.answers.first))
        #expect(answer.suffix(2) == [0x90, 0x00])
        // File control information with the directory's name in it.
        #expect(answer.first == 0x6F)
        #expect(String(decoding: answer, as: UTF8.self).contains("2PAY.SYS.DDF01"))
        #expect(told.present == true)
        let commands = emulator.log.filter { $0.direction == .fromHost }.compactMap(\.data.first)
        #expect(commands.contains(0x10), "the line's speed was set")
        #expect(emulator.log.contains { $0.data.starts(with: [0x42, 0xE0]) }, "RATS went through the chip")
        #expect(!commands.contains(0x40), "no command was left to the chip")
    }

    @Test(.enabled(missing) { try isToBeAsked() }, arguments: ["106A", "106B"])
    func `F8 what nfcpy sends and gets in several blocks arrives whole`(technology: String) throws {
        let emulator = try PN532Emulator.start()
        defer { emulator.unplug() }
        emulator.insert(technology == "106A" ? InstructionCard.typeA : .typeB)
        let long = (0..<200).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let told = try Self.ask(
            emulator, technology,
            [[0xE0, 0x01, 0x00, 0x00, UInt8(long.count)] + long, [0xE0, 0x02, 0x02, 0x58], [0xE0, 0x03, 0x6A, 0x82]])
        #expect(told.type == "Type4Tag")
        let counted = (0..<0x258).map { UInt8(truncatingIfNeeded: $0) }
        #expect(
            try told.answers.map { try Hex.bytes($0) } == [
                long + [0x90, 0x00], counted + [0x90, 0x00], [0x6A, 0x82],
            ])
        #expect(told.present == true)
    }

    @Test(.enabled(missing) { try isToBeAsked() })
    func `F8 nfcpy finds nothing in an empty field and no card of another kind`() throws {
        let emulator = try PN532Emulator.start()
        defer { emulator.unplug() }
        #expect(try Self.ask(emulator, "106A", []).type == nil)
        emulator.insert(InstructionCard.typeB)
        #expect(try Self.ask(emulator, "106A", []).type == nil)
        #expect(try Self.ask(emulator, "212F", []).type == nil)
    }
}
