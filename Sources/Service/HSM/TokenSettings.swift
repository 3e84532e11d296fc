// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// A key of a token, by the names it has there.
public struct TokenKey: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// P-256: agrees on secrets, or signs.
        case p256
        case rsa
        /// AES, or a key for an HMAC.
        case secret
        /// DES with two or three keys.
        case des
    }

    /// `kid` of its JWK.
    public var keyID: String
    /// CKA_LABEL.
    public var label: String
    /// CKA_ID; empty where the label is enough.
    public var id: [UInt8]
    public var kind: Kind
    /// Seconds since 1970 between which it is used, for `nbf` and `exp` of its JWK.
    public var notBefore: UInt64?
    public var expires: UInt64?

    /// - Parameter keyID: `nil` for the label.
    public init(
        label: String, keyID: String? = nil, id: [UInt8] = [], kind: Kind = .p256, notBefore: UInt64? = nil,
        expires: UInt64? = nil
    ) {
        self.label = label
        self.keyID = keyID ?? label
        self.id = id
        self.kind = kind
        self.notBefore = notBefore
        self.expires = expires
    }
}

/// Where the keys are, and which there are.
///
/// More than fifteen stored properties: each is a setting of the program.
public struct TokenSettings: Sendable {
    /// Path of the vendor's PKCS#11 module.
    public var module: String
    /// The token's label.
    public var token: String
    public var pin: SecretBytes
    /// What envelopes are sealed to, in the order of preference. The old one stays in the list for as long as envelopes sealed to it may
    /// come.
    public var recipients: [TokenKey] = []
    /// What statements are signed with.
    public var signer: TokenKey?
    /// What card tokens are made with.
    public var cardTokens: TokenKey?
    /// Labels of the AES keys that the books are sealed with begin so; a month follows, as in `books-2026-11`.
    public var books: String?
    /// Other keys without which there is no work, as those for codes of messages: that one is missing is told before it is wanted.
    public var needed: [TokenKey] = []
    /// The month now, as `2026-11`. The newest key of the books that is not of a later month seals.
    public var month: @Sendable () -> String = { "9999-12" }
    /// Whether RSA may be done without padding in the token, and the padding removed here. Needed for tokens without OAEP with SHA-256;
    /// most forbid it.
    public var allowsRawRSA = false
    /// Whether keys may be made: its sessions may write then.
    public var mayMakeKeys = false
    /// Sessions, each on a thread of its own, 1 to 32.
    public var sessions = 2
    /// Calls that may wait for a session, for all sessions together.
    public var mostWaiting = 1_024
    /// Told once of each key that the token could show, by its label: it was made without CKA_SENSITIVE, and is worked with itself, which is slower.
    public var noteOpenKey: @Sendable (String) -> Void = { _ in }
    /// For which an envelope that is to be opened may wait for a session. A till waits for thirty seconds.
    public var wait = Duration.seconds(5)
    /// After which a call is given up, and what follows an opened envelope does not wait any longer.
    public var limit = Duration.seconds(1)

    public init(module: String, token: String, pin: SecretBytes) {
        self.module = module
        self.token = token
        self.pin = pin
    }
}
