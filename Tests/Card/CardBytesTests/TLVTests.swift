// SPDX-License-Identifier: Apache-2.0
import CardBytes
import TestSupport
import Testing

struct TLVTests {
    /// Vectors recorded with readers that know no padding: 00 as a tag of its own, FF after the last object as an error.
    private static let otherwisePadded: Set<String> = ["tlv_28", "tlv_180"]

    @Test func `every collected TLV vector is read or refused as recorded`() throws {
        let rows = try Vectors.load("tlv.jsonl")
        #expect(rows.count == 116)
        for row in rows {
            let id = try #require(row["id"] as? String)
            let input = try Hex.bytes(try #require(row["input"] as? String))
            let expected = try #require(row["expected"] as? [String: Any])
            if Self.otherwisePadded.contains(id) { continue }
            guard let tree = expected["tree"] as? [[String: Any]] else {
                #expect(throws: TLVError.self, "\(id)") { try TLV.nodes(input) }
                continue
            }
            let nodes = try #require(try? TLV.nodes(input), "\(id)")
            var rest = nodes[...]
            try expect(tree, depth: 0, from: &rest, in: input, id)
            #expect(rest.isEmpty, "\(id): more objects than recorded")
        }
    }

    private func expect(
        _ tree: [[String: Any]], depth: Int, from nodes: inout ArraySlice<TLVNode>, in bytes: [UInt8], _ id: String
    ) throws {
        for entry in tree {
            let next = nodes.popFirst()
            let node = try #require(next, "\(id): fewer objects than recorded")
            #expect(node.tag == (try Vectors.tag(try #require(entry["tag"] as? String))), "\(id)")
            #expect(node.depth == depth, "\(id)")
            if let children = entry["children"] as? [[String: Any]] {
                try expect(children, depth: depth + 1, from: &nodes, in: bytes, id)
            } else {
                let value = try Hex.bytes(entry["value"] as? String ?? "")
                #expect(Array(bytes[node.value]) == value, "\(id)")
            }
        }
    }

    @Test func `padding is skipped before, between, inside and after objects`() throws {
        let bytes = try Hex.bytes("0000 70 0A 00 5A 01 11 FF 00 5F34 01 01 FF00".replacing(" ", with: ""))
        let nodes = try TLV.nodes(bytes)
        #expect(nodes.map(\.tag) == [0x70, 0x5A, 0x5F34])
        #expect(nodes.map(\.depth) == [0, 1, 1])
    }

    @Test func `lengths in longer form than needed are accepted`() throws {
        for encoded in ["5F24 03 251231", "5F24 8103 251231", "5F24 820003 251231", "5F24 83000003 251231"] {
            let bytes = try Hex.bytes(encoded)
            let nodes = try TLV.nodes(bytes)
            #expect(nodes.count == 1)
            #expect(Array(bytes[try #require(nodes.first).value]) == [0x25, 0x12, 0x31])
        }
    }

    @Test func `an indefinite length and four length octets are refused with their offset`() throws {
        #expect(throws: TLVError.unsupportedLength(offset: 1, firstByte: 0x80)) { try TLV.nodes([0x70, 0x80, 0x00]) }
        #expect(throws: TLVError.unsupportedLength(offset: 1, firstByte: 0x84)) {
            try TLV.nodes([0x70, 0x84, 0, 0, 0, 0])
        }
    }

    @Test func `a value that runs over its template is refused although the buffer goes on`() throws {
        let bytes = try Hex.bytes("70035A0511223344550000")
        #expect(throws: TLVError.truncatedValue(tag: 0x5A, offset: 2, needed: 5, have: 1)) { try TLV.nodes(bytes) }
    }

    @Test func `tags of one to four bytes are read and longer ones refused`() throws {
        let bytes = try Hex.bytes("82020000 9F0201AA DF81290100 DF81810401BB")
        let nodes = try TLV.nodes(bytes)
        #expect(nodes.map(\.tag) == [0x82, 0x9F02, 0xDF8129, 0xDF81_8104])
        #expect(throws: TLVError.tagTooLong(offset: 0)) { try TLV.nodes(try Hex.bytes("DF8181818100")) }
    }

    @Test func `the constructed bit of a long tag is in its first byte`() {
        #expect(Tag(0xFF8105).isConstructed)
        #expect(!Tag(0xDF8129).isConstructed)
        #expect(Tag(0xBF8102).isConstructed)
        #expect(!Tag(0x9F8102).isConstructed)
        #expect(Tag(0x70).isConstructed)
    }

