// SPDX-License-Identifier: Apache-2.0
import EMV

/// The signatures that authenticate a card's data.
enum SignedData {
    /// Signed Static Application Data, tag 93 (EMV Book 2 §5.4).
    static func verifyStatic(
        _ request: AuthenticationRequest, issuer: RSAPublicKey
    ) throws(AuthenticationFailure) -> AuthenticatedData {
        let recovered = try RecoveredData(request.signature, with: issuer, format: .signedStaticData)
        guard recovered.bytes[2] == 0x01 else { throw .unsupportedAlgorithm }
        guard recovered.isHash(followedBy: request.staticData) else { throw .signatureHash }
        return AuthenticatedData(dataAuthenticationCode: Array(recovered.bytes[3..<5]))
    }

    /// Signed Dynamic Application Data, tag 9F4B, of DDA and fDDA (EMV Book 2 §6.5.2, Book C-3).
    static func verifyDynamic(
        _ request: AuthenticationRequest, icc: RSAPublicKey, terminalDynamicData: [UInt8]
    ) throws(AuthenticationFailure) -> AuthenticatedData {
        let signed = try DynamicData(request.signature, with: icc, hashedWith: terminalDynamicData)
        return AuthenticatedData(iccDynamicNumber: signed.number)
    }

    /// Signed Dynamic Application Data of CDA (EMV Book 2 §6.6.2): the signature also carries the cryptogram and a
    /// hash over what terminal and card told each other.
    static func verifyCombined(
        _ request: AuthenticationRequest, icc: RSAPublicKey, unpredictableNumber: [UInt8], transactionData: [UInt8],
        cryptogramInformation: UInt8
    ) throws(AuthenticationFailure) -> AuthenticatedData {
        let signed = try DynamicData(request.signature, with: icc, hashedWith: unpredictableNumber)
        // CID (1), cryptogram (8), transaction data hash (20), then what a kernel may add.
        guard signed.rest.count >= 29 else { throw .malformedRecoveredData }
        guard signed.rest[0] == cryptogramInformation else { throw .cryptogramInformationMismatch }
        guard sha1(transactionData).elementsEqual(signed.rest[9..<29]) else { throw .transactionDataHash }
        return AuthenticatedData(
            iccDynamicNumber: signed.number, cryptogram: Array(signed.rest[1..<9]), extra: Array(signed.rest[29...]))
    }

    /// The ICC dynamic data inside a signature (EMV Book 2 §6.5.2 table 15).
    private struct DynamicData {
        /// ICC Dynamic Number (9F4C), 2…8 bytes.
        let number: [UInt8]
        /// What follows the number, indexed from 0.
        let rest: [UInt8]

        init(
            _ signature: [UInt8], with key: RSAPublicKey, hashedWith terminalData: [UInt8]
        ) throws(AuthenticationFailure) {
            guard !signature.isEmpty else { throw .dataMissing }
            let recovered = try RecoveredData(signature, with: key, format: .signedDynamicData)
            let bytes = recovered.bytes
            guard recovered.isHash(followedBy: terminalData) else { throw .signatureHash }
            guard bytes[2] == 0x01 else { throw .unsupportedAlgorithm }
            let length = Int(bytes[3])
            guard length <= bytes.count - 25, length >= 1 else { throw .malformedRecoveredData }
            let data = Array(bytes[4..<(4 + length)])
            let count = Int(data[0])
            guard (2...8).contains(count), count < length else { throw .malformedRecoveredData }
            number = Array(data[1...count])
            rest = Array(data[(count + 1)...])
        }
    }
}
