// SPDX-License-Identifier: Apache-2.0
/// Kernel 8's own meanings in the TVR; the relay-resistance bits are those of kernel 2 (C-8 A.1.131).
extension TVR {
    /// Byte 1 bit 8.
    static let localAuthenticationNotPerformed = TVR.odaNotPerformed
    /// Byte 1 bit 3.
    static let localAuthenticationFailed = TVR.cdaFailed
    /// Byte 5 bit 8: processed by kernel 8, and the TVR is in its format.
    static let kernel8Format = TVR(rawValue: 0x00_0000_0080)
    /// Byte 5 bit 7: the reader's AID (9F06) is no prefix of the DF name (84).
    static let aidMismatch = TVR(rawValue: 0x00_0000_0040)
}