    @Test func `every prefix of a record is an error or a shorter list, never a trap`() throws {
        let record = try Hex.bytes(
            "70245A0847617390010100105F2403251231571147617390010100 10D2512201000000000F".replacing(" ", with: ""))
        for length in 0...record.count {
            let prefix = Array(record[..<length])
            if let nodes = try? TLV.nodes(prefix) { #expect(nodes.allSatisfy { $0.end <= length }) }
        }
    }

    @Test func `random bytes never trap and never point outside the buffer`() {
        var generator = SeededGenerator(seed: 0x54_4C56)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...64, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            guard let nodes = try? TLV.nodes(bytes) else { continue }
            for node in nodes { #expect(node.value.upperBound <= bytes.count && node.start < node.value.lowerBound) }
        }
    }

    @Test func `templates nested too deep are refused`() throws {
        var bytes: [UInt8] = [0x5A, 0x00]
        for _ in 0..<40 { bytes = [0x70] + TLVWriter.length(bytes.count) + bytes }
        #expect(throws: TLVError.self) { try TLV.nodes(bytes) }
    }

    @Test func `a walk can stop early and stay within a range`() throws {
        let bytes = try Hex.bytes("70065A01118201AA5F340101")
        var seen: [CardBytes.Tag] = []
        try TLV.walk(bytes.span, in: 2..<8) { node in
            seen.append(node.tag)
            return node.tag != 0x5A
        }
        #expect(seen == [0x5A])
        #expect(try TLV.children(bytes).map(\.tag) == [0x70, 0x5F34])
        #expect(try TLV.first(0x82, bytes)?.value == 7..<8)
        #expect(try TLV.first(0x9F02, bytes) == nil)
    }

    @Test func `what the writer builds the reader reads back`() throws {
        for size in [0, 1, 127, 128, 255, 256, 65_535, 65_536] {
            var writer = TLVWriter()
            writer.append(0x70) { $0.append(0x9F46, [UInt8](repeating: 0xAB, count: size)) }
            let nodes = try TLV.nodes(writer.bytes)
            #expect(nodes.map(\.tag) == [0x70, 0x9F46])
            #expect(nodes.last?.value.count == size)
        }
    }

    /// FF8105 with two objects, as kernel 2 gives its data record (C-2 A.1.59); the encoding is written out by hand.
    @Test func `the templates of kernels are read as templates, and other bytes FF as padding`() throws {
        let record = try Hex.bytes("FF8105 0C 9F0206000000001250 9C0100".replacing(" ", with: ""))
        #expect(try TLV.nodes(record + [0xFF, 0x82, 0x00]).map(\.tag) == [0xFF8105, 0x9F02, 0x9C, 0x82])
        #expect(try TLV.children(record).map(\.tag) == [0xFF8105])
        for padded in ["FFFF820119", "FF 82 01 19", "FF", "FF8100", "82 01 19 FF FF 00"] {
            let nodes = try TLV.nodes(Hex.bytes(padded.replacing(" ", with: "")))
            #expect(nodes.allSatisfy { [0x82, 0x81].contains($0.tag) }, "\(padded)")
        }
    }

    @Test func `every object that the writer takes is read back, whatever its tag, and no other is written`() throws {
        var generator = SeededGenerator(seed: 0x57_5249_5445)
        var count = 0
        for round in 0..<40_000 {
            let bits = UInt32([8, 16, 24, 32][round % 4])
            var raw = UInt32.random(in: .min ... .max, using: &generator) >> (32 - bits)
            // Half of them look like long tags.
            if round % 8 < 4, bits > 8 { raw |= 0x1F << (bits - 8) }
            if round % 16 == 2 { raw = 0xFF8100 | raw & 0xFF }
            let tag = CardBytes.Tag(raw)
            // Lengths of every form: one octet, 81, 82, and now and then 83.
            let longest = round % 1_000 == 0 ? 70_000 : round.isMultiple(of: 3) ? 300 : 200
            let value = generator.bytes(Int.random(in: 0...longest, using: &generator))
            var writer = TLVWriter()
            let isWritten = writer.append(tag, value)
            guard isWritten else {
                #expect(writer.bytes.isEmpty)
                // It is refused for a reason: nobody would read these bytes as this object.
                let bytes = tag.bytes + TLVWriter.length(value.count) + value
                let read = (try? TLV.children(bytes)) ?? []
                #expect(read.count != 1 || read[0].tag != tag || Array(bytes[read[0].value]) != value, "\(tag)")
                continue
            }
            count += 1
            let read = try TLV.children([0x00] + writer.bytes)
            #expect(read.map(\.tag) == [tag], "\(tag)")
            #expect(try Array(([0x00] + writer.bytes)[#require(read.first).value]) == value)
        }
        #expect(count > 5_000)
        var writer = TLVWriter()
        let isTooLong = !writer.append(0x9F10, [UInt8](repeating: 0, count: 0x100_0000))
        #expect(isTooLong)
        #expect(writer.bytes.isEmpty)
    }
}
