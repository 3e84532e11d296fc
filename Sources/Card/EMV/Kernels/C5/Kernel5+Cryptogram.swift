// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// From the last record to the answer of GENERATE AC, in EMV and legacy mode.
extension Kernel5 {
    /// Mandatory objects (K5-2), then the steps to the action analysis (K5-3).
    mutating func prepareCryptogram() -> KernelStep {
        guard store.firstMissing(of: [.cdol1, .track2Equivalent, .expirationDate]) == nil else {
            return fail(.cardDataMissing, at: .cardData)
        }
        chooseAuthentication()
        if mode == .emv { tvr.formUnion(restrictions) }
        manageRisk()
        store.set(.tvr, tvr.bytes)
        let isRefund = activation?.transaction.type == .refund
        requested = Kernel5TAA.decide(tvr, ActionCodes(store), terminalType, isRefund: isRefund)
        // Legacy cards are asked for an ARQC only; that a refund in EMV mode goes on to the card is unverified.
        if requested == .aac, mode == .legacy || !isRefund { return finish(declined.ended(at: .actionAnalysis)) }
        if mode == .legacy { requested = .arqc }
        return generateAC(orFail: .parsingError)
    }

    /// K5-4: CDA where the options, and AIP byte 1 bit 1, have it.
    private mutating func chooseAuthentication() {
        guard mode == .emv, combination.contains(.offlineAuthentication), (store.byte(.aip) ?? 0) & 0x01 != 0 else {
            tvr.insert(.odaNotPerformed)
            return
        }
        wantsCDA = true
        tvr.formUnion(authentication?.missingForCDA(store, staticData: staticData) ?? .cdaFailed)
    }

    /// K5-3. Application usage control and dates (EMV Book 3 §10.4); versions are not compared.
    private var restrictions: TVR {
        let country: Tag = store.isPresentNotEmpty(.schemeIssuerCountry) ? .schemeIssuerCountry : .issuerCountry
        return ProcessingRestrictions.evaluate(store, issuerCountry: country).subtracting(.differentVersions)
    }

    /// K5-4: the status words; any other than these ending the application is unverified.
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
        return finish(decide(signedPart), signals: [cardRead])
    }

    /// K5-4, and K5-5 for the verification. Whatever is missing, more than was asked for or wrongly signed is a
    /// decline.
    private mutating func decide(_ signedPart: [UInt8]) -> Outcome {
        guard
            let answered = store.byte(.cryptogramInformation).flatMap({
                ApplicationCryptogram(cryptogramInformation: $0)
            }),
            store.count(.atc) == 2, answered != .aac, answered.isAllowed(for: requested)
        else { return declined }
        if requestedCDA {
            guard store.isPresentNotEmpty(.cardholderVerificationStatus) else {
                return declined.ended(at: .cardholderVerification)
            }
            let transactionData = pdolData + cdolData + signedPart
            guard
                authentication?.verifyCombined(
                    &store, &tvr, staticData: staticData, transactionData: transactionData) == true
            else { return declined.ended(at: .offlineAuthentication) }
        } else if store.count(.applicationCryptogram) != 8 {
            return declined
        }
        let chosen =
            mode == .legacy
            ? profile.legacyVerification : store.byte(.cardholderVerificationStatus).flatMap(profile.verification)
        guard let chosen else { return declined.ended(at: .cardholderVerification) }
        store.set(.cvmResults, chosen.results)
        return answered == .tc ? approved(chosen) : online(chosen)
    }
}
