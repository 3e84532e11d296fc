// SPDX-License-Identifier: Apache-2.0
import CardBytes
public import Envelope

/// The published TEST key pair that the sandbox signs profiles with. THE PRIVATE HALF IS IN THIS FILE, for everybody to
/// read: a daemon in live mode refuses what it has signed. Its public half is `VerificationKey.sandboxTest`.
public enum TestSigner {
    /// The whole key as a JWK; `kid` starts with `test-`.
    public static let privateJWK: StaticString = """
        {"kty":"EC","crv":"P-256","kid":"test-nfc-tap-profile-1","use":"sig","alg":"ES256",\
        "x":"-J6qMWSWwxwEhdjozylClhw7dtE5nE7lw_ri1bEIIko",\
        "y":"ReTBWKtdphffz6paSc5vnwH9EY_Q4VKUFVLdu0PV2ck",\
        "d":"2Ke_ycFbvC6gaOfsiM5u1ISyFFJEp8DIUm20tektgJU"}
        """

    /// - Throws: never with the constant above.
    public static func key() throws(RecipientKeyError) -> SigningKey {
        try SigningKey(jwk: SecretBytes(capacity: 512) { $0.append(text: privateJWK) })
    }
}
