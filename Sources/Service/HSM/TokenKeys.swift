// SPDX-License-Identifier: Apache-2.0
public import CardBytes
public import Envelope

/// The keys of a payment service, in a token or, for tests, in a file. All calls may come at the same time from any task, and block no
/// thread of the cooperative pool.
public protocol TokenKeys: Sendable {
    /// What tills may seal to, in the order of preference. It asks the token, so it tells as well whether the keys can be used.
    func recipients() async throws(TokenError) -> RecipientKeySet

    /// Those of them that can be used, and why others cannot: one key that is gone leaves the others as they are.
    ///
    /// - Throws: the first fault where none can be used, `unfitKey` for one that is not there, and why a key that each payment needs besides cannot be.
    func usableRecipients() async throws(TokenError) -> (keys: RecipientKeySet, faults: [TokenError])

    /// Opens a compact JWE.
    func open(_ envelope: String) async throws(TokenError) -> SecretBytes

    /// Opens a compact JWE and makes the code of what `message` takes from it, in one visit to the token where it can.
    ///
    /// - Returns: the content; the code, or `nil` where there is no message.
    func open(
        _ envelope: String, codeOf message: @escaping @Sendable (SecretBytes) -> SecretBytes?
    ) async throws(TokenError) -> (content: SecretBytes, code: [UInt8]?)

    /// HMAC-SHA-256 with the key for card tokens, 32 bytes.
    func code(of message: SecretBytes) async throws(TokenError) -> [UInt8]

    /// The code of a message between this machine and another one.
    ///
    /// - Returns: 16 bytes of CMAC, 8 of a retail MAC.
    /// - Throws: `envelope` for a wrapped key that is damaged; else why the key cannot be used.
    func code(of message: [UInt8], with key: MessageKey) async throws(TokenError) -> [UInt8]

    /// Seals what the books keep, so that only `unseal` with the same name gets it back.
    ///
    /// - Parameter name: what the content belongs to: authenticated, not secret.
    /// - Returns: bytes that say by themselves which key sealed them; other ones each time.
    func seal(_ content: SecretBytes, for name: String) async throws(TokenError) -> [UInt8]

    func unseal(_ sealed: [UInt8], for name: String) async throws(TokenError) -> SecretBytes

    /// What `sign` is verified with.
    func verificationKey() async throws(TokenError) -> VerificationKey

    /// Signs a statement.
    ///
    /// - Parameter type: the header's `typ`.
    /// - Returns: JWS in compact form.
    func sign(_ payload: [UInt8], type: String) async throws(TokenError) -> String
}

extension TokenKeys {
    /// Keys in a file have none for messages.
    ///
    /// - Throws: `unknownKey`.
    public func code(of message: [UInt8], with key: MessageKey) async throws(TokenError) -> [UInt8] {
        throw .unknownKey("messages")
    }

    public func usableRecipients() async throws(TokenError) -> (keys: RecipientKeySet, faults: [TokenError]) {
        (try await recipients(), [])
    }

    public func open(
        _ envelope: String, codeOf message: @escaping @Sendable (SecretBytes) -> SecretBytes?
    ) async throws(TokenError) -> (content: SecretBytes, code: [UInt8]?) {
        let content = try await open(envelope)
        guard let message = message(content) else { return (content, nil) }
        return (content, try await code(of: message))
    }
}

/// The longest envelope that is looked at, in bytes.
let mostEnvelopeBytes = 32 * 1_024

/// What the books are sealed in: a version, the label of the key, a nonce, and the ciphertext with its tag. Everything before the nonce
/// is authenticated, and the name.
struct RowSeal {
    private static let version: UInt8 = 1

    let label: String
    let nonce: [UInt8]
    let ciphertext: [UInt8]

    /// - Returns: `nil` for bytes that are not such a seal.
    init?(_ bytes: [UInt8]) {
        guard bytes.count > 2, bytes[0] == Self.version else { return nil }
        let start = 2 + Int(bytes[1])
        guard bytes.count >= start + 12 + 16 else { return nil }
        label = String(decoding: bytes[2..<start], as: UTF8.self)
        nonce = Array(bytes[start..<start + 12])
        ciphertext = Array(bytes[(start + 12)...])
    }

    /// - Parameter label: up to 255 bytes.
    static func head(_ label: String) -> [UInt8] {
        [version, UInt8(clamping: label.utf8.count)] + Array(label.utf8.prefix(255))
    }

    static func associated(_ label: String, _ name: String) -> [UInt8] { head(label) + Array(name.utf8) }

    /// Two calls for randomness: one for each byte is a call of the system for each.
    static func freshNonce() -> [UInt8] {
        let (high, low) = (UInt64.random(in: 0 ... .max), UInt32.random(in: 0 ... .max))
        return (0..<8).map { UInt8(truncatingIfNeeded: high >> ($0 * 8)) }
            + (0..<4).map { UInt8(truncatingIfNeeded: low >> ($0 * 8)) }
    }
}
