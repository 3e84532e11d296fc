// SPDX-License-Identifier: Apache-2.0
public import CardBytes
import Crypto

/// A compact JWE whose form and header hold: all that can be checked before its key is asked for. It is opened with what the key
/// gives, so that the key itself can be somewhere else, for example in a token.
public struct ReceivedEnvelope: Sendable {
    let header: JWEHeader
    /// Protected header as received: it is authenticated so, never written anew.
    private let encodedHeader: [UInt8]
    /// Empty for direct agreement.
    public let encryptedKey: [UInt8]
    private let nonce: [UInt8]
    private let ciphertext: [UInt8]
    private let tag: [UInt8]

    /// - Throws: what is wrong with the form or the header.
    public init(_ token: String) throws(EnvelopeError) {
        let parts = token.utf8.split(separator: 0x2E, omittingEmptySubsequences: false)
        guard parts.count == 5, let headerBytes = Base64URL.decode(parts[0]) else { throw .malformedToken }
        header = try JWEHeader(headerBytes)
        guard let encryptedKey = Base64URL.decode(parts[1]), let nonce = Base64URL.decode(parts[2]), nonce.count == 12,
            let ciphertext = Base64URL.decode(parts[3]), let tag = Base64URL.decode(parts[4]), tag.count == 16
        else { throw .malformedToken }
        encodedHeader = Array(parts[0])
        self.encryptedKey = encryptedKey
        self.nonce = nonce
        self.ciphertext = ciphertext
        self.tag = tag
    }

    public var algorithm: KeyAlgorithm { header.algorithm }
    public var keyID: String? { header.keyID }

    /// The sender's point on P-256, which is on the curve: 04, x and y of 32 bytes each, big-endian. `nil` for other keys.
    public var ephemeralPoint: [UInt8]? {
        guard case .p256(let x, let y)? = header.ephemeralKey else { return nil }
        return [4] + x + y
    }

    /// - Parameter secret: the x coordinate on which the recipient's key and `ephemeralPoint` agree (RFC 7518 §4.6.2: Z).
    /// - Throws: `EnvelopeError.notAuthentic` for a key or bytes that are not the sender's.
    public func open(agreed secret: SecretBytes) throws(EnvelopeError) -> SecretBytes {
        let agreed = ConcatKDF.derive(
            secret, algorithm: header.agreementName, partyU: header.partyU, partyV: header.partyV)
        return try open(key: unwrapped(agreed))
    }

    /// - Parameter contentKey: 32 bytes, of an algorithm whose content key is not agreed on.
    /// - Throws: `EnvelopeError.notAuthentic` for a key or bytes that are not the sender's.
    public func open(contentKey: SecretBytes) throws(EnvelopeError) -> SecretBytes {
        guard contentKey.count == 32 else { throw .notAuthentic }
        // The key is made from the bytes where they lie, so that no copy has to be wiped.
        return try open(
            key: unsafe contentKey.withUnsafeBytes { unsafe SymmetricKey(data: UnsafeRawBufferPointer($0)) })
    }

    func open(key: SymmetricKey) throws(EnvelopeError) -> SecretBytes {
        do {
            let box = try AES.GCM.SealedBox(
                nonce: AES.GCM.Nonce(data: nonce), ciphertext: ciphertext, tag: tag)
            var opened = try AES.GCM.open(box, using: key, authenticating: encodedHeader)
            defer { JWE.wipe(&opened) }
            return SecretBytes(capacity: opened.count) { $0.append(contentsOf: opened) }
        } catch {
            throw .notAuthentic
        }
    }

    /// The content key, which is the agreed key or wrapped with it.
    func unwrapped(_ agreed: SymmetricKey) throws(EnvelopeError) -> SymmetricKey {
        guard encryptedKey.isEmpty == (algorithm == .ecdhES) else { throw .malformedToken }
        guard !encryptedKey.isEmpty else { return agreed }
        guard let key = try? AES.KeyWrap.unwrap(encryptedKey, using: agreed), key.bitCount == 256 else {
            throw .notAuthentic
        }
        return key
    }
}
