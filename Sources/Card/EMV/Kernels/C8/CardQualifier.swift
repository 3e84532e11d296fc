// SPDX-License-Identifier: Apache-2.0
/// Card Qualifier (9F2C, seven bytes): version, three algorithm suites for the secure channel, capabilities
/// (EMV Contactless Book C-8).
struct CardQualifier: Equatable {
    let bytes: [UInt8]

    /// - Parameter bytes: `nil` unless seven bytes of a version other than 0.
    init?(_ bytes: [UInt8]?) {
        guard let bytes, bytes.count == 7, bytes[0] != 0 else { return nil }
        self.bytes = bytes
    }

    /// Suite 00: P-256, SHA-256, AES-128. The only one of this kernel; those of SM2 are left out.
    var hasSupportedSuite: Bool { bytes[1...3].contains(0x00) }

    /// Byte 5 bit 8: the card notices that the field goes off.
    var detectsFieldOff: Bool { bytes[4] & 0x80 != 0 }
}
