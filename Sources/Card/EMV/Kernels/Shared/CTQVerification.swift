// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Cardholder verification by the Card Transaction Qualifiers (9F6C), in kernels 3 and 7 (C-3 5.7; K7-3: no public
/// source has kernel 7's clause, one implementation does it so).
enum CTQVerification {
    /// - Parameters:
    ///   - qualifiers: the card's wish; `nil` where it sent none.
    ///   - type: of the card's cryptogram; `nil` where there is none.
    ///   - needsCDCVMForPIN: without qualifiers an online PIN is for a reader that knows consumer device verification too
    ///     (C-3 5.7.1.1).
    /// - Returns: `nil` where a verification is required and none is possible. An online PIN is verified by the issuer
    ///   only, so that it forces the transaction online (unverified where the card sent no qualifiers).
    static func method(
        _ qualifiers: CTQ?, _ ttq: TTQ, _ type: ApplicationCryptogram?, _ store: DataStore,
        needsCDCVMForPIN: Bool = false
    ) -> Outcome.CVM? {
        guard let qualifiers else {
            if !ttq.requiresCVM { return .noCVM }
            if ttq.supportsSignature { return .obtainSignature }
            return ttq.supportsOnlinePIN && (ttq.supportsCDCVM || !needsCDCVMForPIN) ? .onlinePIN : nil
        }
        if qualifiers.requiresOnlinePIN, ttq.supportsOnlinePIN { return .onlinePIN }
        if qualifiers.consumerDeviceCVMPerformed {
            return isDeviceVerificationTrue(type, store) ? .confirmationCodeVerified : nil
        }
        if qualifiers.requiresSignature, ttq.supportsSignature { return .obtainSignature }
        return ttq.requiresCVM ? nil : .noCVM
    }

    /// The CTQ came in the clear: its copy in bytes 6 and 7 of 9F69 has to agree. Without 9F69 an online cryptogram
    /// vouches for it.
    private static func isDeviceVerificationTrue(_ type: ApplicationCryptogram?, _ store: DataStore) -> Bool {
        guard let related = store.value(.cardAuthenticationRelatedData) else { return type == .arqc }
        return related.count >= 7 && Array(related[5...6]) == store.value(.ctq)
    }
}
