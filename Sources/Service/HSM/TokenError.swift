// SPDX-License-Identifier: Apache-2.0
public import Envelope

/// Why the keys did not do what they were asked for. No case carries a secret, and none says more of an envelope that does not open
/// than that it does not.
public enum TokenError: Error, Equatable, Sendable {
    /// Of what was handed over: it stays so however often it is tried.
    case envelope(EnvelopeError)
    /// No key has this `kid`, or label: somebody has to bring the key.
    case unknownKey(String)
    /// The key of this label cannot be used for what it is there for: somebody has to change the token or the settings.
    case unfitKey(String, TokenKeyFault)
    /// The token refuses the PIN. It is not tried again, because a token locks itself after a few attempts: settings with the right PIN
    /// need a new `Token`.
    case pinRefused
    /// The keys cannot be used now, and nothing is known of what was asked: ask again.
    case unavailable(TokenLoss)
    /// The token answered with this number of PKCS#11 (CKR_…): it does not do this.
    case refused(code: UInt)
}

/// What is wrong with a key of the token.
public enum TokenKeyFault: Equatable, Sendable {
    /// The settings name it, and the token has none. Of keys that this machine brings along itself: an envelope or a row that names a key is `unknownKey`.
    case missing
    /// It may leave the token.
    case extractable
    /// Not a key on P-256, not RSA of 2048 bits or more, or not of the kind that is asked for.
    case otherKind
    /// Several keys have the label; name the id besides.
    case ambiguous
    /// Without its public half, which the token has to hold too.
    case noPublicHalf
    /// The token does not let it do what it is there for: it was made without this attribute.
    case forbidden(TokenKeyUse)
}

/// What a key of the token is there for, by the attribute that allows it (PKCS#11 v3.1 §4.9 and §4.10).
public enum TokenKeyUse: String, Sendable {
    case derive = "CKA_DERIVE"
    case sign = "CKA_SIGN"
    case decrypt = "CKA_DECRYPT"
    case encrypt = "CKA_ENCRYPT"
    case unwrap = "CKA_UNWRAP"
}

public enum TokenLoss: Equatable, Sendable {
    /// The file is no PKCS#11 module, or does not load.
    case module(path: String)
    /// No slot holds a token of this label.
    case noToken(label: String)
    case severalTokens(label: String)
    /// The module, the token or the session is gone: a number of PKCS#11 (CKR_…).
    case lost(code: UInt)
    /// It was lost a moment ago and is not asked yet.
    case pausing
    /// More calls wait than the settings allow.
    case busy
    /// No answer within the settings' time.
    case tooSlow
    /// Whoever asked has gone, before its turn came.
    case abandoned
}

extension TokenError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .envelope(let error): error.description
        case .unknownKey(let name): "no key \(name.debugDescription) is here"
        case .unfitKey(let label, let fault): "key \(label.debugDescription) in the token \(fault)"
        case .pinRefused: "the token refuses the PIN; it is not tried again, so that the token does not lock itself"
        case .unavailable(let loss): loss.description
        case .refused(let code): "the token answers 0x\(String(code, radix: 16)) (PKCS #11)"
        }
    }
}

extension TokenKeyFault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .missing: "is not there: make it with nfc-tap-profile key new (docs/service/keys-and-token.md)"
        case .extractable: "may leave it: make a key that is not extractable"
        case .otherKind: "is of another kind: use P-256, or RSA of 2048 bits or more where RSA is wanted"
        case .ambiguous: "shares its label with another one: name its id too"
        case .noPublicHalf: "has no public half there: import it, or make the pair anew"
        case .forbidden(let use):
            "may not do what it is there for: set \(use.rawValue), or make a key with it (docs/service/keys-and-token.md)"
        }
    }
}

extension TokenLoss: CustomStringConvertible {
    public var description: String {
        switch self {
        case .module(let path): "\(path) is no PKCS #11 module that can be loaded"
        case .noToken(let label): "no token has the label \(label.debugDescription)"
        case .severalTokens(let label): "several tokens have the label \(label.debugDescription)"
        case .lost(let code): "the token is gone: 0x\(String(code, radix: 16)) (PKCS #11)"
        case .pausing: "the token was gone a moment ago"
        case .busy: "more calls wait for the token than it does in time"
        case .tooSlow: "the token gave no answer in time"
        case .abandoned: "nobody waits for it any more"
        }
    }
}
