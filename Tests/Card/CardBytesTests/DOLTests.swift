// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

struct DOLTests {
    private static let formats: [CardBytes.Tag: ValueFormat] = [
        0x9F02: .n, 0x9F03: .n, 0x9F1A: .n, 0x95: .b, 0x5F2A: .n, 0x9A: .n, 0x9C: .n, 0x9F37: .b, 0x5A: .cn,
        0x9F20: .cn, 0x9F19: .n,
    ]

    @Test func `recorded lists are parsed entry by entry, truncated ones refused`() throws {
        let rows = try Vectors.load("misc.jsonl", kind: "dol_parse") + Vectors.load("misc.jsonl", kind: "dol_length")
        #expect(rows.count == 4)
        for row in rows {
            let bytes = try Hex.bytes(try #require(row["dol"] as? String))
            let expected = try #require(row["expected"] as? [String: Any])
            guard expected["then"] as? String == "end" else {
                #expect(throws: DOLError.self) { try DOL(bytes) }
                continue
            }
            let entries = try #require(expected["entries"] as? [[String: Any]]).map { entry in
                DOL.Entry(
                    tag: try Vectors.tag(try #require(entry["tag"] as? String)),
                    length: try #require(entry["length"] as? Int))
            }
            #expect(try DOL(bytes).entries == entries)
        }
    }

    @Test func `recorded lists are filled byte for byte`() throws {
        let rows = try Vectors.load("misc.jsonl", kind: "dol_build")
        #expect(rows.count == 2)
        for row in rows {
            var values: [CardBytes.Tag: [UInt8]] = [:]
            for source in try #require(row["sources_in_priority_order"] as? [[[String: String]]]) {
                for entry in source {
                    let tag = try Vectors.tag(try #require(entry["tag"]))
                    if values[tag] == nil { values[tag] = try Hex.bytes(try #require(entry["value"])) }
                }
            }
            let dol = try DOL(try Hex.bytes(try #require(row["dol"] as? String)))
            let filled = dol.fill { tag in values[tag].map { ($0, Self.formats[tag] ?? .b) } }
            let expected = try #require((row["expected"] as? [String: Any])?["data"] as? String)
            #expect(Hex.string(filled) == expected, "\(row["id"] ?? "")")
            #expect(filled.count == dol.totalLength)
        }
    }

    @Test(
        arguments: [
            (ValueFormat.n, "001234", 2, "1234"), (.n, "1234", 4, "00001234"), (.cn, "4761FF", 2, "4761"),
            (.cn, "4761", 4, "4761FFFF"), (.ans, "4142", 3, "414200"), (.ans, "414243", 2, "4142"),
            (.b, "AABB", 3, "AABB00"), (.b, "AABBCC", 1, "AA"), (.n, "1234", 0, ""), (.b, "", 2, "0000"),
        ] as [(ValueFormat, String, Int, String)])
    func `values are padded and cut by format`(format: ValueFormat, value: String, length: Int, fitted: String) throws {
        #expect(Hex.string(format.fit(try Hex.bytes(value), to: length)) == fitted)
    }

    @Test func `unknown, empty and constructed entries become zero bytes`() throws {
        let dol = try DOL(try Hex.bytes("9F5C08 9F4002 7002"))
        let filled = dol.fill { tag in tag == 0x9F40 ? ([], .b) : tag == 0x70 ? ([1, 2], .b) : nil }
        #expect(filled == [UInt8](repeating: 0, count: 12))
    }

    @Test func `a list cut in its tag, after its tag, or with an endless tag names the offset`() {
        #expect(throws: DOLError.truncatedTag(offset: 2)) { try DOL([0x9A, 0x03, 0x9F]) }
        #expect(throws: DOLError.missingLength(tag: 0x9A, offset: 1)) { try DOL([0x9A]) }
        #expect(throws: DOLError.tagTooLong(offset: 0)) { try DOL([0x9F, 0x81, 0x81, 0x81, 0x01, 0x01]) }
    }
}
