// SPDX-License-Identifier: Apache-2.0
import EMV

/// What an EMV signature with recovery yields: `6A ‖ format ‖ … ‖ hash (20) ‖ BC` (EMV Book 2 §A2.1).
struct RecoveredData {
    enum Format: UInt8 {
        case issuerCertificate = 0x02
        case signedStaticData = 0x03
        case iccCertificate = 0x04
        case signedDynamicData = 0x05
    }

    let bytes: [UInt8]

    /// Recovers `signature` with `key` and checks header, format and trailer.
    init(_ signature: [UInt8], with key: RSAPublicKey, format: Format) throws(AuthenticationFailure) {
        // 25 bytes are frame, hash and the fixed fields of the shortest format: no offset below can be out of range.
        guard signature.count == key.byteCount, key.byteCount >= 64 else { throw .lengthMismatch }
        guard let recovered = key.recover(signature), recovered.first == 0x6A, recovered[1] == format.rawValue,
            recovered.last == 0xBC
        else { throw .malformedRecoveredData }
        bytes = recovered
    }

    /// What stands between the header and the hash, format byte included: the first part of every hash.
    var signed: ArraySlice<UInt8> { bytes[1..<(bytes.count - 21)] }

    var hash: ArraySlice<UInt8> { bytes[(bytes.count - 21)..<(bytes.count - 1)] }

    /// Whether the hash is that of the recovered part followed by `rest`.
    func isHash(followedBy rest: [UInt8]...) -> Bool {
        var input = Array(signed)
        for part in rest { input += part }
        return sha1(input).elementsEqual(hash)
    }
}

extension AuthenticationFailure: Error {}
