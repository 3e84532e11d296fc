// SPDX-License-Identifier: Apache-2.0
import Crypto

/// What is random in an envelope. Fresh for every one, except where a test repeats a published example.
struct SealingInputs {
    /// `nil` for a fresh key. Made only for the curve that the recipient is on: it is the dearest part of a seal.
    var p256: P256.KeyAgreement.PrivateKey?
    var x25519: Curve25519.KeyAgreement.PrivateKey?
    /// The content key where it is not agreed on: 32 bytes.
    var contentKey = SymmetricKey(size: .bits256)
    /// 12 bytes.
    var nonce = AES.GCM.Nonce()
}
