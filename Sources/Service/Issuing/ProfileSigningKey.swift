// SPDX-License-Identifier: Apache-2.0
import CardBytes
public import Envelope
public import HSM

/// A key that signs, in a file or in a token.
public enum ProfileSigningKey: Sendable {
    case file(SigningKey)
    case token(Token)

    public func verificationKey() async throws(IssuingError) -> VerificationKey {
        switch self {
        case .file(let key): return key.verificationKey
        case .token(let token):
            do throws(TokenError) { return try await token.verificationKey() } catch { throw .token(error) }
        }
    }

    public func sign(_ payload: [UInt8], type: String) async throws(IssuingError) -> String {
        switch self {
        case .file(let key):
            do throws(JWSError) { return try JWS.sign(payload, key: key, type: type) } catch { throw .untrusted(error) }
        case .token(let token):
            do throws(TokenError) { return try await token.sign(payload, type: type) } catch { throw .token(error) }
        }
    }
}

/// How it is shown that what is sealed to a profile's recipient keys can be opened.
public enum RecipientProof: Sendable {
    /// The token that has them; each key's label is its `kid`.
    case token(TokenSettings)
    case files([RecipientPrivateKey])
    /// Somebody says so.
    case elsewhere

    /// Seals something to each key and opens it.
    public func prove(_ keys: [RecipientKey]) async throws(IssuingError) {
        let token = try token(of: keys)
        for key in keys {
            let text = SecretBytes(capacity: 32) { for _ in 0..<32 { $0.append(UInt8.random(in: 0...255)) } }
            let sealed: String
            do throws(EnvelopeError) { sealed = try JWE.seal(text, to: key) } catch {
                throw .recipientNotProven(key.keyID)
            }
            let opened: SecretBytes?
            switch self {
            case .elsewhere: continue
            case .token:
                // What the token says is more than that it did not open.
                do throws(TokenError) { opened = try await token?.open(sealed) } catch {
                    switch error {
                    case .envelope, .unknownKey: throw .recipientNotProven(key.keyID)
                    case .unfitKey, .pinRefused, .unavailable, .refused: throw .token(error)
                    }
                }
            case .files(let files): opened = files.lazy.compactMap { try? JWE.open(sealed, with: $0) }.first
            }
            guard let opened, SecretBytes.constantTimeEqual(opened, text) else { throw .recipientNotProven(key.keyID) }
        }
    }

    private func token(of keys: [RecipientKey]) throws(IssuingError) -> Token? {
        guard case .token(var settings) = self else { return nil }
        settings.recipients = keys.map {
            TokenKey(label: $0.keyID, kind: $0.algorithm == .rsaOAEP256 ? .rsa : .p256)
        }
        do throws(TokenError) { return try Token(settings) } catch { throw .token(error) }
    }
}
