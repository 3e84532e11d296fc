// SPDX-License-Identifier: Apache-2.0
/// A frame that the host had the chip send as it is.
public struct PN532RawFrame: Equatable, Sendable {
    static let bitFraming: UInt16 = 0x633D
    static let transmitMode: UInt16 = 0x6302

    public let bytes: [UInt8]
    /// 0 for all eight.
    public let bitsOfLastByte: UInt8
    /// Whether the chip appends a checksum of its own.
    public let addsChecksum: Bool

    public init(bytes: [UInt8], bitsOfLastByte: UInt8 = 0, addsChecksum: Bool = false) {
        self.bytes = bytes
        self.bitsOfLastByte = bitsOfLastByte
        self.addsChecksum = addsChecksum
    }
}
