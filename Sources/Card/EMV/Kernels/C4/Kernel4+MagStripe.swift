// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Mag-stripe mode of kernel 4 (K4-8): the digits of an online cryptogram go into the tracks.
extension Kernel4 {
    /// The tracks need the counter.
    mutating func readCounter() -> KernelStep {
        guard
            store.firstMissing(of: [.pan, .expirationDate, .cdol1, .effectiveDate, .cardholderName, .track2Equivalent])
                == nil
        else {
            return fail(.cardDataMissing, at: .cardData)
        }
        chooseLimits()
        if limits.exceedsTransactionLimit { return finish(overLimit.ended(at: .cardData)) }
        if let selected = magStripeVerification() {
            selection = selected
        } else {
            return finish(.seePhone(languagePreference: language).ended(at: .cardholderVerification))
        }
        state = .readingCounter
        return KernelStep(.transmit(ShortCommand.make(0x80, 0xCA, 0x9F, 0x36)))
    }

    mutating func counterReceived(_ response: ResponseAPDU) -> KernelStep {
        guard response.status.isSuccess else {
            return fail(.statusBytes, statusWord: response.status)
        }
        do throws(CardDataError) {
            let template = try ResponseTemplate(response.data)
            guard template.tag == .atc, template.value.count == 2 else {
                return fail(.cardDataError)
            }
            counter = response.data[template.value].reduce(0) { $0 << 8 | UInt16($1) }
        } catch {
            return fail(error.l2)
        }
        guard let number = magStripeNumber() else { return fail(.cardDataError) }
        store.set(.unpredictableNumber, binary: number, count: 4)
        tvr.insert(.odaNotPerformed)
        if limits.exceedsFloorLimit { tvr.insert(.floorLimitExceeded) }
        store.set(.cvmResults, selection.results)
        store.set(.tvr, tvr.bytes)
        requested = .arqc
        return generateAC(orFail: .cardDataError)
    }

    /// The two low bytes of the unpredictable number become the effective date's YYMM, moved back by 0…59 months.
    private mutating func magStripeNumber() -> UInt64? {
        guard let number = store.number(.unpredictableNumber, count: 4),
            let effective = store.value(.effectiveDate).flatMap({ EMVDate(yymmdd: $0) }), effective.isPlausible
        else { return nil }
        let months = effective.year * 12 + effective.month - 1 - Int(numbers.next() % 60)
        let digits = UInt64(EMVDate.bcd(months / 12 % 100)) << 8 | UInt64(EMVDate.bcd(months % 12 + 1))
        return number & 0xFFFF_0000 | digits
    }

    /// There is no list to walk: the device where it has verified its holder, else what the reader can do. Unverified.
    ///
    /// - Returns: `nil` where the device is to ask its holder first.
    private func magStripeVerification() -> CVMSelection? {
        guard limits.requiresCVM else { return .notPerformed }
        let capabilities = store.byte(.terminalCapabilities, at: 1) ?? 0
        if isMobile, (store.byte(.enhancedReaderCapabilities, at: 1) ?? 0) & 0x80 != 0 {
            if MobileCVMResults(store.value(.mobileCVMResults)) == .successful {
                return CVMSelection(cvm: .confirmationCodeVerified, results: [0x01, 0x00, 0x02])
            }
            if activation?.isRestart != true { return nil }
        }
        if capabilities & 0x40 != 0 { return CVMSelection(cvm: .onlinePIN, results: [0x02, 0x00, 0x00]) }
        if capabilities & 0x20 != 0 {
            return CVMSelection(cvm: .obtainSignature, results: [0x1E, 0x00, 0x00], receipt: true)
        }
        return .failed
    }

    func magStripeOutcome(_ answered: ApplicationCryptogram) -> Outcome {
        guard answered == .arqc else { return declined }
        guard let tracks = Kernel4Tracks(store, counter: counter) else { return .unusableCard(.cardDataError) }
        var outcome = outcome(.arqc)
        let replaced = [DataObject(.track1Data, tracks.track1), DataObject(.track2Equivalent, tracks.track2)]
        outcome.dataRecord = replaced + (outcome.dataRecord ?? []).filter { $0.tag != .track2Equivalent }
        return outcome
    }
}
