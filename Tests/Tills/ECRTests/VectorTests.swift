// SPDX-License-Identifier: Apache-2.0
import Codes
import Foundation
import TestSupport
import Testing

@testable import ECR

/// Bytes of real clients, real terminals and published examples: each is read and written back byte for byte, or stands in a table with
/// the reason.
struct VectorTests {
    private static let file = "ecr/tills.jsonl"

    /// Fragments and other protocols: each has a test of its own below, or none.
    private static let apart: [String: String] = [
        "crc check value": "a checksum, no packet: tested below",
        "length one byte": "whole, but its field 6C stands where a bitmap would: the frame alone is tested",
        "length extended, low byte first": "one byte in the long form, which is read and never written",
        "length extended 256": "a header without its data: tested below",
        "length extended 65535": "a header without its data: tested below",
        "too short": "not whole: tested below",
        "extended length not complete": "not whole: tested below",
        "LLVAR 18": "a length: tested below", "LLLVAR 19": "a length: tested below",
        "TLV length 650": "a length: tested below", "TLV tag 1F07": "a tag: tested below",
        "TLV tag 1F8000": "a tag: tested below", "TLV tag 25": "a tag: tested below",
        "frame AB": "ECR17 is not built",
    ]

    private struct Row: Decodable {
        var `protocol`: String
        var name: String
        var hex: String?
        var text: String?
    }

    private static func rows(_ protocols: String...) throws -> [Row] {
        let rows = try VectorFile.rows(file, as: Row.self).filter { protocols.contains($0.protocol) }
        try #require(!rows.isEmpty)
        return rows
    }

    private static func bytes(_ row: Row) throws -> [UInt8] {
        let hex = try #require(row.hex)
        return try #require(ZVTText.hexadecimal(hex))
    }

    private static func named(_ name: String) throws -> [UInt8] {
        let row = try rows("zvt", "zvt-serial").first { $0.name == name }
        return try bytes(#require(row))
    }

    @Test func `the file holds all vectors, and the table of exceptions names no other`() throws {
        let rows = try VectorFile.rows(Self.file, as: Row.self)
        #expect(rows.count == 84)
        #expect(Set(Self.apart.keys).isSubset(of: rows.map(\.name)))
        let others = Set(rows.map(\.protocol)).subtracting([
            "zvt", "zvt-serial", "caisse-ap", "caisse-e-plus", "hw_proxy",
        ])
        #expect(others == ["ecr17"])
        #expect(rows.filter { others.contains($0.protocol) }.allSatisfy { Self.apart[$0.name] != nil })
    }

    @Test func `packets of ZVT are read and written back byte for byte`() throws {
        for row in try Self.rows("zvt") where Self.apart[row.name] == nil {
            let bytes = try Self.bytes(row)
            let (packet, length) = try #require(ZVTPacket.first(of: bytes), "\(row.name)")
            #expect(length == bytes.count && packet.bytes == bytes, "\(row.name)")
            if packet.isAnswer { continue }
            let isOfStatus = row.name.hasPrefix("completion of a status enquiry")
            do throws(ZVTFailure) {
                let content = try ZVTContent(completion: packet, isOfStatus: isOfStatus)
                #expect(content.packet?.bytes == bytes, "\(row.name)")
                for object in try content.fields.objects() { #expect(!object.bytes.isEmpty) }
                let container = content.fields[number: 0x06]
                #expect(try content.fields.objects().flatMap(\.bytes) == container?.value ?? [], "\(row.name)")
            } catch {
                Issue.record("\(row.name): \(error)")
            }
        }
    }

    @Test func `the request of a client of Caisse E+ is read, and the answer that it takes is written byte for byte`()
        throws
    {
        let rows = try Self.rows("caisse-e-plus")
        let (asked, answered) = (try Self.bytes(rows[0]), try Self.bytes(rows[1]))
        let request = try #require(EPlusFrame.request(asked))
        #expect(request.amount == 1_250 && request.answer == .atOnce)
        #expect(EPlusFrame.bytes(of: request.body) == asked)
        #expect(EPlusFrame.bytes(of: request.answered(isPaid: true)) == answered)
        let euro = try #require(CurrencyCode("EUR"))
        #expect(try request.order(allowing: [.sale], in: euro) == TillOrder(kind: .sale, amount: 1_250, currency: euro))
    }

    @Test func `frames of a serial line are read and written back byte for byte`() throws {
        for row in try Self.rows("zvt-serial") {
            let bytes = try Self.bytes(row)
            var link = ZVTSerialLink()
            let events = link.receive(bytes)
            guard events.count == 2, events.first == .write([0x06]), case .packet(let packet) = events[1] else {
                Issue.record("\(row.name): \(events)")
                continue
            }
            #expect(ZVTFrame.bytes(of: packet) == bytes, "\(row.name)")
        }
    }

    @Test func `lengths, tags and the checksum are those of the books`() throws {
        #expect(ZVTFrame.checksum(try Self.named("crc check value")) == 0x2189)
        #expect(try ZVTField.length(digits: Self.named("LLVAR 18")) == 18)
        #expect(try ZVTField.length(digits: Self.named("LLLVAR 19")) == 19)
        #expect(try ZVTObject.length(Self.named("TLV length 650")) == 650)
        for (name, tag, isConstructed) in [
            ("TLV tag 1F07", 0x1F07, false), ("TLV tag 1F8000", 0x1F8000, false), ("TLV tag 25", 0x25, true),
        ] {
            let bytes = try Self.named(name)
            let object = ZVTObject(try ZVTObject.tag(bytes), [UInt8]())
            #expect(object.tag == UInt32(tag) && object.tagBytes == bytes && object.isConstructed == isConstructed)
        }
        for name in ["too short", "extended length not complete", "length extended 256", "length extended 65535"] {
            #expect(try ZVTPacket.first(of: Self.named(name)) == nil, "\(name)")
        }
        for length in [0, 1, 254, 255, 256, 300, 65_535] {
            let packet = try #require(ZVTPacket(0x040F, Array(repeating: 7, count: length)))
            let read = try #require(ZVTPacket.first(of: packet.bytes + [1, 2, 3]))
            #expect(read.packet == packet && read.length == packet.bytes.count)
        }
        #expect(
            try ZVTPacket.first(of: Self.named("length extended 256") + Array(repeating: 0, count: 256))?.packet.data
                .count == 256)
        #expect(ZVTPacket(0x040F, Array(repeating: 0, count: 65_536)) == nil)
        #expect(
            try ZVTPacket.first(of: Self.named("length extended, low byte first"))?.packet
                == ZVTPacket(0x040F, byte: 0x6C))
        #expect(try ZVTPacket.first(of: Self.named("length one byte"))?.packet.bytes == Self.named("length one byte"))
    }

