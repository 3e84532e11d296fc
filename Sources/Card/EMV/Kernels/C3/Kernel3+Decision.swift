// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// What the kernel decided so far about a transaction.
private enum Disposition {
    case decline
    case online
    /// The card's TC may stand.
    case offline
}

extension Kernel3 {
    private static let mandatory: [Tag] = [
        .applicationCryptogram, .aip, .atc, .issuerApplicationData, .track2Equivalent, .dfName, .pdol,
        .amountAuthorised, .transactionCurrency, .transactionDate, .transactionType, .terminalCountry,
        .unpredictableNumber,
    ]

    /// Reading is complete (C-3 5.4): the card may leave, the kernel decides.
    mutating func recordsRead() -> KernelStep {
        let contradiction = store.hasContradictingPANs
        let signals = [UIRequest(.cardReadOK, .cardReadSuccessfully)]
        guard !contradiction, hasWellFormedCardData else { return fail(.cardDataError, at: .cardData) }
        if wasReadBefore { return fail(.cardDataError, at: .restrictions, signals: signals) }
        if isMagStripe { return concludeMagStripe(signals: signals) }
        guard store.firstMissing(of: Kernel3.mandatory) == nil else {
            return fail(.cardDataMissing, at: .cardData, signals: signals)
        }
        return finish(decide(), signals: signals)
    }

    /// The double tap guard: a refund, or a card without a number, is never held back.
    private var wasReadBefore: Bool {
        guard transaction?.type != .refund, let wasRead = options.doubleTaps.wasRead,
            let track = store.value(.track2Equivalent).flatMap({ Track2Equivalent($0) })
        else { return false }
        return wasRead(track.pan, now)
    }

    /// Objects of fixed length that the decision reads; a wrong length makes the card unusable.
    private var hasWellFormedCardData: Bool {
        let fixed: [(tag: Tag, count: Int)] = [
            (.aip, 2), (.atc, 2), (.applicationCryptogram, 8), (.ctq, 2), (.cryptogramInformation, 1),
        ]
        for item in fixed {
            if let count = store.count(item.tag), count != item.count, count != 0 { return false }
        }
        return true
    }

    /// C-3 5.4.3.1: 9F27, or else bits 6 and 5 of byte 5 of the IAD.
    private var cryptogram: ApplicationCryptogram? {
        if let information = store.byte(.cryptogramInformation) {
            return ApplicationCryptogram(cryptogramInformation: information)
        }
        guard let verificationResults = store.byte(.issuerApplicationData, at: 4) else { return nil }
        return ApplicationCryptogram(rawValue: verificationResults << 2 & 0xC0)
    }

    private func decide() -> Outcome {
        let type = cryptogram
        let qualifiers = CTQ(store)
        var disposition: Disposition
        switch type {
        case .aac where options.refundsOnAAC && transaction?.type == .refund: disposition = .online
        case .aac, nil: return declined.ended(at: .cryptogram)
        case .arqc: disposition = .online
        case .tc: disposition = ttq.requiresOnlineCryptogram ? .online : .offline
        }
        if disposition == .offline, !applyOfflineRestrictions(qualifiers, &disposition) {
            return declined.ended(at: .restrictions)
        }
        if let refusal = usageRefusal(qualifiers) { return refusal.ended(at: .restrictions) }
        // Refund: neither authenticated nor verified.
        if transaction?.type == .refund { return complete(disposition, nil, qualifiers) }
        let failsForIssuer = disposition == .online && wantsAuthenticationOnline && !authenticate()
        if disposition == .offline, !authenticate() {
            switch AfterFailedAuthentication(qualifiers, ttq) {
            case .online: disposition = .online
            case .switchInterface: return .tryContact().ended(at: .offlineAuthentication)
            case .decline: return declined.ended(at: .offlineAuthentication)
            }
        }
        guard let cvm = CTQVerification.method(qualifiers, ttq, type, store, needsCDCVMForPIN: true) else {
            return declined.ended(at: .cardholderVerification)
        }
        var outcome = complete(cvm == .onlinePIN ? .online : disposition, cvm, qualifiers)
        if failsForIssuer {
            outcome.error.l2 = .camFailed
            outcome = outcome.ended(at: .offlineAuthentication)
        }
        return outcome
    }

