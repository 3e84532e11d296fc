// SPDX-License-Identifier: Apache-2.0
/// A polling frame that tells an iPhone, before it is activated, what the terminal wants, so that it shows the right
/// pass by itself (enhanced contactless polling; byte layout as published by others, not by its owner).
///
/// Sent after WUPA or REQA in each polling loop as whole bytes with CRC_A. Nobody answers: silence is success.
public struct ECPFrame: Equatable, Sendable {
    /// Without the checksum.
    public let payload: [UInt8]

    /// Version 1: `6A 01 00 00` and the mode.
    public init(_ mode: CapabilityMode) { payload = [0x6A, 0x01, 0x00, 0x00, mode.rawValue] }

    /// Version 2, for transit and access: `6A 02`, configuration, type, subtype, data.
    public init(configuration: UInt8, type: UInt8, subtype: UInt8, data: [UInt8]) {
        payload = [0x6A, 0x02, configuration, type, subtype] + data
    }

    private init(payload: [UInt8]) { self.payload = payload }

    /// What an iPhone that is itself a reader sends (up to iOS 16) to be ignored.
    public static let ignore = ECPFrame(payload: [0x6A, 0x01, 0xCF, 0x00, 0x00])

    /// CRC_A over the payload, low byte first (ISO/IEC 14443-3 §6.2.4).
    public var checksum: [UInt8] { ECPFrame.crcA(payload) }

    /// All bytes as they leave the antenna.
    public var onAir: [UInt8] { payload + checksum }

    /// Number of bits on air; always whole bytes, never a short frame.
    public var bitCount: Int { onAir.count * 8 }

    /// Initial value 6363, reflected polynomial 8408.
    static func crcA(_ bytes: [UInt8]) -> [UInt8] {
        var crc: UInt16 = 0x6363
        for byte in bytes {
            crc ^= UInt16(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0x8408 : crc >> 1 }
        }
        return [UInt8(truncatingIfNeeded: crc), UInt8(truncatingIfNeeded: crc >> 8)]
    }
}
