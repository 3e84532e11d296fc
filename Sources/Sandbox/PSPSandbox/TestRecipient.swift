// SPDX-License-Identifier: Apache-2.0
import CardBytes
public import Envelope

/// The published TEST key pair of the sandbox. THE PRIVATE HALF IS IN THIS FILE, for everybody to read: what is sealed to
/// it is not protected. Its public half is `RecipientKey.sandboxTest`.
public enum TestRecipient {
    /// The whole key as a JWK; `kid` starts with `test-`, by which daemons and results show that it is in use.
    public static let privateJWK: StaticString = """
        {"kty":"EC","crv":"P-256","kid":"test-nfc-tap-sandbox-1","use":"enc","alg":"ECDH-ES",\
        "x":"795BHl9HJmtpe0yG1eMB1eGAE2WS5srg1uDOEX4MFY8",\
        "y":"w2vHTCZp64drgwqlzzPunJrBoj4m5iCoIVM-FbA3Oi8",\
        "d":"_h_fzpxkkyRedzBByRmnzE3pSeOzQw6JVYshRr6NLcU"}
        """

    /// - Throws: never with the constant above.
    public static func privateKey() throws(RecipientKeyError) -> RecipientPrivateKey {
        try RecipientPrivateKey(jwk: SecretBytes(capacity: 512) { $0.append(text: privateJWK) })
    }
}
