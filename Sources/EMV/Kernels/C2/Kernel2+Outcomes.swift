// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension Kernel2 {
    static let recordTags: [Tag] = [
        .amountAuthorised, .amountOther, .applicationCryptogram, .expirationDate, .aip, .applicationLabel, .pan,
        .panSequenceNumber, .preferredName, .atc, .applicationUsageControl, .readerApplicationVersion,
        .cryptogramInformation, .cvmResults, .dfName, .interfaceDeviceSerialNumber, .issuerApplicationData,
        .issuerCodeTableIndex, .paymentAccountReference, .terminalCapabilities, .terminalCountry, .terminalType, .tvr,
        .track2Equivalent, .transactionCategoryCode, .transactionCurrency, .transactionDate, .transactionType,
        .unpredictableNumber, .tokenRequestorID,
    ]
    static let magStripeRecordTags: [Tag] = [
        .applicationLabel, .preferredName, .dfName, .issuerCodeTableIndex, .magStripeVersion, .paymentAccountReference,
        .track1Data,
    ]

    /// C-2 S910.70 to S910.81.
    mutating func conclude(_ answered: ApplicationCryptogram, signals: [UIRequest]) -> KernelStep {
        var outcome = outcome(answered)
        outcome.cvm = selection.cvm
        outcome.receipt = needsReceipt
        outcome.dataRecord = store.objects(Kernel2.recordTags)
        if wantsBalance, store.isPresent(.balanceAfterCryptogram) {
            pending = outcome
            state = .balanceAfter
            return KernelStep(.transmit(Kernel2.getBalance), signals: signals)
        }
        return finish(outcome, signals: signals)
    }

    private func outcome(_ answered: ApplicationCryptogram) -> Outcome {
        if let interaction = CardholderInteraction(store.value(.cardholderInteraction)), interaction.needsSecondTap {
            return secondTap(interaction)
        }
        switch answered {
        case .tc:
            let isSigned = selection.cvm == .obtainSignature
            return Outcome(.approved, uiOnOutcome: message(isSigned ? .approvedPleaseSign : .approved, hold: holdTime))
        case .arqc:
            return Outcome(.onlineRequest, uiOnOutcome: message(.authorising))
        case .aac:
            return refused
        }
    }

    /// An AAC ends a purchase; for a refund it is the usual answer and the data record is what counts.
    private var refused: Outcome {
        guard type.isPurchase || type.isCash else {
            return Outcome(.endApplication, uiOnOutcome: message(.clearDisplay))
        }
        let hasContact = (store.byte(.terminalCapabilities) ?? 0) & 0x20 != 0
        if hasContact, ThirdPartyData(store.value(.thirdPartyData))?.isOtherThanCard != true {
            return Outcome(
                .tryAnotherInterface, uiOnOutcome: message(.insertCard, hold: holdTime),
                alternateInterface: .contactChip)
        }
        return Outcome(.declined, uiOnOutcome: message(.notAuthorised, hold: holdTime))
    }

    /// The phone has something to ask its holder first.
    func secondTap(_ interaction: CardholderInteraction) -> Outcome {
        let entry = interaction.message(in: store.value(.phoneMessageTable) ?? [])
        return Outcome(
            .endApplication, start: .b,
            uiOnOutcome: UIRequest(entry.message, entry.status, holdTime: holdTime, languagePreference: language),
            uiOnRestart: UIRequest(entry.message, .readyToRead, languagePreference: language))
    }

    /// Adds what every outcome of this kernel carries.
    func complete(_ outcome: inout Outcome) {
        if outcome.fieldOffRequest == nil, outcome.status != .selectNext { outcome.fieldOffRequest = fieldOff }
        if outcome.tornTransactions == nil { outcome.tornTransactions = torn.changed }
        let tags: [Tag] =
            isMagStripe
            ? [.applicationCapabilities, .errorIndication, .thirdPartyData, .track1DynamicData, .track2DynamicData]
            : [
                .applicationCapabilities, .applicationCurrency, .balanceBeforeCryptogram, .balanceAfterCryptogram,
                .dsSummary3, .dsSummaryStatus, .errorIndication, .putDataStatusBeforeCryptogram,
                .putDataStatusAfterCryptogram, .thirdPartyData, .tornRecord,
            ]
        let error = outcome.error.bytes
        outcome.discretionaryData = tags.compactMap { tag in
            switch tag {
            case .errorIndication: DataObject(tag, error)
            case .tornRecord: torn.removed.map { DataObject(tag, $0.record.encoded) }
            case _: store.object(tag)
            }
        }
    }
}
