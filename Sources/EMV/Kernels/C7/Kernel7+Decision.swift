import CardBytes

extension Kernel7 {
    /// Reading is complete: the card may leave, the kernel decides.
    mutating func conclude() -> KernelStep {
        guard let type = cryptogram else { return finish(.unusableCard(.cardDataMissing)) }
        // A TC needs the list of records for its signature, the others the track.
        let own: Tag = type == .tc ? .afl : .track2Equivalent
        guard store.firstMissing(of: [.aip, .atc, .applicationCryptogram, .issuerApplicationData, own]) == nil else {
            return finish(.unusableCard(.cardDataMissing))
        }
        guard store.count(.atc) == 2, store.count(.applicationCryptogram) == 8 else {
            return finish(.unusableCard(.cardDataError))
        }
        let signals = [UIRequest(.cardReadOK, .cardReadSuccessfully, languagePreference: language)]
        return finish(decide(type), signals: signals)
    }

    /// 9F27, or else bits 6 and 5 of byte 5 of the issuer application data. A reserved type counts as an AAC.
    private var cryptogram: CryptogramType? {
        if let information = store.byte(.cryptogramInformation) {
            return CryptogramType(cryptogramInformation: information) ?? .aac
        }
        return store.byte(.issuerApplicationData, at: 4).map { CryptogramType(rawValue: $0 << 2 & 0xC0) ?? .aac }
    }

    private func decide(_ type: CryptogramType) -> Outcome {
        if type == .aac { return declined }
        let qualifiers = CTQ(store)
        var isOnline = type == .arqc || ttq.requiresOnlineCryptogram
        if isExpired(type) {
            guard qualifiers?.goesOnlineIfExpired == true, !ttq.isOfflineOnly else { return declined }
            isOnline = true
        }
        if type == .tc, isOnExceptionFile { return declined }
        if !isOnline, !authenticate() {
            switch AfterFailedAuthentication(qualifiers, ttq) {
            case .online: isOnline = true
            case .switchInterface: return .tryContact()
            case .decline: return declined
            }
        }
        guard let chosen = verification(qualifiers, type) else { return declined }
        // An online PIN is the issuer's to verify.
        return isOnline || chosen == .onlinePIN ? online(chosen) : approved(chosen)
    }

    /// An online card may leave its expiry to the track; an offline approval may not.
    private func isExpired(_ type: CryptogramType) -> Bool {
        let expiry = store.value(.expirationDate)
        if expiry == nil, type == .arqc { return false }
        return ProcessingRestrictions.isExpired(expiry.flatMap { EMVDate(yymmdd: $0) }, on: date)
    }

    private var isOnExceptionFile: Bool {
        guard let pan = store.packedPAN.flatMap({ BCD.digits($0) }) else { return false }
        return options.exceptionFile.contains(pan, store.byte(.panSequenceNumber))
    }
}

// MARK: Offline data authentication

extension Kernel7 {
    /// fDDA, where AIP byte 1 bit 6 promises it.
    private func authenticate() -> Bool {
        guard (store.byte(.aip) ?? 0) & 0x20 != 0, let terminalData = terminalDynamicData else { return false }
        let staticData = records.map { $0.authenticatedData } ?? []
        let method = AuthenticationRequest.Method.dda(terminalDynamicData: terminalData)
        return authentication?.verified(method, store, staticData: staticData) != nil
    }

    /// What the signature's hash ends with. From application version 0030 on amount, currency and the card's own data enter
    /// it; before, and without 9F08 (0020), the unpredictable number alone.
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

// MARK: Cardholder verification

extension Kernel7 {
    /// As kernel 3 has it.
    ///
    /// - Returns: `nil` where a verification is required and none is possible.
    private func verification(_ qualifiers: CTQ?, _ type: CryptogramType) -> Outcome.CVM? {
        guard let qualifiers else {
            if !ttq.requiresCVM { return .noCVM }
            if ttq.supportsSignature { return .obtainSignature }
            return ttq.supportsOnlinePIN ? .onlinePIN : nil
        }
        if qualifiers.requiresOnlinePIN, ttq.supportsOnlinePIN { return .onlinePIN }
        if qualifiers.consumerDeviceCVMPerformed {
            return isDeviceVerificationTrue(type) ? .confirmationCodeVerified : nil
        }
        if qualifiers.requiresSignature, ttq.supportsSignature { return .obtainSignature }
        return ttq.requiresCVM ? nil : .noCVM
    }

    /// Bytes 6 and 7 of 9F69 repeat the qualifiers; without 9F69 an online cryptogram vouches for them.
    private func isDeviceVerificationTrue(_ type: CryptogramType) -> Bool {
        guard let related = store.value(.cardAuthenticationRelatedData) else { return type == .arqc }
        return related.count >= 7 && Array(related[5...6]) == store.value(.ctq)
    }
}
