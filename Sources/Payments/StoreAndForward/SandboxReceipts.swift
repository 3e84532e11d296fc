// SPDX-License-Identifier: Apache-2.0
public import Envelope

/// The published TEST key of the sandbox's receipts: anybody can sign with its private half. For test mode only.
public enum SandboxReceipts {
    /// The public half, as a JWK.
    public static let publicJWK = """
        {"kty":"EC","crv":"P-256","kid":"test-nfc-tap-sandbox-receipts-1","use":"sig","alg":"ES256",\
        "x":"o_uiPKFy16aN_dhIqhKVjTnVge-xB-xzq5Gf4E1S5RA","y":"6HErznpunWASbv2FZ8Q9O0piqzGzXX-3mHxDUka6HDk"}
        """

    /// `nil` never with the constant above.
    public static let key: VerificationKey? = try? VerificationKey(jwk: Array(publicJWK.utf8))
}
