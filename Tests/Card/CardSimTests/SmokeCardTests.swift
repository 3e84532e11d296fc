// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Testing

@Suite struct SmokeCardTests {
    private func answer(_ command: String) throws -> VirtualCardReply {
        var card = SmokeCard()
        return card.answer(try hex(command))
    }

    private func fixed(_ command: String) throws -> [UInt8] {
        guard case .answer(let bytes) = try answer(command) else { return [] }
        return bytes
    }

    @Test func `the five commands of a tap get their fixed answers`() throws {
        #expect(try fixed("00A404000E325041592E5359532E444446303100").count == 51)
        #expect(try fixed("00A4040007A000000003101000").starts(with: hex("6F268407A0000000031010A51B")))
        #expect(try fixed("80A8000012831000000000000000000000000000000000 00").starts(with: hex("771F82022000")))
        #expect(
            try fixed("00B2010C00") == hex("70105A0847617390010100105F24033012319000"))
        #expect(try fixed("00B2020C00") == hex("6A83"))
        #expect(try fixed("00A4040007A000000004101000") == hex("6A82"))
        #expect(try fixed("0088000000") == hex("6D00"))
    }

    @Test func `test instructions choose the fault`() throws {
        #expect(try fixed("E0010000 03 010203") == hex("010203 9000"))
        #expect(try fixed("E002 0101").count == 259)
        #expect(try fixed("E002 0003") == hex("000102 9000"))
        #expect(try fixed("E003 6985") == hex("6985"))
        #expect(try answer("E004 0102") == .late([0x90, 0x00], milliseconds: 258))
        #expect(try answer("E005") == .gone)
        #expect(try answer("E006") == .answer([]))
        #expect(try answer("E007") == .answer([0x90]))
        #expect(try answer("E008 0004") == .answer([0, 0, 0, 0]))
        #expect(try fixed("E00A 0000 02 FFFF") == hex("00000007 9000"))
        #expect(try fixed("E00B") == hex("6D00"))
    }
}
