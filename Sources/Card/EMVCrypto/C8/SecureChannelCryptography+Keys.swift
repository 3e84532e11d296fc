// SPDX-License-Identifier: Apache-2.0
import Crypto
public import EMV

extension SecureChannelCryptography {
    /// Kernel 8's cryptography with these CA keys for local authentication. Nothing a card sends traps.
    public static func using(_ keys: CAECCPublicKeys) -> SecureChannelCryptography {
        SecureChannelCryptography(
            publicKey: { privateKey in CurvePoint(factor: privateKey).map { $0.x + $0.y } },
            sessionKeys: { privateKey, cardKey in
                // Either point with this x-coordinate leads to the same product.
                CurvePoint(x: cardKey).flatMap { $0.x(times: privateKey) }.flatMap { SessionKeys(secret: $0) }?
                    .operations
            },
            hash: { Array(SHA256.hash(data: $0)) },
            authenticate: { LocalAuthentication(keys: keys, request: $0).failure })
    }
}
