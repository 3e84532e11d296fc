// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV

/// Offline data authentication (EMV Book 2 §5 and §6): which method, what came of it, or why there was none.
enum AuthenticationStory {
    static func sentences(_ facts: TapFacts) -> [String] {
        guard facts.exchange(where: \.isProcessingOptions)?.response?.status.isSuccess == true else { return [] }
        var sentences = facts.authentications.map { result($0, facts) }
        if sentences.isEmpty { sentences.append(absence(facts)) }
        if facts.kernel == .mastercard, facts.bit(.aip, byte: 1, 0x01), facts.authentications.isEmpty,
            facts.tvr?.contains(.cdaFailed) == true
        {
            sentences.append("The TVR says CDA failed: certificates or the CA key were missing.")
        }
        return sentences
    }

    private static func result(_ authentication: TapTrace.Authentication, _ facts: TapFacts) -> String {
        let name =
            authentication.method == .dda && facts.kernel == .visa
            ? "fDDA\(facts.card(.cardAuthenticationRelatedData)?.first.map { " version \(Hex.string([$0]))" } ?? "")"
            : authentication.method.rawValue
        let key = "CA key \(Hex.string([authentication.caIndex]))"
        guard let failure = authentication.failure else {
            return "\(name): verified with \(key) over \(Phrase.bytes(authentication.signedBytes)) of signed records."
        }
        return "\(name): failed with \(key): \(reason(failure))."
    }

    private static func absence(_ facts: TapFacts) -> String {
        if facts.exchange(where: \.isChecksumCommand) != nil { return "Not made: mag-stripe mode has none." }
        return switch facts.kernel {
        case .visa?, .discover?, .unionPay?:
            switch facts.cryptogram {
            case .arqc?: "Not made: the issuer checks an online cryptogram."
            case .tc? where facts.card(.signedDynamicData) == nil && facts.card(.signedStaticData) == nil:
                "Not possible: the card sent no signature."
            case .tc? where facts.ttq?.requiresOnlineCryptogram == true: "Not made: the transaction goes online anyway."
            case .tc?, .aac?, nil: "Not made."
            }
        case .mastercard?:
            facts.bit(.aip, byte: 1, 0x01)
                ? "Not verified: the card sent no combined signature."
                : "Not made: the card does not offer CDA (AIP byte 1 bit 1)."
        case _: "Not made."
        }
    }

    static func reason(_ failure: AuthenticationFailure) -> String {
        switch failure {
        case .caKeyMissing: "the terminal does not have this key"
        case .dataMissing: "a certificate, exponent, remainder or signature is missing"
        case .lengthMismatch: "a certificate or signature is not as long as the key"
        case .malformedRecoveredData: "what the key recovers is not in the right format"
        case .unsupportedAlgorithm: "it uses another algorithm than SHA-1 and RSA"
        case .issuerCertificateHash: "the hash of the issuer certificate is wrong"
        case .issuerCertificateExpired: "the issuer certificate has expired"
        case .issuerCertificateRevoked: "the issuer certificate is revoked"
        case .issuerIdentifierMismatch: "the issuer certificate is for other card numbers"
        case .iccCertificateHash: "the hash of the card certificate is wrong"
        case .iccCertificateExpired: "the card certificate has expired"
        case .panMismatch: "the card certificate is for another card number"
        case .signatureHash: "the hash of the signature is wrong"
        case .cryptogramInformationMismatch: "the CID inside the signature is another"
        case .transactionDataHash: "the transaction data hash is wrong"
        }
    }
}
