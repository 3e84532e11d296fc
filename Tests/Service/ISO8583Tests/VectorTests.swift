// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Foundation
import TestSupport
import Testing

@testable import ISO8583

/// Messages that were made by others: pyiso8583, moov's test data, a host's own sample.
struct VectorTests {
    private static let file = "iso8583/messages.jsonl"

    struct Row: Decodable, Sendable, CustomTestStringConvertible {
        var id: String
        var kind: String
        var dialect: String?
        var fields: [String: String]?
        var hex: String?
        var framed_hex: String?
        var field: String?
        var de55: String?
        var arpc_method1: String?
        var arc: String?

        var testDescription: String { id }
    }

    static func rows(_ kind: String) throws -> [Row] {
        let found = try VectorFile.rows(file, as: Row.self).filter { $0.kind == kind }
        try #require(!found.isEmpty)
        return found
    }

    static func row(_ id: String) throws -> Row {
        try #require(try VectorFile.rows(file, as: Row.self).first { $0.id == id })
    }

    static func packager(_ name: String?) throws -> Packager {
        try Packager(try #require(Packager.BuiltIn(rawValue: name ?? "")))
    }

    static func message(_ fields: [String: String], _ packager: Packager) throws -> ISOMessage {
        var message = ISOMessage(try #require(MessageType(digits: (fields["t"] ?? "").utf8)))
        for (key, text) in fields {
            guard let number = Int(key), number != 1 else { continue }
            let isBinary = packager.fields[number]?.format.content == .binary
            message[number] = isBinary ? try Hex.bytes(text) : Array(text.utf8)
        }
        return message
    }

    @Test func `every message of the vectors is built and read byte for byte`() throws {
        let rows = try Self.rows("message")
        #expect(rows.count == 45)
        for row in rows {
            let packager = try Self.packager(row.dialect)
            let message = try Self.message(try #require(row.fields), packager)
            let bytes = try Hex.bytes(try #require(row.hex))
            #expect(try packager.build(message) == bytes, "\(row.id)")
            #expect(try packager.parse(bytes) == message, "\(row.id)")
            if let framed = row.framed_hex {
                #expect(try packager.frame.frame(bytes) == Hex.bytes(framed), "\(row.id)")
            }
        }
    }

    @Test func `messages that others refuse are refused, at the same field`() throws {
        for row in try Self.rows("refuse") {
            let bytes = try Hex.bytes(try #require(row.hex))
            let packager = try Self.packager(row.dialect)
            let error = #expect(throws: MessageError.self, "\(row.id)") { try packager.parse(bytes) }
            let wanted: MessagePart = Int(row.field ?? "").map { .field($0) } ?? .bitmap
            #expect(error?.part == wanted, "\(row.id)")
        }
    }

    @Test func `a host with its own encodings is a file on top of another`() throws {
        let host = """
            {"name": "a host of 2012", "base": "1987-bcd", "text": "ebcdic"}
            """
        let packager = try Packager(file: Array(host.utf8))
        let row = try #require(try Self.rows("message-ebcdic").first)
        let bytes = try Hex.bytes(try #require(row.hex))
        let message = try packager.parse(bytes)
        #expect(try message == Self.message(try #require(row.fields), packager))
        #expect(try packager.build(message) == bytes)
    }

    // MARK: - Frames

    private static func frames(_ id: String, _ format: FrameFormat) throws -> [FrameReader.Frame] {
        var reader = FrameReader(format)
        var frames: [FrameReader.Frame] = []
        // Byte by byte, as a slow connection brings it.
        for byte in try Hex.bytes(try #require(try row(id).hex)) {
            reader.append([byte])
            while let frame = try reader.next() { frames.append(frame) }
        }
        return frames
    }

    @Test func `frames are cut as the vectors say`() throws {
        let echo = try Hex.bytes(try #require(try Self.row("network-0800-301-1987-bcd").hex))
        #expect(try Self.frames("frame-2be", FrameFormat()) == [.message(echo, nil)])
        #expect(try Self.frames("frame-two", FrameFormat()) == [.message(echo, nil), .message(echo, nil)])
        #expect(try Self.frames("frame-4ascii", FrameFormat(length: .ascii4)) == [.message(echo, nil)])
        #expect(try Self.frames("frame-zero", FrameFormat()) == [.keepAlive])
        let header = TPDU(destination: 1, source: 2)
        #expect(try Self.frames("frame-2be-tpdu", FrameFormat(hasTPDU: true)) == [.message(echo, header)])
        #expect(header.swapped == TPDU(destination: 2, source: 1))
        #expect(throws: FrameError.tooLong(count: 65535, most: 8192)) { try Self.frames("frame-huge", FrameFormat()) }
        #expect(try Self.rows("framing").count == 6)
    }

    @Test(arguments: FrameFormat.Length.allCases, [true, false])
    func `what is framed is cut again, whatever counts as length`(length: FrameFormat.Length, countsItself: Bool) throws
    {
        for header in [nil, TPDU(destination: 0x1234, source: 0xFFFE)] {
            let format = FrameFormat(length: length, countsItself: countsItself, hasTPDU: header != nil)
            var reader = FrameReader(format)
            let bodies = [[7], [UInt8](repeating: 9, count: 300), [UInt8](repeating: 1, count: 8187)]
            for body in bodies { reader.append(try format.frame(body, header) + format.keepAlive) }
            for body in bodies {
                #expect(try reader.next() == .message(body, header))
                #expect(try reader.next() == .keepAlive)
            }
            #expect(try reader.next() == nil)
            #expect(throws: FrameError.self) { try format.frame([UInt8](repeating: 0, count: 8193), header) }
            #expect(throws: FrameError.header) {
                try format.frame([1], header == nil ? TPDU(destination: 0, source: 0) : nil)
            }
        }
    }

    // MARK: - Field 55

    @Test func `field 55 of the vectors' cryptograms comes out as it went in`() throws {
        let rules = try Packager(.bcd1987).chip
        for row in try Self.rows("arqc") {
            let bytes = try Hex.bytes(try #require(row.de55))
            let chip = try ChipData(bytes, row.id.contains("mc") ? .mastercard : .visa, rules)
            #expect(chip.bytes.count == bytes.count && chip.dropped == [])
            #expect(try ChipData.objects(chip.bytes) == ChipData.objects(bytes))
            let answer = try Hex.bytes("910A" + (try #require(row.arpc_method1)) + (try #require(row.arc)))
            #expect(try IssuerAnswer(answer).authenticationData == Array(answer.dropFirst(2)))
            #expect(try ChipData.objects(ChipData.ofReversal(bytes, rules).bytes)[0x9F26] == nil)
        }
    }
}
