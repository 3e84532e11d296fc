// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Recovery (K5-8) of a transaction whose card left before it answered GENERATE AC: at the next tap the card answers
/// GET PROCESSING OPTIONS with 6200, and ECHO brings the lost answer. The order of these steps is unverified.
extension Kernel5 {
    static let tornStatus: StatusWord = 0x6200

    /// What the answer is judged by. Related data go under the tags that kernel 2 has for them.
    private static let tornTags: [Tag] =
        recoveredTags + [
            .caPublicKeyIndex, .issuerCertificate, .issuerRemainder, .issuerExponent, .iccCertificate, .iccExponent,
            .iccRemainder, .staticDataTagList, .pan, .afl, .issuerUpdateParameter, .languagePreference,
            .terminalInterchangeProfile,
        ]
    private static let recoveredTags: [Tag] = [
        .amountAuthorised, .amountOther, .aip, .panSequenceNumber, .cardholderName, .terminalCountry, .tvr,
        .track1DiscretionaryData, .track2Equivalent, .transactionCurrency, .transactionDate, .transactionTime,
        .transactionType, .unpredictableNumber, .cdol2, .dfName, .issuerCountry, .schemeIssuerCountry,
    ]

    func tornTransaction(_ now: TapInstant) -> TornTransaction {
        let reference = requested.rawValue | (requestedCDA ? 0x10 : 0x00)
        let related = [
            DataObject(.kernelID, [0x05]), DataObject(.pdolRelatedData, pdolData),
            DataObject(.cdol1RelatedData, cdolData),
            DataObject(.referenceControlParameter, [reference]), DataObject(.drdolRelatedData, staticData ?? []),
        ]
        return TornTransaction(record: related + store.objects(Kernel5.tornTags), tornAt: now)
    }

    /// Within one transaction only, and for the application that it was torn from.
    var tornRecord: [DataObject]? {
        guard let activation, activation.isRestart, let name = store.value(.dfName) else { return nil }
        return activation.tornTransactions.first {
            $0.record.value(of: .kernelID) == [0x05] && $0.record.value(of: .dfName) == name
                && $0.record.value(of: .amountAuthorised) == store.value(.amountAuthorised)
        }?.record
    }

    mutating func echo() -> KernelStep {
        state = .recovering
        return KernelStep(.transmit(ShortCommand.make(0x80, 0xDF, 0x00, 0x00)))
    }

    mutating func echoReceived(_ response: ResponseAPDU) -> KernelStep {
        guard response.status.isSuccess, let record = tornRecord else {
            var outcome = Outcome.selectNext(.statusBytes, statusWord: response.status)
            outcome.tornTransactions = []
            return finish(outcome)
        }
        restore(record)
        var step = cryptogramReceived(response)
        if case .finished(var outcome) = step.action {
            outcome.tornTransactions = []
            step.action = .finished(outcome)
        }
        return step
    }

    private mutating func restore(_ record: [DataObject]) {
        let kept = store
        store = DataStore(kernel: .jcb)
        for object in record where object.tag.byteCount < 3 { store.set(object.tag, object.value) }
        for object in kept.objects([.terminalType, .terminalCapabilities, .entryMode, .terminalAID]) {
            store.set(object.tag, object.value)
        }
        profile.requiresCVM = (record.value(of: .terminalInterchangeProfile)?.first ?? 0) & 0x80 != 0
        pdolData = record.value(of: .pdolRelatedData) ?? []
        cdolData = record.value(of: .cdol1RelatedData) ?? []
        staticData = record.value(of: .drdolRelatedData)
        tvr = store.bits(.tvr)
        let reference = record.value(of: .referenceControlParameter)?.first ?? 0
        requested = ApplicationCryptogram(rawValue: reference & 0xC0) ?? .aac
        requestedCDA = reference & 0x10 != 0
    }
}
