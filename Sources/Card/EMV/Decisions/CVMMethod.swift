// SPDX-License-Identifier: Apache-2.0
/// Methods of a CVM rule (EMV Book 3 Annex C3).
public enum CVMMethod: UInt8, Sendable, CaseIterable {
    case fail = 0x00
    case plaintextPIN = 0x01
    case onlinePIN = 0x02
    case plaintextPINAndSignature = 0x03
    case encipheredPIN = 0x04
    case encipheredPINAndSignature = 0x05
    case signature = 0x1E
    case noCVM = 0x1F
}
