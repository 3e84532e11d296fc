// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

struct APDUTests {
    @Test(
        arguments: [
            ("00840000", [UInt8](), nil), ("0084000008", [], 8), ("00B2010C00", [], 256),
            ("00A404000541424344 45", [0x41, 0x42, 0x43, 0x44, 0x45], nil), ("80A8000002830000", [0x83, 0x00], 256),
        ] as [(String, [UInt8], Int?)])
    func `cases 1 to 4 are read and written back unchanged`(text: String, data: [UInt8], le: Int?) throws {
        let bytes = try Hex.bytes(text)
        let command = try CommandAPDU(bytes)
        #expect(command.data == data)
        #expect(command.le == le)
        #expect(command.bytes == bytes)
    }

    @Test(arguments: ["", "00A404", "00A4040005414243", "00A40400004142", "00A40400014142434445"])
    func `bytes whose Lc does not fit are refused`(text: String) throws {
        let bytes = try Hex.bytes(text)
        #expect(throws: APDUError.self) { try CommandAPDU(bytes) }
    }

    @Test func `SELECT PPSE has the bytes of the books`() throws {
        #expect(
            Hex.string(try CommandAPDU.select(Array("2PAY.SYS.DDF01".utf8)).bytes)
                == "00A404000E325041592E5359532E444446303100")
    }

    @Test func `more than a short APDU takes is refused`() {
        #expect(throws: APDUError.dataTooLong(256)) {
            try CommandAPDU(cla: 0, ins: 0, p1: 0, p2: 0, data: [UInt8](repeating: 0, count: 256))
        }
        #expect(throws: APDUError.leOutOfRange(257)) { try CommandAPDU(cla: 0, ins: 0, p1: 0, p2: 0, le: 257) }
        #expect(throws: APDUError.leOutOfRange(0)) { try CommandAPDU(cla: 0, ins: 0, p1: 0, p2: 0, le: 0) }
    }

    @Test func `an answer of fewer than two bytes is no answer`() throws {
        #expect(throws: APDUError.truncated(0)) { try ResponseAPDU([]) }
        #expect(throws: APDUError.truncated(1)) { try ResponseAPDU([0x90]) }
        let response = try ResponseAPDU([0x6F, 0x00, 0x90, 0x00])
        #expect(response.data == [0x6F, 0x00])
        #expect(response.status.isSuccess)
        #expect(response.bytes == [0x6F, 0x00, 0x90, 0x00])
    }
}
