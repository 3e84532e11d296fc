// SPDX-License-Identifier: Apache-2.0
import CardBytes
public import Envelope

/// The published TEST key that the sandbox signs receipts for batches with. THE PRIVATE HALF IS IN THIS FILE, for
/// everybody to read: what it signs proves nothing. Its public half is `SandboxReceipts.key` of StoreAndForward.
public enum TestReceiptKey {
    /// The whole key as a JWK; `kid` starts with `test-`.
    public static let privateJWK: StaticString = """
        {"kty":"EC","crv":"P-256","kid":"test-nfc-tap-sandbox-receipts-1","use":"sig","alg":"ES256",\
        "x":"o_uiPKFy16aN_dhIqhKVjTnVge-xB-xzq5Gf4E1S5RA",\
        "y":"6HErznpunWASbv2FZ8Q9O0piqzGzXX-3mHxDUka6HDk",\
        "d":"oKzXi_UOHfoeEmCLmJsM9xP-RcRcjEqmY9iBbgibdt8"}
        """

    /// - Throws: never with the constant above.
    public static func signingKey() throws(RecipientKeyError) -> SigningKey {
        try SigningKey(jwk: SecretBytes(capacity: 512) { $0.append(text: privateJWK) })
    }
}
