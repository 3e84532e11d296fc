// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Testing

@testable import Loyalty

/// A card behind a PC/SC reader: what its ATR made of it, and an answer to each command that it knows. Others end the conversation where
/// it is memory alone.
private struct ShownCard: VirtualCard {
    var atr: [UInt8]
    var sak: UInt8
    var answers: [String: String]
    var isMemory = false

    var activation: CardActivation {
        CardActivation(technology: .typeA, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80], atr: atr, sak: sak)
    }

    mutating func powerOn() {}

    mutating func answer(_ command: [UInt8]) -> VirtualCardReply {
        let text = Hex.string(command)
        let match = answers.first { text == $0.key || text == $0.key + "00" }?.value
        guard match != nil || !isMemory else { return .gone }
        return .answer((try? Hex.bytes(match ?? "6A82")) ?? [])
    }
}

@Suite("Doors that a reader's guess does not close")
struct TagDoorTests {
    /// `https://` and loyalty.example/m/12345.
    private static let message = "D1011855046C6F79616C74792E6578616D706C652F6D2F3132333435"

    /// ATRs of memory cards by PC/SC part 3: the card's name in bytes 13 and 14.
    private static func atr(_ name: String) throws -> [UInt8] {
        try Hex.bytes("3B8F8001804F0CA000000306" + "03" + name + "00000000" + "00")
    }

    private func member(_ card: ShownCard) throws -> (number: String?, statuses: [PassStatus]) {
        var machine = LoyaltyRead(try Shop.request([Shop.club()]))
        var card: any VirtualCard = card
        let outcome = play(&machine, on: &card).outcome
        return (outcome.entries.first?.pass?.member?.text, outcome.entries.map(\.status))
    }

    /// libnfc #363; ACR122U API: "FF SAK". A card with MIFARE Classic beside ISO/IEC 14443-4 is shown as the former.
    @Test(
        "C8: a card that a reader shows as memory is asked for its NDEF application all the same",
        arguments: [0x08, 0x18] as [UInt8])
    func type4(sak: UInt8) throws {
        let card = ShownCard(
            atr: try Self.atr("0001"), sak: sak,
            answers: [
                "00A4040007D2760000850101": "9000", "00A4000C02E103": "9000",
                "00B000000F": "000F20003B00340406E1047FFF00FF9000", "00A4000C02E104": "9000", "00B0000002": "001C9000",
                "00B000021C": Self.message + "9000",
            ])
        #expect(try member(card).number == "12345")
    }

    @Test("C8: memory that answers no command still gives its identifier")
    func memoryAlone() throws {
        let card = ShownCard(atr: try Self.atr("0001"), sak: 0x08, answers: [:], isMemory: true)
        #expect(try member(card).number == "04A1B2C3D4E580")
    }

    /// NXPNFCLinux/linux_libnfc-nci #29; pokusew/nfc-pcsc reads NTAG by FF B0. Readers give 16 bytes or a page.
    @Test("C8: the NDEF message of a Type 2 tag is read through a PC/SC reader", arguments: [16, 4])
    func type2(piece: Int) throws {
        var memory = try Hex.bytes("04A1B29FC3D4E58072480000E1101200" + "0103A00C34" + "031C" + Self.message + "FE")
        memory += [UInt8](repeating: 0, count: 160 - memory.count)
        var answers: [String: String] = [:]
        for page in 0..<(memory.count / 4) {
            let bytes = memory[(page * 4)..<min(memory.count, page * 4 + piece)]
            answers["FFB000" + Hex.string([UInt8(page)]) + "10"] = Hex.string(Array(bytes)) + "9000"
        }
        let card = ShownCard(atr: try Self.atr("0003"), sak: 0x00, answers: answers, isMemory: true)
        #expect(try member(card).number == "12345")
        // Without a capability container it is somebody's ticket.
        answers["FFB0000010"] = "04A1B29FC3D4E58072480000000000009000"
        let ticket = ShownCard(atr: try Self.atr("0003"), sak: 0x00, answers: answers, isMemory: true)
        #expect(try member(ticket).number == "04A1B2C3D4E580")
    }

    /// NFC Forum URI RTD §3.2.2: reserved codes are to be taken as 00.
    @Test("C8: a URI with a reserved prefix code is the rest as it stands", arguments: [0x24, 0x7F, 0xFF] as [UInt8])
    func reservedPrefix(code: UInt8) throws {
        let bytes: [UInt8] = [0xD1, 0x01, 0x06, 0x55, code] + Array("tel:1".utf8)
        let contents = try NDEFContent.all(in: bytes.span, range: bytes.indices)
        #expect(contents.first?.kind == .uri && contents.first?.value.text == "tel:1")
    }
}
