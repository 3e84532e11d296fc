// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Mag-stripe mode (MSD), where TTQ byte 1 bit 8 is 1. From a kernel source that quotes VCPS 2.1.3; unverified beyond
/// it.
///
/// The tracks go to the acquirer as 57, with 5F20 and 9F1F from which track 1 is made; they are not spelled out here.
extension Kernel3 {
    /// AIP byte 2 bit 8 and an AFL, without a cryptogram; a reader without EMV mode takes one (CVN 17).
    var isMagStripe: Bool {
        guard ttq.supportsMagStripe, (store.byte(.aip, at: 1) ?? 0) & 0x80 != 0, store.isPresentNotEmpty(.afl) else {
            return false
        }
        return !ttq.supportsEMV || !store.isPresentNotEmpty(.applicationCryptogram)
    }

    /// The data of a mag-stripe authorisation; beside a cryptogram its counter and its issuer application data.
    mutating func concludeMagStripe(signals: [UIRequest]) -> KernelStep {
        let hasCryptogram = store.isPresentNotEmpty(.applicationCryptogram)
        let needed: [Tag] =
            hasCryptogram ? [.track2Equivalent, .aip, .issuerApplicationData, .atc] : [.track2Equivalent, .aip]
        guard store.firstMissing(of: needed) == nil else {
            return fail(.cardDataMissing, at: .magStripe, signals: signals)
        }
        // Mag-stripe data can only be judged by the issuer.
        guard !ttq.isOfflineOnly else { return finish(declined.ended(at: .magStripe), signals: signals) }
        guard
            let cvm = CTQVerification.method(
                CTQ(store), ttq, hasCryptogram ? .arqc : nil, store, needsCDCVMForPIN: true)
        else {
            return finish(declined.ended(at: .cardholderVerification), signals: signals)
        }
        var outcome = online(cvm: cvm, nil)
        outcome.dataRecord = magStripeRecord
        return finish(outcome, signals: signals)
    }

    /// 9F39 says contactless mag-stripe (91).
    private var magStripeRecord: [DataObject] {
        Kernel3.magStripeRecordTags.compactMap { tag in
            tag == .entryMode ? DataObject(tag, [0x91]) : store.object(tag)
        }
    }

    private static let magStripeRecordTags: [Tag] = [
        .amountAuthorised, .applicationCryptogram, .panSequenceNumber, .atc, .customerExclusiveData,
        .formFactorIndicator, .issuerApplicationData, .entryMode, .ttq, .unpredictableNumber, .transactionDate,
        .transactionTime, .track2Equivalent, .cardholderName, .track1DiscretionaryData, .issuerCountry,
        .schemeIssuerCountry,
    ]
}
