// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

struct NumberTests {
    @Test func `hexadecimal text survives a round trip and is refused at the wrong character`() throws {
        let all = (0...255).map { UInt8($0) }
        #expect(try Hex.bytes(Hex.string(all)) == all)
        #expect(try Hex.bytes("9f 02\n06") == [0x9F, 0x02, 0x06])
        #expect(throws: HexError.notADigit(offset: 2)) { try Hex.bytes("9Fxy") }
        #expect(throws: HexError.oddLength) { try Hex.bytes("9F0") }
    }

    @Test func `amounts are packed right-justified and refused when they do not fit`() {
        #expect(BCD.encode(1250, count: 6) == [0, 0, 0, 0, 0x12, 0x50])
        #expect(BCD.encode(999_999_999_999, count: 6) == [UInt8](repeating: 0x99, count: 6))
        #expect(BCD.encode(1_000_000_000_000, count: 6) == nil)
        #expect(BCD.decode([0x12, 0x50]) == 1250)
        #expect(BCD.decode([0x1A]) == nil)
        #expect(BCD.decode([UInt8](repeating: 0x99, count: 12)) == nil)
    }

    @Test func `recorded card numbers unpack to their digits`() throws {
        for row in try Vectors.load("misc.jsonl", kind: "cn_to_digits") {
            let bytes = try Hex.bytes(try #require(row["input"] as? String))
            let expected = (row["expected"] as? [String: Any])?["digits"] as? String
            #expect(BCD.digits(bytes).map { $0.map(String.init).joined() } == expected)
        }
    }

    @Test func `digits pack left-justified with filler`() {
        #expect(BCD.pack([4, 7, 6], count: 3) == [0x47, 0x6F, 0xFF])
        #expect(BCD.pack([4, 7, 6], count: 1) == nil)
        #expect(BCD.pack([10], count: 1) == nil)
        #expect(BCD.digits([0x4A]) == nil)
    }

    @Test func `tags print and measure as transmitted`() throws {
        for row in try Vectors.load("misc.jsonl", kind: "tag_list") {
            let tags = try #require((row["expected"] as? [String: Any])?["tags"] as? [String])
            for text in tags {
                let tag = try Vectors.tag(text)
                #expect(tag.description == text)
                #expect(tag.byteCount == text.utf8.count / 2)
            }
        }
    }

    @Test func `an instant never overflows`() {
        let end = TapInstant(nanoseconds: .max)
        #expect(end.advanced(byMilliseconds: 1) == end)
        #expect(TapInstant(nanoseconds: 5).advanced(byMilliseconds: .max) == end)
        #expect(TapInstant(nanoseconds: 5).nanoseconds(since: TapInstant(nanoseconds: 9)) == 0)
        #expect(TapInstant(nanoseconds: 0).advanced(byMilliseconds: 3).nanoseconds == 3_000_000)
    }
}
