// SPDX-License-Identifier: Apache-2.0
public import CardBytes
internal import Crypto

/// A P-256 private key that a programme's owner gave us. The scalar stays in `SecretBytes`; nothing prints it.
///
/// Each `unsafe` has swift-crypto read the scalar where it lies, so that no copy has to be wiped.
public struct P256PrivateKey: Sendable {
    /// 32 bytes, big-endian.
    let scalar: SecretBytes
    /// The public point with prefix 04, 65 bytes.
    public let publicKey: [UInt8]

    /// Takes the key in any of its usual forms: the 32-byte scalar, SEC 1 or PKCS #8 in DER, or either in PEM.
    ///
    /// - Throws: `.notAKey` where none of them fits, `.wrongCurve` for a key of another algorithm or curve,
    ///   `.outOfRange` for a scalar that is 0 or not below the order.
    public init(_ encoded: SecretBytes) throws(P256PrivateKeyError) {
        let scalar = try PrivateKeyEncoding.scalar(encoded)
        self.scalar = scalar
        do {
            publicKey = unsafe try scalar.withUnsafeBytes { bytes in
                Array(unsafe try P256.KeyAgreement.PrivateKey(rawRepresentation: bytes).publicKey.x963Representation)
            }
        } catch {
            throw .outOfRange
        }
    }

    /// The X coordinate, always 32 bytes: a leading zero byte belongs to it.
    public var publicX: [UInt8] { Array(publicKey[1..<33]) }

    /// The point with prefix 02 or 03, 33 bytes.
    public var compressedPublicKey: [UInt8] {
        [publicKey[64] & 1 == 0 ? 0x02 : 0x03] + publicX
    }

    /// The public key as a DER SubjectPublicKeyInfo around the compressed point, 59 bytes: the form in which a pass
    /// names the key it is to be sealed to.
    public var subjectPublicKeyInfo: [UInt8] {
        [
            0x30, 0x39, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
            0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x22, 0x00,
        ] + compressedPublicKey
    }

    /// ECDH with the point of `x`, which may have either of its two Y coordinates: only X comes out.
    ///
    /// - Returns: `nil` where `x` is not below the prime or no point of the curve has it.
    func sharedSecret(withX x: [UInt8]) -> SharedSecret? { sharedSecret(withCompressed: [0x02] + x) }

    /// ECDH with a compressed point of 33 bytes; `nil` where it is no point of the curve.
    func sharedSecret(withCompressed point: [UInt8]) -> SharedSecret? {
        do {
            let peer = try P256.KeyAgreement.PublicKey(compressedRepresentation: point)
            return unsafe try scalar.withUnsafeBytes { bytes in
                unsafe try P256.KeyAgreement.PrivateKey(rawRepresentation: bytes).sharedSecretFromKeyAgreement(
                    with: peer)
            }
        } catch {
            return nil
        }
    }

    /// ECDSA with SHA-256 over `message`, in DER; `nil` only where the cryptography library fails.
    func signature(over message: [UInt8]) -> [UInt8]? {
        do {
            return unsafe try scalar.withUnsafeBytes { bytes in
                let key = unsafe try P256.Signing.PrivateKey(rawRepresentation: bytes)
                return Array(try key.signature(for: SHA256.hash(data: message)).derRepresentation)
            }
        } catch {
            return nil
        }
    }
}

extension P256PrivateKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "<P-256 private key>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Why bytes are no P-256 private key.
public enum P256PrivateKeyError: Error, Equatable, Sendable {
    case notAKey
    case wrongCurve
    case outOfRange
}

extension P256PrivateKeyError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notAKey: "neither a 32-byte scalar nor a private key in DER or PEM"
        case .wrongCurve: "no P-256 key"
        case .outOfRange: "private key out of range"
        }
    }
}
