// SPDX-License-Identifier: Apache-2.0
/// What an application cryptogram says (9F27 bits 8 and 7, GENERATE AC P1 bits 8 and 7; EMV Book 3 §6.5.5).
enum CryptogramType: UInt8, Sendable {
    /// AAC: declined.
    case declined = 0x00
    /// TC: approved offline.
    case approved = 0x40
    /// ARQC: ask the issuer.
    case online = 0x80

    /// Bits 6 and 5 of the first byte of the card verification results in 9F10, above "no second cryptogram asked for".
    var verificationResult: UInt8 {
        switch self {
        case .declined: 0x80
        case .approved: 0x90
        case .online: 0xA0
        }
    }
}
