// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// From the last record to the answer of GENERATE AC.
extension Kernel4 {
    /// Mandatory objects (K4-2), then the steps in the order of EMV Book 3 §10.3 to §10.7.
    mutating func prepareCryptogram() -> KernelStep {
        guard store.firstMissing(of: [.pan, .expirationDate, .cdol1]) == nil else {
            return fail(.cardDataMissing, at: .cardData)
        }
        chooseLimits()
        if limits.exceedsTransactionLimit { return finish(overLimit.ended(at: .cardData)) }
        authenticateBefore()
        tvr.formUnion(ProcessingRestrictions.evaluate(store))
        if limits.exceedsFloorLimit { tvr.insert(.floorLimitExceeded) }
        if activation?.isForcedOnline == true { tvr.insert(.merchantForcedOnline) }
        switch verifyCardholder() {
        case .selected(let selected): selection = selected
        case .seePhone:
            return finish(.seePhone(languagePreference: language).ended(at: .cardholderVerification))
        case .impossible(let failed):
            if readerHasContact { return finish(.tryContact().ended(at: .cardholderVerification)) }
            selection = failed
        }
        tvr.formUnion(selection.tvr)
        store.set(.cvmResults, selection.results)
        store.set(.tvr, tvr.bytes)
        requested = analyse()
        return generateAC(orFail: .cardDataError)
    }

    /// K4-3. CDA where card (AIP byte 1 bit 1) and reader (9F33 byte 3 bit 4) do it, else SDA where the card does (bit
    /// 7), else none.
    private mutating func authenticateBefore() {
        let profile = store.byte(.aip) ?? 0
        if profile & 0x01 != 0, (store.byte(.terminalCapabilities, at: 2) ?? 0) & 0x08 != 0 {
            wantsCDA = true
            tvr.formUnion(authentication?.missingForCDA(store, staticData: authenticatedRecords) ?? .cdaFailed)
        } else if profile & 0x40 != 0 {
            tvr.insert(.sdaSelected)
            if let data = authentication?.verified(.sda, store, staticData: authenticatedRecords) {
                store.set(.dataAuthenticationCode, data.dataAuthenticationCode)
            } else {
                tvr.insert(.sdaFailed)
            }
        } else {
            tvr.insert(.odaNotPerformed)
        }
    }

    /// K4-5. Below the limit no verification is required and the results stay 3F 00 00. A card without AIP byte 1 bit
    /// 5, or without a list, cannot verify anybody; that this counts as impossible is unverified.
    private func verifyCardholder() -> Kernel4CVM.Result {
        guard limits.requiresCVM else { return .selected(.notPerformed) }
        guard (store.byte(.aip) ?? 0) & 0x10 != 0 else { return .impossible(.failed) }
        guard let list = store.value(.cvmList).flatMap({ CVMList($0) }) else {
            var failed = CVMSelection.failed
            failed.tvr.insert(.iccDataMissing)
            return .impossible(failed)
        }
        let conditions = CVMConditions(
            amount: activation?.transaction.amount ?? 0, otherAmount: store.digits(.amountOther) ?? 0,
            transactionType: activation?.transaction.type ?? .purchase, terminalType: terminalType,
            isApplicationCurrency: store.isEqual(.applicationCurrency, .transactionCurrency),
            capabilities: store.byte(.terminalCapabilities, at: 1) ?? 0)
        return Kernel4CVM(
            conditions: conditions,
            supportsMobileCVM: isMobile && (store.byte(.enhancedReaderCapabilities, at: 1) ?? 0) & 0x80 != 0,
            mobileResults: MobileCVMResults(store.value(.mobileCVMResults)), isSecondTap: activation?.isRestart ?? false
        ).walk(list)
    }

    /// K4-6: terminal action analysis (EMV Book 3 §10.7). A reader that never goes online answers for the issuer: Y1 or
    /// Z1.
    private mutating func analyse() -> ApplicationCryptogram {
        let decision = ActionCodes(store).decide(tvr, terminalType)
        if terminalType.isOfflineOnly {
            store.set(.authorisationResponseCode, Array((decision == .tc ? "Y1" : "Z1").utf8))
        }
        return decision
    }

    /// K4-7, with EMV Book 2 §6.6 for the signature.
    mutating func cryptogramReceived(_ response: ResponseAPDU) -> KernelStep {
        guard response.status.isSuccess else { return cryptogramRefused(response.status) }
        let signedPart: [UInt8]
        do throws(CardDataError) {
            signedPart = try GenerateAC.store(response.data, in: &store, policy: Kernel4.policy)
        } catch {
            return fail(error.l2)
        }
        let signals = [cardRead]
        guard store.count(.atc) == 2, store.count(.cryptogramInformation) == 1 else {
            return fail(.cardDataMissing, signals: signals)
        }
        guard let answered = ApplicationCryptogram(cryptogramInformation: store.byte(.cryptogramInformation) ?? 0),
            answered.isAllowed(for: requested)
        else { return fail(.cardDataError, signals: signals) }
        if requestedCDA, answered != .aac {
            let transactionData = pdolData + cdolData + signedPart
            guard
                authentication?.verifyCombined(
                    &store, &tvr, staticData: authenticatedRecords, transactionData: transactionData) == true
            else { return finish(declined.ended(at: .offlineAuthentication), signals: signals) }
        } else if store.count(.applicationCryptogram) != 8 {
            return fail(.cardDataMissing, signals: signals)
        }
        return finish(isMagStripe ? magStripeOutcome(answered) : outcome(answered), signals: signals)
    }

    /// K4-7: 6984 of a consumer device asks for its holder; anything else ends the application.
    private mutating func cryptogramRefused(_ status: StatusWord) -> KernelStep {
        if status == .referenceDataInvalidated, isMobile {
            return finish(.seePhone(statusWord: status, languagePreference: language))
        }
        return fail(.statusBytes, statusWord: status)
    }
}
