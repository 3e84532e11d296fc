// SPDX-License-Identifier: Apache-2.0
internal import Crypto

/// How an iPhone seals a pass for its merchant.
public enum VASSeal {
    /// Tag 9F27: key id, X of the ephemeral key, AES-256-GCM under an X9.63 key with sixteen zero bytes as its nonce.
    ///
    /// - Parameters:
    ///   - plaintext: seconds since 2001-01-01T00:00:00Z in four bytes, then the message.
    ///   - merchantPrivateKey: 32 bytes; only its public half is used, as a real phone has no other.
    ///   - merchantID: SHA-256 of the pass type identifier.
    ///   - isOlderScheme: the variant that is said to be out of use.
    /// - Returns: `nil` for what is no private key.
    public static func cryptogram(
        plaintext: [UInt8], merchantPrivateKey: [UInt8], merchantID: [UInt8], ephemeralPrivateKey: [UInt8],
        isOlderScheme: Bool = false
    ) -> [UInt8]? {
        let label = Array("ApplePay encrypted VAS data".utf8)
        let sharedInfo = isOlderScheme ? label : [0x0D] + Array("id-aes256-GCM".utf8) + label + merchantID
        do {
            let merchant = try P256.KeyAgreement.PrivateKey(rawRepresentation: merchantPrivateKey).publicKey
            let ephemeral = try P256.KeyAgreement.PrivateKey(rawRepresentation: ephemeralPrivateKey)
            let key = try ephemeral.sharedSecretFromKeyAgreement(with: merchant).x963DerivedSymmetricKey(
                using: SHA256.self, sharedInfo: sharedInfo, outputByteCount: 32)
            let box = try AES.GCM.seal(
                plaintext, using: key, nonce: AES.GCM.Nonce(data: [UInt8](repeating: 0, count: 16)),
                authenticating: isOlderScheme ? merchantID : [])
            let keyID = SHA256.hash(data: Array(merchant.x963Representation.dropFirst().prefix(32))).prefix(4)
            let x = ephemeral.publicKey.x963Representation.dropFirst().prefix(32)
            return Array(keyID) + Array(x) + Array(box.ciphertext) + Array(box.tag)
        } catch {
            return nil
        }
    }
}
