// SPDX-License-Identifier: Apache-2.0

/// What an issuer's certificate says (EMV Book 2, table 6), after its signature, its hash and its algorithms were checked.
struct IssuerCertificate: Sendable {
    /// What is held against the card, the day and the revocation list at each tap.
    struct Subject: Sendable {
        /// Three to eight leftmost digits of the PAN, four bytes, filled with F.
        let identifier: [UInt8]
        /// MMYY in BCD, two bytes.
        let expiry: [UInt8]
        /// Three bytes.
        let serial: [UInt8]
    }

    let subject: Subject
    let key: RSAPublicKey
}
