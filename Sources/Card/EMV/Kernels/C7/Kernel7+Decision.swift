// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension Kernel7 {
    /// K7-1: mandatory objects. Reading is complete: the card may leave, the kernel decides.
    mutating func recordsRead() -> KernelStep {
        guard let type = cryptogram else { return fail(.cardDataMissing, at: .cardData) }
        // A TC needs the list of records for its signature, the others the track.
        let own: Tag = type == .tc ? .afl : .track2Equivalent
        guard store.firstMissing(of: [.aip, .atc, .applicationCryptogram, .issuerApplicationData, own]) == nil else {
            return fail(.cardDataMissing, at: .cardData)
        }
        guard store.count(.atc) == 2, store.count(.applicationCryptogram) == 8 else {
            return fail(.cardDataError, at: .cardData)
        }
        return finish(decide(type), signals: [cardRead])
    }

    /// K7-2. 9F27, or else bits 6 and 5 of byte 5 of the issuer application data. A reserved type counts as an AAC.
    private var cryptogram: ApplicationCryptogram? {
        if let information = store.byte(.cryptogramInformation) {
            return ApplicationCryptogram(cryptogramInformation: information) ?? .aac
        }
        return store.byte(.issuerApplicationData, at: 4).map { ApplicationCryptogram(rawValue: $0 << 2 & 0xC0) ?? .aac }
    }

    /// K7-2 and K7-4, with the CTQ's bits of C-7 Annex A.
    private func decide(_ type: ApplicationCryptogram) -> Outcome {
        if type == .aac { return declined.ended(at: .cryptogram) }
        let qualifiers = CTQ(store)
        var isOnline = type == .arqc || ttq.requiresOnlineCryptogram
        if isExpired(type) {
            guard qualifiers?.goesOnlineIfExpired == true, !ttq.isOfflineOnly else {
                return declined.ended(at: .restrictions)
            }
            isOnline = true
        }
        if type == .tc, isOnExceptionFile { return declined.ended(at: .restrictions) }
        if !isOnline, !authenticate() {
            switch AfterFailedAuthentication(qualifiers, ttq) {
            case .online: isOnline = true
            case .switchInterface: return .tryContact().ended(at: .offlineAuthentication)
            case .decline: return declined.ended(at: .offlineAuthentication)
            }
        }
        guard let chosen = CTQVerification.method(qualifiers, ttq, type, store) else {
            return declined.ended(at: .cardholderVerification)
        }
        // An online PIN is the issuer's to verify.
        return isOnline || chosen == .onlinePIN ? online(chosen) : approved(chosen)
    }

    /// K7-2. An online card may leave its expiry to the track; an offline approval may not.
    private func isExpired(_ type: ApplicationCryptogram) -> Bool {
        let expiry = store.value(.expirationDate)
        if expiry == nil, type == .arqc { return false }
        return ProcessingRestrictions.isExpired(expiry.flatMap { EMVDate(yymmdd: $0) }, on: date)
    }

    /// K7-2.
    private var isOnExceptionFile: Bool {
        guard let pan = store.packedPAN.flatMap({ BCD.digits($0) }) else { return false }
        return options.exceptionFile.contains(pan, store.byte(.panSequenceNumber))
    }
}

// MARK: Offline data authentication

extension Kernel7 {
    /// K7-4: fDDA (EMV Book 2 §6.5), where AIP byte 1 bit 6 promises it.
    private func authenticate() -> Bool {
        guard (store.byte(.aip) ?? 0) & 0x20 != 0, let terminalData = terminalDynamicData else { return false }
        let method = AuthenticationRequest.Method.dda(terminalDynamicData: terminalData)
        return authentication?.verified(method, store, staticData: authenticatedRecords) != nil
    }

    /// K7-4. What the signature's hash ends with. From application version 0030 on amount, currency and the card's own
    /// data enter it; before, and without 9F08 (0020), the unpredictable number alone.
    private var terminalDynamicData: [UInt8]? {
        guard let number = store.value(.unpredictableNumber) else { return nil }
        guard store.number(.cardApplicationVersion, count: 2) ?? 0x0020 >= 0x0030 else { return number }
        guard let related = store.value(.cardAuthenticationRelatedData), (8...16).contains(related.count),
            related[0] == 0x01
        else {
            return nil
        }
        return number + (store.value(.amountAuthorised) ?? []) + (store.value(.transactionCurrency) ?? []) + related
    }
}