    /// TTQ byte 1 bit 1, and a signature to verify. A failure is told to the host in the Error Indication only: the TVR
    /// that Visa's acquirers get is all zero. Unverified.
    private var wantsAuthenticationOnline: Bool {
        ttq.supportsODAForOnline
            && (store.isPresentNotEmpty(.signedDynamicData) || store.isPresentNotEmpty(.signedStaticData))
    }

    private func complete(_ disposition: Disposition, _ cvm: Outcome.CVM?, _ qualifiers: CTQ?) -> Outcome {
        switch disposition {
        case .decline: declined
        case .online: online(cvm: cvm ?? .noCVM, qualifiers)
        case .offline: approved(cvm: cvm ?? .noCVM)
        }
    }

    /// C-3 5.5.1.1 and 5.5.1.2, for a TC that may stand.
    ///
    /// - Returns: `false` where the transaction is declined.
    private func applyOfflineRestrictions(_ qualifiers: CTQ?, _ disposition: inout Disposition) -> Bool {
        let expiry = store.value(.expirationDate).flatMap { EMVDate(yymmdd: $0) }
        if ProcessingRestrictions.isExpired(expiry, on: transaction?.date) {
            guard qualifiers?.goesOnlineIfExpired == true else { return false }
            disposition = .online
        }
        guard let track = store.value(.track2Equivalent).flatMap({ Track2Equivalent($0) }) else { return false }
        return !options.exceptionFile.contains(track.pan, store.byte(.panSequenceNumber))
    }

    /// C-3 5.5.1.3 and 5.5.1.4: manual cash and cashback. A card without 9F07 or 5F28 allows neither (one source). A card
    /// that is not valid at cash machines (A.2, byte 1 bit 1) is refused by one like a card without cash (unverified).
    private func usageRefusal(_ qualifiers: CTQ?) -> Outcome? {
        guard let transaction else { return nil }
        let usage = store.isPresentNotEmpty(.issuerCountry) ? ApplicationUsageControl(store) : nil
        let domestic = store.isEqual(.issuerCountry, .terminalCountry)
        let isCashRefused = transaction.type.isCash && usage?.cash(domestic: domestic) != true
        if risk.checksCash, isCashRefused || isCashMachine && qualifiers?.isRefusedByCashMachines == true {
            return qualifiers?.switchesInterfaceForCash == true ? Kernel3.insertOrSwipeForContact : declined
        }
        let isCashback =
            transaction.type == .purchaseWithCashback
            || transaction.type == .purchase && transaction.otherAmount ?? 0 > 0
        if risk.checksCashback, isCashback, usage?.cashback(domestic: domestic) != true {
            return qualifiers?.switchesInterfaceForCashback == true ? Kernel3.insertOrSwipeForContact : declined
        }
        return nil
    }

    private var isCashMachine: Bool {
        terminalType.isATM(additionalCapabilities: store.byte(.additionalTerminalCapabilities) ?? 0)
    }
}

/// Offline data authentication (C-3 5.6).
extension Kernel3 {
    private func authenticate() -> Bool {
        guard let method = authenticationMethod else { return false }
        return authentication?.verified(method, store, staticData: authenticatedRecords) != nil
    }

    /// fDDA where the card has a dynamic signature, else SDA. Version 01 of 9F69 hashes amount, currency and the card's
    /// data too; version 00 the unpredictable number alone.
    private var authenticationMethod: AuthenticationRequest.Method? {
        guard store.isPresentNotEmpty(.signedDynamicData) else {
            return store.isPresentNotEmpty(.signedStaticData) ? .sda : nil
        }
        guard let related = store.value(.cardAuthenticationRelatedData), let number = store.value(.unpredictableNumber)
        else { return nil }
        switch related[0] {
        case 0x00: return .dda(terminalDynamicData: number)
        case 0x01 where related.count >= 5:
            let amount = store.value(.amountAuthorised) ?? []
            let currency = store.value(.transactionCurrency) ?? []
            return .dda(terminalDynamicData: number + amount + currency + related)
        case _: return nil
        }
    }
}
