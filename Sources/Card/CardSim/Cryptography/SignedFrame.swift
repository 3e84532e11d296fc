// SPDX-License-Identifier: Apache-2.0
import EMVCrypto

/// The signing side of EMV's signatures with recovery (EMV Book 2 §A2.1): `6A ‖ fields ‖ hash ‖ BC`.
enum SignedFrame {
    /// - Parameters:
    ///   - fields: format byte and what follows; filled up with BB.
    ///   - rest: what the hash takes in after the fields.
    /// - Returns: the signature, or `nil` where the fields do not fit into the key's modulus.
    static func signature(_ fields: [UInt8], followedBy rest: [UInt8], with key: RSAPrivateKey) -> [UInt8]? {
        let room = key.modulus.count - 22
        guard fields.count <= room else { return nil }
        let filled = fields + [UInt8](repeating: 0xBB, count: room - fields.count)
        return key.signature([0x6A] + filled + sha1(filled, rest) + [0xBC])
    }
}
