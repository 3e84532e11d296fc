// SPDX-License-Identifier: Apache-2.0

/// The frame of a serial line: `10 02`, the packet with each 10 doubled, `10 03`, and a checksum over packet and 03.
public enum ZVTFrame {
    static let dle: UInt8 = 0x10
    static let stx: UInt8 = 0x02
    static let etx: UInt8 = 0x03
    static let ack: UInt8 = 0x06
    static let nak: UInt8 = 0x15

    /// CRC-16/KERMIT.
    public static func checksum(_ bytes: some Sequence<UInt8>) -> UInt16 {
        bytes.reduce(0) { crc, byte in
            (0..<8).reduce(crc ^ UInt16(byte)) { crc, _ in crc & 1 == 1 ? crc >> 1 ^ 0x8408 : crc >> 1 }
        }
    }

    public static func bytes(of packet: ZVTPacket) -> [UInt8] {
        let plain = packet.bytes
        let crc = checksum(plain + [etx])
        return [dle, stx] + plain.flatMap { $0 == dle ? [dle, dle] : [$0] }
            + [dle, etx, UInt8(truncatingIfNeeded: crc), UInt8(truncatingIfNeeded: crc >> 8)]
    }
}

/// One end of a serial line: frames in, frames out, acknowledgements and repeats. Without a clock: it says which timer it wants.
public struct ZVTSerialLink: Sendable {
    public enum Event: Equatable, Sendable {
        case write([UInt8])
        case packet(ZVTPacket)
        case armByte
        case armFrame(UInt64)
        /// Nobody has acknowledged a frame and its repeats.
        case failed
    }

    public static let byteTime: Int64 = 200
    public static let frameTime: Int64 = 5_000
    static let repeats = 2
    static let longest = 5 + ZVTStream.longestCommand

    private enum Reading {
        case outside
        /// After a 10 that can begin a frame.
        case begun
        case within([UInt8])
        /// After a 10 within a frame.
        case escaped([UInt8])
        case checksum([UInt8], low: UInt8?)
    }

    private var reading: Reading = .outside
    private var queue: [[UInt8]] = []
    /// The frame that has to be acknowledged, how often it was sent, and its number.
    private var pending: (frame: [UInt8], sent: Int, number: UInt64)?
    private var number: UInt64 = 0
    /// A frame that is the same as this one, while none of ours was acknowledged, is a repeat: our 06 was lost.
    private var lastReceived: [UInt8]?

    public init() {}

    public mutating func send(_ packet: ZVTPacket) -> [Event] {
        queue.append(ZVTFrame.bytes(of: packet))
        return next()
    }

    public mutating func receive(_ bytes: [UInt8]) -> [Event] {
        var events: [Event] = []
        for byte in bytes { events += take(byte) }
        if case .outside = reading {} else { events.append(.armByte) }
        return events
    }

    /// Silence within a frame.
    public mutating func byteTimePassed() -> [Event] {
        if case .outside = reading { return [] }
        reading = .outside
        return [.write([ZVTFrame.nak])]
    }

    public mutating func frameTimePassed(_ number: UInt64) -> [Event] {
        pending?.number == number ? again() : []
    }

    private mutating func next() -> [Event] {
        guard pending == nil, !queue.isEmpty else { return [] }
        number += 1
        let frame = queue.removeFirst()
        pending = (frame, 1, number)
        return [.write(frame), .armFrame(number)]
    }

    private mutating func again() -> [Event] {
        guard let (frame, sent, _) = pending else { return [] }
        guard sent <= Self.repeats else {
            pending = nil
            queue = []
            return [.failed]
        }
        number += 1
        pending = (frame, sent + 1, number)
        return [.write(frame), .armFrame(number)]
    }

    private mutating func take(_ byte: UInt8) -> [Event] {
        switch reading {
        case .outside:
            switch byte {
            case ZVTFrame.dle: reading = .begun
            case ZVTFrame.ack where pending != nil:
                pending = nil
                lastReceived = nil
                return next()
            case ZVTFrame.nak: return again()
            default: break
            }
        case .begun: reading = byte == ZVTFrame.stx ? .within([]) : .outside
        case .within(let before):
            reading = byte == ZVTFrame.dle ? .escaped(before) : .within(before + [byte])
        case .escaped(let before):
            switch byte {
            case ZVTFrame.dle: reading = .within(before + [byte])
            case ZVTFrame.etx: reading = .checksum(before, low: nil)
            // A new frame, of which the one before it was cut off.
            case ZVTFrame.stx: reading = .within([])
            default: return refuse()
            }
        case .checksum(let packet, nil): reading = .checksum(packet, low: byte)
        case .checksum(let packet, let low?):
            reading = .outside
            return finish(packet, UInt16(byte) << 8 | UInt16(low))
        }
        if case .within(let bytes) = reading, bytes.count > Self.longest { return refuse() }
        return []
    }

    private mutating func refuse() -> [Event] {
        reading = .outside
        return [.write([ZVTFrame.nak])]
    }

    private mutating func finish(_ bytes: [UInt8], _ checksum: UInt16) -> [Event] {
        guard ZVTFrame.checksum(bytes + [ZVTFrame.etx]) == checksum,
            let (packet, length) = ZVTPacket.first(of: bytes), length == bytes.count
        else { return refuse() }
        let isRepeat = lastReceived == bytes
        lastReceived = bytes
        guard !isRepeat else { return [.write([ZVTFrame.ack])] }
        var events: [Event] = [.write([ZVTFrame.ack]), .packet(packet)]
        // Who answers a frame has it, though its acknowledgement was lost. Sent again, it would be answered twice, and the second
        // answer be taken for that to the next frame.
        if packet.isAnswer, pending != nil {
            pending = nil
            events += next()
        }
        return events
    }
}
