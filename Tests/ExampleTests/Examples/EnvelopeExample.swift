// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Envelope

/// A compact JWE that only the holder of the recipient's private key can open.
func seal(_ record: SecretBytes, toJWK jwk: String) throws -> String {
    let recipient = try RecipientKey(jwk: Array(jwk.utf8))
    return try JWE.seal(record, to: recipient)
}
