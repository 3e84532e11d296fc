// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension Kernel6 {
    /// Reading is complete: the card may leave, the kernel decides.
    mutating func recordsRead() -> KernelStep {
        guard let requirements = CardProcessingRequirements(store) else { return fail(.cardDataError, at: .cardData) }
        let outcome = decide(requirements)
        return finish(outcome, signals: outcome.status == .endApplication ? [] : [cardRead])
    }

    /// K6-4: terminal action analysis, by the cryptogram that is there already. That a loyalty program turns an AAC
    /// into something else is not done.
    private mutating func decide(_ requirements: CardProcessingRequirements) -> Outcome {
        var isOnline = false
        switch store.byte(.cryptogramInformation).flatMap({ ApplicationCryptogram(cryptogramInformation: $0) }) {
        case .aac, nil: return declined.ended(at: .cryptogram)
        case .tc:
            if ttq.requiresOnlineCryptogram { return declined.ended(at: .cryptogram) }
            authenticate()
        case .arqc:
            guard store.count(.applicationCryptogram) == 8 else {
                return .unusableCard(.cardDataMissing).ended(at: .cryptogram)
            }
            isOnline = true
        }
        restrict()
        if !tvr.isDisjoint(with: [.serviceNotAllowed, .onExceptionFile, .iccDataMissing]) {
            return declined.ended(at: tvr.contains(.iccDataMissing) ? .offlineAuthentication : .restrictions)
        }
        if tvr.contains(.cdaFailed) {
            switch afterFailedCDA(requirements) {
            case .online: isOnline = true
            case .switchInterface: return .tryContact().ended(at: .offlineAuthentication)
            case .decline: return declined.ended(at: .offlineAuthentication)
            }
        }
        if tvr.contains(.expired) {
            if requirements.declinesIfExpired { return declined.ended(at: .restrictions) }
            isOnline = true
        }
        if tvr.contains(.notYetEffective) { isOnline = true }
        guard let chosen = verification(requirements) else { return unverified.ended(at: .cardholderVerification) }
        if chosen.cvm == .onlinePIN { isOnline = true }
        tvr.formUnion(chosen.tvr)
        store.set(.tvr, tvr.bytes)
        store.set(.tsi, tsi.bytes)
        store.set(.cvmResults, chosen.results)
        if isOnline, ttq.isOfflineOnly {
            let refused: Outcome =
                requirements.switchesInterfaceIfOffline && ttq.supportsContactChip ? .tryContact() : declined
            return refused.ended(at: .actionAnalysis)
        }
        return isOnline ? online(chosen) : approved(chosen)
    }

    /// K6-2. CDA (EMV Book 2 §6.6) over the answer to GET PROCESSING OPTIONS. A TC without a signature is none that
    /// anybody vouches for; that it counts as a failed CDA is unverified.
    private mutating func authenticate() {
        tvr.remove(.odaNotPerformed)
        tsi.insert(.odaPerformed)
        guard store.isPresentNotEmpty(.signedDynamicData) else {
            tvr.insert(.cdaFailed)
            return
        }
        let staticData = authenticatedRecords
        tvr.formUnion(authentication?.missingForCDA(store, staticData: staticData) ?? .cdaFailed)
        guard !tvr.contains(.cdaFailed) else { return }
        _ = authentication?.verifyCombined(
            &store, &tvr, staticData: staticData, transactionData: pdolData + signedPart)
    }

    private enum AfterFailure {
        case online
        case switchInterface
        case decline
    }

    /// K6-2, by the card's requirements.
    private func afterFailedCDA(_ requirements: CardProcessingRequirements) -> AfterFailure {
        // Without the cryptogram of its signature a TC has nothing to go online with.
        if requirements.goesOnlineIfCDAFails, !ttq.isOfflineOnly, store.count(.applicationCryptogram) == 8 {
            return .online
        }
        if requirements.switchesInterfaceIfCDAFails, ttq.supportsContactChip { return .switchInterface }
        return .decline
    }

    /// K6-3. Application usage control, dates (EMV Book 3 §10.4) and exception file; versions are not compared.
    private mutating func restrict() {
        tvr.formUnion(ProcessingRestrictions.evaluate(store).subtracting(.differentVersions))
        let pan = store.packedPAN.flatMap { BCD.digits($0) }
        if let pan, options.exceptionFile.contains(pan, store.byte(.panSequenceNumber)) { tvr.insert(.onExceptionFile) }
    }

    /// K6-5. What both sides agree on, in the order of the card's requirements.
    ///
    /// - Returns: `nil` where nothing is left.
    private func verification(_ requirements: CardProcessingRequirements) -> CVMSelection? {
        let none = CVMSelection(cvm: .noCVM, results: [0x1F, 0x00, 0x02])
        let signature = CVMSelection(cvm: .obtainSignature, results: [0x1E, 0x00, 0x00], receipt: true)
        if !ttq.requiresCVM, !requirements.requiresOnlinePIN, !requirements.requiresSignature { return none }
        if requirements.requiresOnlinePIN {
            if ttq.supportsOnlinePIN {
                return CVMSelection(cvm: .onlinePIN, results: [0x02, 0x00, 0x00], tvr: .onlinePINEntered)
            }
            if requirements.allowsSignatureInstead, ttq.supportsSignature { return signature }
        }
        if requirements.requiresSignature, ttq.supportsSignature { return signature }
        if ttq.supportsCDCVM, isVerifiedByDevice(requirements) {
            return CVMSelection(cvm: .confirmationCodeVerified, results: [0x01, 0x00, 0x02])
        }
        return requirements.allowsNoCVMInstead ? none : nil
    }

    /// K6-5. Card Verification Results are bytes 3 to 10 of 9F10; of their byte 2, bit 2 says performed, bit 1 failed.
    private func isVerifiedByDevice(_ requirements: CardProcessingRequirements) -> Bool {
        let results = store.byte(.issuerApplicationData, at: 3) ?? 0
        return results & 0x01 == 0 && (results & 0x02 != 0 || requirements.consumerDeviceCVMPerformed)
    }
}

