// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

@testable import ISO8583

/// Text of a host in characters of its own.
struct ForeignTextTests {
    private func packager() throws -> Packager {
        let fields = [43: "ans40", 44: "ans..25", 48: "ans...999", 63: "ans...999"].map {
            #"{"field": \#($0.key), "name": "text", "format": "\#($0.value)"}"#
        }
        return try Packager(
            file: Array(
                #"{"name": "x", "base": "1987-ascii-binbitmap", "fields": [\#(fields.joined(separator: ","))]}"#.utf8))
    }

    private func message(_ field: Int) throws -> ISOMessage {
        var message = ISOMessage(try #require(MessageType(210)))
        for (number, text) in [(11, "000001"), (39, "00"), (41, "TERM0001")] { message.set(number, text) }
        if message[field] == nil { message.set(field, "CAFE#" + String(repeating: " ", count: field == 43 ? 35 : 0)) }
        return message
    }

    /// ISO 8859-1 and UTF-8 have é as E9, and as C3 A9.
    @Test(
        "S19: a byte beyond ASCII in a text that decides nothing takes no approval back", arguments: [43, 44, 48, 63])
    func remark(field: Int) throws {
        let packager = try packager()
        var bytes = try packager.build(try message(field))
        let position = try #require(bytes.lastIndex(of: UInt8(ascii: "#")))
        bytes[position] = 0xE9
        let read = try packager.parse(bytes)
        #expect(read.text(39) == "00")
        #expect(read.text(field)?.hasPrefix("CAFE?") == true)
        // What this program says itself is held as before.
        var own = try message(field)
        own[field] = Array("CAF".utf8) + [0xE9] + [UInt8](repeating: 0x20, count: field == 43 ? 36 : 0)
        #expect(throws: MessageError.character(field: field, position: 3)) { try packager.build(own) }
    }

    @Test("S19: a field that decides something is held to its characters", arguments: [39, 41])
    func deciding(field: Int) throws {
        let packager = try packager()
        var bytes = try packager.build(try message(44))
        let text: [UInt8] = field == 39 ? Array("00TERM".utf8) : Array("TERM0001".utf8)
        let place = try #require((0..<bytes.count - text.count).first { Array(bytes[$0..<$0 + text.count]) == text })
        bytes[place] = 0xE9
        #expect(throws: MessageError.character(field: field, position: 0)) { try packager.parse(bytes) }
    }
}
