// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ReaderCore
import TestSupport
import Testing

/// What `exchange` makes of 6Cxx, 61xx and bare warnings.
@Suite struct ExchangeTests {
    struct Vector: Decodable, CustomTestStringConvertible, Sendable {
        let id: String
        let command: String
        let exchanges: [[String]]
        let data: String
        let status: String
        var testDescription: String { id }

        static func all() throws -> [Vector] { try VectorFile.rows("readercore/exchanges.jsonl") }
    }

    @Test func `there are vectors`() throws { #expect(try Vector.all().count == 7) }

    @Test(arguments: try Vector.all())
    func `an exchange is completed as recorded elsewhere`(vector: Vector) throws {
        let reader = try replay(vector.exchanges)
        let response = try reader.exchange(command(vector.command), until: .distant)
        #expect(reader.mismatch == nil)
        #expect(reader.remainingSteps == 0)
        #expect(Hex.string(response.data) == vector.data)
        #expect(response.status.description == vector.status)
    }

    @Test func `data that comes with 61xx is kept`() throws {
        let reader = try replay([["00B2010C00", "70016102"], ["00C0000002", "AABB9000"]])
        let response = try reader.exchange(command("00B2010C00"), until: .distant)
        #expect(response.data == [0x70, 0x01, 0xAA, 0xBB])
    }

    @Test func `6C00 and 6100 stand for 256 bytes`() throws {
        let reader = try replay([["00B2010C05", "6C00"], ["00B2010C00", "6100"], ["00C0000000", "AA9000"]])
        #expect(try reader.exchange(command("00B2010C05"), until: .distant).data == [0xAA])
    }

    @Test func `6Cxx with data is an answer like any other`() throws {
        let reader = try replay([["00B2010C05", "AA6C01"]])
        #expect(try reader.exchange(command("00B2010C05"), until: .distant).status == 0x6C01)
    }

    @Test func `a warning with data, or to another command than SELECT, is not followed`() throws {
        let reader = try replay([["00A4040001AA00", "6F006283"], ["80CA9F1700", "6300"]])
        #expect(try reader.exchange(command("00A4040001AA00"), until: .distant).data == [0x6F, 0x00])
        #expect(try reader.exchange(command("80CA9F1700"), until: .distant).status == 0x6300)
        #expect(reader.mismatch == nil)
    }

    @Test func `a bare warning without anything behind it stays the answer`() throws {
        let reader = try replay([["00A4040001AA00", "6283"], ["00C0000000", "6D00"]])
        let response = try reader.exchange(command("00A4040001AA00"), until: .distant)
        #expect(response == ResponseAPDU(status: .selectedFileDeactivated))
    }

    @Test func `a card that never finishes is lost`() throws {
        let reader = try replay([["00B2010C00", "6101"]] + Array(repeating: ["00C0000001", "AA6101"], count: 20))
        #expect(throws: ReaderError.cardLost) { _ = try reader.exchange(try command("00B2010C00"), until: .distant) }
        #expect(reader.remainingSteps > 0)
    }

    private func command(_ hex: String) throws -> CommandAPDU { try CommandAPDU(try Hex.bytes(hex)) }

    private func replay(_ exchanges: [[String]]) throws -> ReplayReader {
        let lines = exchanges.map { "> \($0[0])\n< \($0[1])\n" }
        return ReplayReader(try Transcript(parsing: lines.joined()))
    }
}

extension TapInstant {
    /// A deadline that no test reaches.
    static let distant = TapInstant(nanoseconds: .max)
}