// MARK: Outcomes

extension Kernel6 {
    private static let recordTags: [Tag] = [
        .amountAuthorised, .amountOther, .applicationCryptogram, .terminalAID, .aip, .panSequenceNumber, .atc,
        .applicationUsageControl, .cardholderName, .cryptogramInformation, .dfName, .issuerApplicationData,
        .readerApplicationVersion, .terminalCapabilities, .terminalCountry, .terminalType, .tvr,
        .track1DiscretionaryData, .track2Equivalent, .transactionDate, .transactionType, .unpredictableNumber, .tsi,
        .transactionCurrency, .paymentAccountReference, .tokenRequestorID,
    ]

    private var declined: Outcome { Outcome(.declined, cvm: .noCVM, uiOnOutcome: message(.notAuthorised)) }

    /// K6-5. No cardholder verification can be made: the contact interface, or the end.
    private var unverified: Outcome {
        if ttq.supportsContactChip { return .tryContact() }
        return Outcome(
            .endApplication, uiOnOutcome: message(.insertSwipeOrTryAnotherCard),
            error: ErrorIndication(messageOnError: .insertSwipeOrTryAnotherCard))
    }

    private func approved(_ selection: CVMSelection) -> Outcome {
        let text = selection.cvm == .obtainSignature ? UIRequest.Message.approvedPleaseSign : .approved
        return Outcome(
            .approved, cvm: selection.cvm, uiOnOutcome: message(text), dataRecord: store.objects(Kernel6.recordTags),
            receipt: selection.receipt)
    }

    private func online(_ selection: CVMSelection) -> Outcome {
        Outcome(
            .onlineRequest, cvm: selection.cvm, uiOnOutcome: message(.authorising),
            dataRecord: store.objects(Kernel6.recordTags), receipt: selection.receipt)
    }
}
