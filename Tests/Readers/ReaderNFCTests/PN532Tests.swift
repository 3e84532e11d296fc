// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Rigs
import Testing

@Suite("The emulated chip's line")
struct PN532Tests {
    static let sam: [UInt8] = [0x00, 0x00, 0xFF, 0x03, 0xFD, 0xD4, 0x14, 0x01, 0x17, 0x00]

    @Test func `Frames are found behind a wake-up and byte by byte`() {
        var parser = PN532FrameParser()
        var events: [PN532FrameParser.Event] = []
        for byte in [0x55, 0x55] + [UInt8](repeating: 0, count: 14) + Self.sam + PN532Frame.ack + Self.sam {
            parser.feed([byte])
            while let event = parser.next() { events.append(event) }
        }
        #expect(events == [.command([0x14, 0x01]), .abort, .command([0x14, 0x01])])
    }

    @Test func `An extended frame carries more than 255 bytes`() {
        let data: [UInt8] = [0x40, 0x01] + [UInt8](repeating: 0x11, count: 262)
        let sum = data.reduce(UInt8(0xD4), &+)
        var parser = PN532FrameParser()
        parser.feed([0x00, 0x00, 0xFF, 0xFF, 0xFF, 0x01, 0x09, 0xF6, 0xD4] + data + [0 &- sum, 0x00])
        #expect(parser.next() == .command(data))
        #expect(parser.next() == nil)
    }

    @Test(arguments: [3, 4, 5, 6, 7, 8]) func `A flipped bit is noticed`(offset: Int) {
        var frame = Self.sam
        frame[offset] ^= 0x10
        var parser = PN532FrameParser()
        parser.feed(frame + [UInt8](repeating: 0x33, count: 32))
        #expect(parser.next() == .damaged)
    }

    @Test func `Answers are framed as the chip frames them`() {
        #expect(PN532Frame.answer([0x15]) == [0x00, 0x00, 0xFF, 0x02, 0xFE, 0xD5, 0x15, 0x16, 0x00])
        let long = PN532Frame.answer([0x41] + [UInt8](repeating: 0, count: 259))
        #expect(long.prefix(8) == [0x00, 0x00, 0xFF, 0xFF, 0xFF, 0x01, 0x05, 0xFA])
        #expect(long.dropFirst(8).dropLast().reduce(UInt8(0), &+) == 0)
    }
}
