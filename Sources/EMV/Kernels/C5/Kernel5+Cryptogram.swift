import CardBytes

/// From the last record to the answer of GENERATE AC, in EMV and legacy mode.
extension Kernel5 {
    mutating func prepareCryptogram() -> KernelStep {
        guard store.firstMissing(of: [.cdol1, .track2Equivalent, .expirationDate]) == nil else {
            return finish(.selectNext(.cardDataMissing))
        }
        chooseAuthentication()
        if mode == .emv { tvr.formUnion(restrictions) }
        manageRisk()
        store.set(.tvr, tvr.bytes)
        let codes = ActionCodes(
            denial: action(.terminalActionCodeDenial), online: action(.terminalActionCodeOnline),
            default: action(.terminalActionCodeDefault), store)
        let isRefund = activation?.transaction.type == .refund
        requested = Kernel5TAA.decide(tvr, codes, terminalType, isRefund: isRefund)
        // Legacy cards are asked for an ARQC only; that a refund in EMV mode goes on to the card is unverified.
        if requested == .aac, mode == .legacy || !isRefund { return finish(declined) }
        if mode == .legacy { requested = .arqc }
        return generateAC()
    }

    private func action(_ tag: Tag) -> TVR { store.value(tag).flatMap { TVR($0) } ?? [] }

    private mutating func chooseAuthentication() {
        guard mode == .emv, combination.contains(.offlineAuthentication), (store.byte(.aip) ?? 0) & 0x01 != 0 else {
            tvr.insert(.odaNotPerformed)
            return
        }
        wantsCDA = true
        tvr.formUnion(authentication?.missingForCDA(store, staticData: staticData) ?? .cdaFailed)
    }

    /// Application usage control and dates; versions are not compared.
    private var restrictions: TVR {
        let country: Tag = store.isPresentNotEmpty(.schemeIssuerCountry) ? .schemeIssuerCountry : .issuerCountry
        return ProcessingRestrictions.evaluate(store, issuerCountry: country).subtracting(.differentVersions)
    }

    private mutating func generateAC() -> KernelStep {
        requestedCDA = wantsCDA && !tvr.contains(.cdaFailed) && requested != .aac
        guard let values = store.fill(listIn: .cdol1),
            let command = GenerateAC.command(requested, cda: requestedCDA, cdolData: values)
        else { return finish(.selectNext(.parsingError)) }
        cdolData = values
        state = .generatingAC
        return KernelStep(.transmit(command))
    }

    mutating func cryptogramReceived(_ response: ResponseAPDU) -> KernelStep {
        switch response.status {
        case .success: break
        case .commandNotAllowed:
            return finish(
                .seePhone(.endApplication, statusWord: response.status, languagePreference: language))
        case .referenceDataInvalidated:
            return finish(.tryContact(ErrorIndication(l2: .statusBytes, statusWord: response.status)))
        case _:
            return finish(.unusableCard(.statusBytes, statusWord: response.status))
        }
        let signedPart: [UInt8]
        do throws(CardDataError) {
            signedPart = try GenerateAC.store(response.data, in: &store, policy: Kernel5.policy)
        } catch {
            return finish(.unusableCard(error.l2))
        }
        let signals = [UIRequest(.cardReadOK, .cardReadSuccessfully, languagePreference: language)]
        return finish(decide(signedPart), signals: signals)
    }

    /// Whatever is missing, more than was asked for or wrongly signed is a decline.
    private mutating func decide(_ signedPart: [UInt8]) -> Outcome {
        guard let answered = store.byte(.cryptogramInformation).flatMap({ CryptogramType(cryptogramInformation: $0) }),
            store.count(.atc) == 2, answered != .aac, answered.isAllowed(for: requested)
        else { return declined }
        if requestedCDA {
            guard store.isPresentNotEmpty(.cardholderVerificationStatus), verifyCombined(signedPart) else {
                return declined
            }
        } else if store.count(.applicationCryptogram) != 8 {
            return declined
        }
        let chosen =
            mode == .legacy
            ? profile.legacyVerification : store.byte(.cardholderVerificationStatus).flatMap(profile.verification)
        guard let chosen else { return declined }
        store.set(.cvmResults, chosen.results)
        return answered == .tc ? approved(chosen) : online(chosen)
    }

    private mutating func verifyCombined(_ signedPart: [UInt8]) -> Bool {
        guard store.isPresentNotEmpty(.signedDynamicData),
            let data = authentication?.verifiedCombined(
                store, staticData: staticData, transactionData: pdolData + cdolData + signedPart)
        else {
            tvr.insert(.cdaFailed)
            store.set(.tvr, tvr.bytes)
            return false
        }
        store.set(.applicationCryptogram, data.cryptogram)
        store.set(.iccDynamicNumber, data.iccDynamicNumber)
        return true
    }
}
