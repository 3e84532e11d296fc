// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

@testable import ISO8583

struct ChipDataTests {
    private let rules: ChipRules

    init() throws { rules = try Packager(.ascii1987).chip }

    private func emv(_ more: [(CardBytes.Tag, [UInt8])] = [], without: CardBytes.Tag? = nil) -> [UInt8] {
        var writer = TLVWriter()
        for tag in rules.required where tag != without { writer.append(tag, [0x11, 0x22]) }
        for (tag, value) in more { writer.append(tag, value) }
        return writer.bytes
    }

    @Test func `what is not on the list is not sent, and each scheme has its own`() throws {
        let all = emv([
            (0x5A, [0x47, 0x61]), (0x57, [0x47]), (0x9F6E, [1]), (0x9F53, [2]), (0x9F7C, [3]), (0xDF01, [4]),
        ])
        func tags(_ scheme: ChipRules.Scheme) throws -> Set<CardBytes.Tag> {
            Set(try ChipData.objects(ChipData(all, scheme, rules).bytes).keys)
        }
        let required = Set(rules.required)
        #expect(try tags(.visa) == required.union([0x9F6E, 0x9F7C]))
        #expect(try tags(.mastercard) == required.union([0x9F6E, 0x9F53]))
        #expect(try tags(.other) == required)
    }

    @Test func `the order is the list's, whatever order the card sent`() throws {
        let reversed = TLVBytes.reversed(emv())
        #expect(try ChipData(reversed, .other, rules).bytes == emv())
    }

    @Test func `a missing object, one that stands twice and bytes that are no TLV are refused`() throws {
        #expect(throws: ChipDataError.missing(0x9F26)) { try ChipData(emv(without: 0x9F26), .visa, rules) }
        #expect(throws: ChipDataError.twice(0x9F26)) { try ChipData(emv([(0x9F26, [1])]), .visa, rules) }
        #expect(throws: ChipDataError.notTLV(.truncatedLength(offset: 2))) { try ChipData([0x9F, 0x26], .visa, rules) }
        #expect(throws: ChipDataError.twice(0x91)) {
            try IssuerAnswer(Hex.bytes("9108000000000000000091080000000000000000"))
        }
        #expect(throws: ChipDataError.tooLong(count: 2, most: 16)) { try IssuerAnswer([0x91, 2, 0, 0]) }
    }

    @Test func `what is too long loses the expendable objects, in their order, and says so`() throws {
        let long = [UInt8](repeating: 0, count: 100)
        let both = try ChipData(emv([(0x9F7C, long), (0x9F6E, long)]), .visa, rules)
        #expect(both.dropped == [0x9F7C] && both.bytes.count <= rules.most)
        let more = [UInt8](repeating: 0, count: 120)
        let all = try ChipData(emv([(0x9F7C, more), (0x9F6E, more), (0x9F33, long)]), .visa, rules)
        #expect(all.dropped == [0x9F7C, 0x9F6E])
        #expect(throws: ChipDataError.self) { try ChipData(emv([(0x9F33, more), (0x9F34, more)]), .visa, rules) }
        #expect("\(both) \(String(reflecting: both))".contains("22") == false)
    }

    @Test func `the issuer's scripts keep tag and length`() throws {
        let answer = try IssuerAnswer(Hex.bytes("910811223344556677887104860200007203860100"))
        #expect(answer.authenticationData?.count == 8)
        #expect(answer.scripts == [try Hex.bytes("710486020000"), try Hex.bytes("7203860100")])
    }
}

private enum TLVBytes {
    static func reversed(_ bytes: [UInt8]) -> [UInt8] {
        guard let nodes = try? TLV.children(bytes) else { return [] }
        return nodes.reversed().flatMap { bytes[$0.start..<$0.end] }
    }
}
