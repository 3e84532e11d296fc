// SPDX-License-Identifier: Apache-2.0
internal import CardBytes
internal import Crypto

/// The two ways in which VAS derives and uses the message key.
enum VASScheme: CaseIterable {
    case current
    /// Known to two public readers and said to be out of use: short shared info, merchant id as additional data.
    case older

    /// ASCII `ApplePay encrypted VAS data`.
    private static let label = Array("ApplePay encrypted VAS data".utf8)

    /// X9.63's shared info. The derivation hashes secret, counter, info in this order, unlike Concat KDF.
    func sharedInfo(merchantID: [UInt8]) -> [UInt8] {
        switch self {
        case .current: [0x0D] + Array("id-aes256-GCM".utf8) + VASScheme.label + merchantID
        case .older: VASScheme.label
        }
    }

    func additionalData(merchantID: [UInt8]) -> [UInt8] {
        switch self {
        case .current: []
        case .older: merchantID
        }
    }

    /// - Returns: the plaintext, or `nil` where the tag does not match.
    func open(_ cryptogram: VASCryptogram, secret: SharedSecret, merchantID: [UInt8]) -> SecretBytes? {
        let key = secret.x963DerivedSymmetricKey(
            using: SHA256.self, sharedInfo: sharedInfo(merchantID: merchantID), outputByteCount: 32)
        do {
            // Sixteen zero bytes: not GCM's usual twelve, so the counter block comes out of GHASH.
            let box = try AES.GCM.SealedBox(
                nonce: AES.GCM.Nonce(data: [UInt8](repeating: 0, count: 16)), ciphertext: cryptogram.ciphertext,
                tag: cryptogram.tag)
            var plaintext = try AES.GCM.open(
                box, using: key, authenticating: additionalData(merchantID: merchantID))
            let secret = SecretBytes(capacity: plaintext.count) { $0.append(contentsOf: plaintext) }
            wipe(&plaintext)
            return secret
        } catch {
            return nil
        }
    }
}
