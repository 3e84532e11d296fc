// SPDX-License-Identifier: Apache-2.0

/// An APDU of ZVT: class and instruction, length, data. Nothing stands between two of them on TCP.
public struct ZVTPacket: Equatable, Sendable {
    public static let longest = 0xFFFF

    /// Class and instruction.
    public let control: UInt16
    public let data: [UInt8]

    /// - Returns: `nil` for more data than a length can say.
    public init?(_ control: UInt16, _ data: [UInt8]) {
        guard data.count <= ZVTPacket.longest else { return nil }
        self.control = control
        self.data = data
    }

    /// Without data.
    public init(_ control: UInt16) {
        self.control = control
        data = []
    }

    /// An abort and other messages of one byte.
    public init(_ control: UInt16, byte: UInt8) {
        self.control = control
        data = [byte]
    }

    public static let positive = ZVTPacket(0x8000)

    public static func negative(_ code: UInt8) -> ZVTPacket { ZVTPacket(0x8400 | UInt16(code)) }

    public var isAnswer: Bool { control >> 8 == 0x80 || control >> 8 == 0x84 }
    /// 84 00 counts as positive, too.
    public var isPositive: Bool { control == 0x8000 || control == 0x8400 }

    /// From 255 bytes on the length takes three: FF, then the low byte first.
    public var bytes: [UInt8] {
        let length: [UInt8] =
            data.count < 0xFF
            ? [UInt8(truncatingIfNeeded: data.count)]
            : [0xFF, UInt8(truncatingIfNeeded: data.count), UInt8(truncatingIfNeeded: data.count >> 8)]
        return [UInt8(truncatingIfNeeded: control >> 8), UInt8(truncatingIfNeeded: control)] + length + data
    }

    /// The first packet of `bytes` and how long it is; `nil` while it is not whole.
    public static func first(of bytes: some Collection<UInt8>) -> (packet: ZVTPacket, length: Int)? {
        let head = Array(bytes.prefix(5))
        guard head.count >= 3 else { return nil }
        let isExtended = head[2] == 0xFF
        guard !isExtended || head.count == 5 else { return nil }
        let length = isExtended ? Int(head[3]) | Int(head[4]) << 8 : Int(head[2])
        let data = bytes.dropFirst(isExtended ? 5 : 3).prefix(length)
        guard data.count == length, let packet = ZVTPacket(UInt16(head[0]) << 8 | UInt16(head[1]), Array(data)) else {
            return nil
        }
        return (packet, length + (isExtended ? 5 : 3))
    }
}

/// Cuts a stream of TCP into packets, however it arrives.
public struct ZVTStream: Sendable {
    /// More than any command of a till: who announces more is not waited for.
    public static let longestCommand = 4_096

    private var buffer: [UInt8] = []

    public init() {}

    /// Whether a packet has begun and is not whole.
    public var isWithin: Bool { !buffer.isEmpty }

    public mutating func append(_ bytes: [UInt8]) { buffer += bytes }

    /// - Throws: `.tooLong` for a packet that announces more than a till has to say.
    public mutating func next() throws(ZVTFailure) -> ZVTPacket? {
        let head = buffer.prefix(5)
        if head.count == 5, head[2] == 0xFF, Int(head[3]) | Int(head[4]) << 8 > ZVTStream.longestCommand {
            throw .tooLong
        }
        guard let (packet, length) = ZVTPacket.first(of: buffer) else { return nil }
        buffer.removeFirst(length)
        return packet
    }
}

public enum ZVTFailure: Error, Equatable, Sendable {
    case truncated
    case tooLong
    /// Where a number of a bitmap is not known, nothing behind it can be read.
    case unknownBitmap(UInt8)
    case notALength
    case notDecimal
    /// A tag or a length of a container that cannot be.
    case notAnObject
    case duplicate(UInt8)
}
