// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV

/// A public key out of an issuer or ICC certificate: its left part stands in the certificate, what does not fit in a
/// remainder beside it (EMV Book 2 §5.3, §6.3 and §6.4).
enum CertifiedKey {
    /// - Parameters:
    ///   - field: the certificate's field for the key, padded with BB on the right where the key is shorter.
    ///   - length: the certificate's statement about the key's length in bytes.
    ///   - remainder: 92 or 9F48; empty where absent.
    ///   - exponent: 9F32 or 9F47.
    static func assembled(
        field: ArraySlice<UInt8>, length: Int, remainder: [UInt8], exponent: [UInt8]
    ) throws(AuthenticationFailure) -> RSAPublicKey {
        let modulus: [UInt8]
        if length <= field.count {
            guard remainder.isEmpty else { throw .lengthMismatch }
            modulus = Array(field.prefix(length))
        } else {
            guard remainder.count == length - field.count else {
                throw remainder.isEmpty ? .dataMissing : .lengthMismatch
            }
            modulus = field + remainder
        }
        guard let number = RSAPublicKey.exponent(exponent), let key = RSAPublicKey(modulus: modulus, exponent: number)
        else { throw .malformedRecoveredData }
        return key
    }

    /// The date MMYY of a certificate, which is valid through the last day of that month.
    static func expiry(_ bytes: ArraySlice<UInt8>) throws(AuthenticationFailure) -> EMVDate {
        guard let date = EMVDate(mmyy: bytes), (1...12).contains(date.month) else { throw .malformedRecoveredData }
        return date
    }
}