    @Test func `messages of Caisse-AP are read and written back byte for byte`() throws {
        for row in try Self.rows("caisse-ap") {
            guard let text = row.text else { throw CocoaError(.coderReadCorrupt) }
            let bytes = Array(text.utf8)
            #expect(try CaisseMessage(bytes).bytes == bytes, "\(row.name)")
        }
    }

    @Test func `calls of hw_proxy are read, and answers written byte for byte`() throws {
        let lines = try VectorFile.lines(Self.file).filter { $0.contains("\"hw_proxy\"") }
        #expect(lines.count == 5)
        var terminal = ProxyTerminal(
            desk: TillMachine(lane: "main", installation: "1", counter: 1_763_799_999),
            settings: .init(currency: try #require(CurrencyCode("EUR")), hosts: ["h"], origins: []))
        var exchange: UInt64 = 0
        var answers: [String] = []
        func call(_ path: String, _ body: String) {
            exchange += 1
            let connection = TillConnection(exchange)
            let request = ProxyRequest("POST", path, host: "h", contentType: "application/json", body: Array(body.utf8))
            for case .respond(let response, connection) in terminal.request(request, on: connection, at: 0) {
                answers.append(String(decoding: response.body, as: UTF8.self))
            }
            _ = terminal.handle(.sent(connection), at: 0)
        }
        let bodies = lines.map(Self.compact)
        call("/hw_proxy/payment_terminal_transaction_start", bodies[0])
        call("/hw_proxy/status_json", bodies[2])
        let key = try #require(terminal.desk.open?.key)
        _ = terminal.handle(.settled(key, .approved(TillApproval(amount: 1250, reference: "000001"))), at: 0)
        call("/hw_proxy/status_json", bodies[2].replacing("\"id\":2", with: "\"id\":3"))
        #expect(answers == [bodies[1], bodies[3], bodies[4]])
        #expect(
            terminal.desk.finished.last?.order.identity
                == "17:ORDER00001002000336:6f0c3d6e-7a3c-4a55-9a53-1d1f2b6f9f010:")
    }

    /// The `json` of a line as a till sends it, without blanks between its parts.
    private static func compact(_ line: Substring) -> String {
        let json = line.components(separatedBy: "\"json\": ").last?.components(separatedBy: ", \"source\"").first ?? ""
        return json.replacing("\": ", with: "\":").replacing(", \"", with: ",\"")
    }
}
