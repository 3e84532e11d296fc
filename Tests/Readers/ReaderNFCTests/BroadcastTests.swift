// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ReaderCore
import ReaderNFC
import Rigs
import Testing

@testable import ReaderNFCWorker

@Suite("Broadcast while polling", .timeLimit(.minutes(5)))
struct BroadcastTests {
    static let passesOnly: [UInt8] = [0x6A, 0x01, 0x00, 0x00, 0x02]
    /// Frames seen on the air, with their checksums.
    static let checksums: [(frame: [UInt8], crc: [UInt8])] = [
        ([0x6A, 0x01, 0x00, 0x00, 0x00], [0xF6, 0xF1]), ([0x6A, 0x01, 0x00, 0x00, 0x01], [0x7F, 0xE0]),
        (passesOnly, [0xE4, 0xD2]), ([0x6A, 0x01, 0x00, 0x00, 0x03], [0x6D, 0xC3]),
        ([0x6A, 0x01, 0xCF, 0x00, 0x00], [0xAB, 0xB1]),
        ([0x6A, 0x02, 0xC8, 0x01, 0x00, 0x03, 0x00, 0x02, 0x79, 0x00, 0x00, 0x00, 0x00], [0xC2, 0xD8]),
    ]

    @Test(arguments: checksums) func `The checksum is that of type A`(frame: [UInt8], crc: [UInt8]) {
        #expect(CRCA.bytes(of: frame) == crc)
    }

    @Test func `The frame goes out whole, with its checksum, between type A and type B`() throws {
        let bench = try Bench()
        bench.reader.broadcast = Self.passesOnly
        // The phone shows itself once it has heard the frame; the short frame before it comes first.
        bench.emulator.whenReceived(0x42) { [emulator = bench.emulator] in
            emulator.whenReceived(0x42) { emulator.insert(InstructionCard.typeA) }
        }
        #expect(try bench.activate() == .card(InstructionCard.typeA.activation))
        #expect(try bench.echoes())
        let sent = bench.emulator.log.filter { $0.direction == .fromHost }.map(\.data)
        let frame = try #require(sent.firstIndex(of: [0x42] + Self.passesOnly + [0xE4, 0xD2]))
        let typeA = try #require(sent.firstIndex(of: [0x4A, 0x01, 0x00]))
        let typeB = try #require(sent.firstIndex(of: [0x4A, 0x01, 0x03, 0x00]))
        #expect(typeA < frame && frame < typeB)
        let registers = Self.registers(after: sent[..<frame])
        #expect(registers[0x633D] == 0x00, "the frame leaves in whole bytes")
        #expect((registers[0x6302] ?? 0x80) & 0x80 == 0, "the chip adds no checksum of its own")
    }

    @Test func `both ways to whole bytes take turns: behind a short frame, and by the chip's register`() throws {
        let bench = try Bench()
        bench.reader.broadcast = Self.passesOnly
        // The phone decides after the second frame.
        bench.emulator.whenReceived(0x42) { [emulator = bench.emulator] in
            emulator.whenReceived(0x42) {
                emulator.whenReceived(0x42) { emulator.insert(InstructionCard.typeA) }
            }
        }
        #expect(try bench.activate() == .card(InstructionCard.typeA.activation))
        #expect(try bench.echoes())
        let frame = PN532RawFrame(bytes: Self.passesOnly + [0xE4, 0xD2])
        #expect(
            bench.emulator.rawFrames.prefix(3) == [PN532RawFrame(bytes: [0x52], bitsOfLastByte: 7), frame, frame])
        let sent = bench.emulator.log.filter { $0.direction == .fromHost }.map(\.data)
        let second = try #require(sent.lastIndex(of: [0x42] + frame.bytes))
        // Between the search and the frame nothing but the register is touched.
        let search = try #require(sent[..<second].lastIndex(of: [0x4A, 0x01, 0x00]))
        let written = try #require(sent[search..<second].first { $0.first == 0x08 && $0.contains(0x3D) })
        #expect(Array(written.suffix(3)) == [0x63, 0x3D, 0x00])
        #expect(!sent[search..<second].contains { $0.first == 0x42 })
    }

    @Test(arguments: [("PN532 v1.6", true), ("PN533 v2.7", true), ("PN531 v4.2", true), ("RC522", false), ("", false)])
    func `registers are written only where the chip has them`(chip: String, has: Bool) {
        #expect(LibNFCDevice.hasBitFraming(chip) == has)
    }

    /// The chip's registers as WriteRegister commands leave them.
    private static func registers(after commands: some Sequence<[UInt8]>) -> [UInt16: UInt8] {
        var registers: [UInt16: UInt8] = [:]
        for command in commands where command.first == 0x08 {
            for index in stride(from: 1, to: command.count - 2, by: 3) {
                registers[UInt16(command[index]) << 8 | UInt16(command[index + 1])] = command[index + 2]
            }
        }
        return registers
    }

    @Test func `Without one, no raw frame is sent`() throws {
        let bench = try Bench()
        #expect(throws: ReaderError.timedOut) { try bench.activate(within: 100) }
        #expect(!bench.emulator.log.contains { $0.direction == .fromHost && $0.data.first == 0x42 })
    }
}
