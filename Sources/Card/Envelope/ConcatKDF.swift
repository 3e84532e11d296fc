// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Crypto

/// The key derivation of JWE's key agreement (RFC 7518 §4.6.2; NIST SP 800-56A §5.8.1 with SHA-256, one round).
///
/// swift-crypto's X9.63 derivation hashes in another order and cannot stand in for it.
enum ConcatKDF {
    /// - Parameters:
    ///   - algorithm: AlgorithmID: the `enc` value for direct agreement, the `alg` value for key wrapping.
    ///   - keyBits: 1…256, a multiple of 8.
    ///   - partyU: the decoded `apu`, empty where absent.
    ///   - partyV: the decoded `apv`, empty where absent.
    static func derive(
        _ secret: SharedSecret, algorithm: String, keyBits: Int = 256, partyU: [UInt8] = [], partyV: [UInt8] = []
    ) -> SymmetricKey {
        derive(keyBits, otherInfo(algorithm: algorithm, keyBits: keyBits, partyU: partyU, partyV: partyV)) { hash in
            // Bytes for the length of a closure, so that no copy has to be wiped.
            unsafe secret.withUnsafeBytes { unsafe hash.update(bufferPointer: $0) }
        }
    }

    /// The same where the keys agreed elsewhere, for example in a token.
    static func derive(
        _ secret: SecretBytes, algorithm: String, partyU: [UInt8], partyV: [UInt8]
    ) -> SymmetricKey {
        derive(256, otherInfo(algorithm: algorithm, keyBits: 256, partyU: partyU, partyV: partyV)) { hash in
            // As above.
            unsafe secret.withUnsafeBytes { unsafe hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }
        }
    }

    private static func derive(
        _ keyBits: Int, _ otherInfo: [UInt8], _ addSecret: (inout SHA256) -> Void
    ) -> SymmetricKey {
        precondition((8...256).contains(keyBits) && keyBits.isMultiple(of: 8))
        var hash = SHA256()
        hash.update(data: bigEndian(1))
        addSecret(&hash)
        hash.update(data: otherInfo)
        // The digest has 32 bytes, and a key no more.
        return unsafe hash.finalize().withUnsafeBytes { digest in
            unsafe SymmetricKey(data: UnsafeRawBufferPointer(rebasing: digest.prefix(keyBits / 8)))
        }
    }

    /// AlgorithmID, PartyUInfo and PartyVInfo, each after its length, and SuppPubInfo: the key length in bits.
    static func otherInfo(algorithm: String, keyBits: Int, partyU: [UInt8], partyV: [UInt8]) -> [UInt8] {
        var info: [UInt8] = []
        for field in [Array(algorithm.utf8), partyU, partyV] {
            info += bigEndian(field.count)
            info += field
        }
        return info + bigEndian(keyBits)
    }

    private static func bigEndian(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
