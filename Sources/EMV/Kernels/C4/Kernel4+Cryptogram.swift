import CardBytes

/// From the last record to the answer of GENERATE AC.
extension Kernel4 {
    mutating func prepareCryptogram() -> KernelStep {
        guard store.firstMissing(of: [0x5A, 0x5F24, 0x8C]) == nil else {
            return finish(.unusableCard(.cardDataMissing))
        }
        chooseLimits()
        if limits.exceedsTransactionLimit { return finish(overLimit) }
        authenticateBefore()
        tvr.formUnion(ProcessingRestrictions.evaluate(store))
        if limits.exceedsFloorLimit { tvr.insert(.floorLimitExceeded) }
        if activation?.isForcedOnline == true { tvr.insert(.merchantForcedOnline) }
        switch verifyCardholder() {
        case .selected(let selected): selection = selected
        case .seePhone: return finish(.seePhone(languagePreference: language))
        case .impossible(let failed):
            if readerHasContact { return finish(.tryContact()) }
            selection = failed
        }
        tvr.formUnion(selection.tvr)
        store.set(0x9F34, selection.results)
        store.set(0x95, tvr.bytes)
        requested = analyse()
        return generateAC()
    }

    /// CDA where card (AIP byte 1 bit 1) and reader (9F33 byte 3 bit 4) do it, else SDA where the card does (bit 7),
    /// else none.
    private mutating func authenticateBefore() {
        let profile = store.byte(0x82) ?? 0
        if profile & 0x01 != 0, (store.byte(0x9F33, at: 2) ?? 0) & 0x08 != 0 {
            wantsCDA = true
            tvr.formUnion(authentication?.missingForCDA(store, staticData: staticData) ?? .cdaFailed)
        } else if profile & 0x40 != 0 {
            tvr.insert(.sdaSelected)
            if let data = authentication?.verified(.sda, store, staticData: staticData) {
                store.set(0x9F45, data.dataAuthenticationCode)
            } else {
                tvr.insert(.sdaFailed)
            }
        } else {
            tvr.insert(.odaNotPerformed)
        }
    }

    /// Below the limit no verification is required and the results stay 3F 00 00. A card without AIP byte 1 bit 5, or
    /// without a list, cannot verify anybody; that this counts as impossible is unverified.
    private func verifyCardholder() -> Kernel4CVM.Result {
        guard limits.requiresCVM else { return .selected(.notPerformed) }
        guard (store.byte(0x82) ?? 0) & 0x10 != 0 else { return .impossible(.failed) }
        guard let list = store.value(0x8E).flatMap({ CVMList($0) }) else {
            var failed = CVMSelection.failed
            failed.tvr.insert(.iccDataMissing)
            return .impossible(failed)
        }
        let conditions = CVMConditions(
            amount: activation?.transaction.amount ?? 0, otherAmount: store.digits(0x9F03) ?? 0,
            transactionType: activation?.transaction.type ?? .purchase, terminalType: terminalType,
            isApplicationCurrency: store.isEqual(0x9F42, 0x5F2A), capabilities: store.byte(0x9F33, at: 1) ?? 0)
        return Kernel4CVM(
            conditions: conditions, supportsMobileCVM: isMobile && (store.byte(0x9F6E, at: 1) ?? 0) & 0x80 != 0,
            mobileResults: MobileCVMResults(store.value(0x9F71)), isSecondTap: activation?.isRestart ?? false
        ).walk(list)
    }

    /// Terminal action analysis (EMV Book 3 §10.7). A reader that never goes online answers for the issuer: Y1 or Z1.
    private mutating func analyse() -> CryptogramType {
        let codes = ActionCodes(denial: action(0xDF8121), online: action(0xDF8122), default: action(0xDF8120), store)
        let decision = codes.decide(tvr, terminalType)
        if terminalType.isOfflineOnly { store.set(0x8A, Array((decision == .tc ? "Y1" : "Z1").utf8)) }
        return decision
    }

    /// Without records there is nothing static.
    private var staticData: [UInt8]? { records.map { $0.authenticatedData } ?? [] }

    private func action(_ tag: Tag) -> TVR { store.value(tag).flatMap { TVR($0) } ?? [] }

    /// An AAC is never signed.
    mutating func generateAC() -> KernelStep {
        requestedCDA = wantsCDA && !tvr.contains(.cdaFailed) && requested != .aac
        guard let values = store.fill(listIn: 0x8C),
            let command = GenerateAC.command(requested, cda: requestedCDA, cdolData: values)
        else { return finish(.unusableCard(.cardDataError)) }
        cdolData = values
        state = .generatingAC
        return KernelStep(.transmit(command))
    }

    mutating func cryptogramReceived(_ response: ResponseAPDU) -> KernelStep {
        guard response.status.isSuccess else { return cryptogramRefused(response.status) }
        let signedPart: [UInt8]
        do throws(CardDataError) {
            signedPart = try GenerateAC.store(response.data, in: &store, policy: Kernel4.policy)
        } catch {
            return finish(.unusableCard(error.l2))
        }
        let signals = [UIRequest(.cardReadOK, .cardReadSuccessfully, languagePreference: language)]
        guard store.count(0x9F36) == 2, store.count(0x9F27) == 1 else {
            return finish(.unusableCard(.cardDataMissing), signals: signals)
        }
        guard let answered = CryptogramType(cryptogramInformation: store.byte(0x9F27) ?? 0),
            answered.isAllowed(for: requested)
        else { return finish(.unusableCard(.cardDataError), signals: signals) }
        if requestedCDA, answered != .aac {
            guard verifyCombined(signedPart) else { return finish(declined, signals: signals) }
        } else if store.count(0x9F26) != 8 {
            return finish(.unusableCard(.cardDataMissing), signals: signals)
        }
        return finish(isMagStripe ? magStripeOutcome(answered) : outcome(answered), signals: signals)
    }

    /// 6984 of a consumer device asks for its holder; anything else ends the application.
    private mutating func cryptogramRefused(_ status: StatusWord) -> KernelStep {
        if status == .referenceDataInvalidated, isMobile {
            return finish(.seePhone(statusWord: status, languagePreference: language))
        }
        return finish(.unusableCard(.statusBytes, statusWord: status))
    }

    /// A missing or wrong signature is a failed CDA.
    private mutating func verifyCombined(_ signedPart: [UInt8]) -> Bool {
        guard store.isPresentNotEmpty(0x9F4B),
            let data = authentication?.verifiedCombined(
                store, staticData: staticData, transactionData: pdolData + cdolData + signedPart)
        else {
            tvr.insert(.cdaFailed)
            store.set(0x95, tvr.bytes)
            return false
        }
        store.set(0x9F26, data.cryptogram)
        store.set(0x9F4C, data.iccDynamicNumber)
        return true
    }
}
