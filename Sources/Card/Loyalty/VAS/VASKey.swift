// SPDX-License-Identifier: Apache-2.0
internal import CardBytes
internal import Crypto

/// A merchant's private key for Apple VAS, with the four bytes by which a cryptogram names it.
public struct VASKey: Sendable {
    public let privateKey: P256PrivateKey
    /// First four bytes of SHA-256 over the public key's X coordinate, 32 bytes.
    public let keyID: [UInt8]

    public init(_ privateKey: P256PrivateKey) {
        self.privateKey = privateKey
        keyID = Array(SHA256.hash(data: privateKey.publicX).prefix(4))
    }
}
