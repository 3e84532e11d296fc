// SPDX-License-Identifier: Apache-2.0
import EMV
import EMVCrypto

/// What kernels verify signatures with: one key of a scheme, held against its published checksum.
func authentication(
    rid: String, index: String, modulus: String, checksum: String
) throws(CAPublicKeyError) -> OfflineAuthentication {
    let key = try CAPublicKey(
        rid: rid, index: index, modulus: modulus, exponent: "03", checksum: checksum, environment: .live)
    return .using(try CAPublicKeys(environment: .live, keys: [key]))
}
