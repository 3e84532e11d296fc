// SPDX-License-Identifier: Apache-2.0
/// The capability container file E103 of a Type 4 tag (NFC Forum T4T §5.1), as far as reading needs it.
public struct Type4CapabilityContainer: Equatable, Sendable {
    /// Major version in the high nibble.
    public let version: UInt8
    /// MLe: most bytes in one READ BINARY, at least 15.
    public let maximumReadLength: Int
    /// MLc: most bytes in one command.
    public let maximumCommandLength: Int
    /// Identifier of the NDEF file, 2 bytes.
    public let fileID: [UInt8]
    /// Size of the NDEF file including its two length bytes.
    public let maximumFileSize: Int
    /// 00 means readable without conditions.
    public let readAccess: UInt8
    public let writeAccess: UInt8

    /// - Returns: `nil` for less than 15 bytes, another first control TLV than 04 06, or a version other than 2 or 3.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count >= 15, Int(bytes[0]) << 8 | Int(bytes[1]) >= 15, bytes[7] == 0x04, bytes[8] == 0x06 else {
            return nil
        }
        guard (2...3).contains(bytes[2] >> 4) else { return nil }
        version = bytes[2]
        maximumReadLength = Int(bytes[3]) << 8 | Int(bytes[4])
        maximumCommandLength = Int(bytes[5]) << 8 | Int(bytes[6])
        fileID = [bytes[9], bytes[10]]
        maximumFileSize = Int(bytes[11]) << 8 | Int(bytes[12])
        readAccess = bytes[13]
        writeAccess = bytes[14]
        guard maximumReadLength >= 15, maximumFileSize >= 2 else { return nil }
    }
}
