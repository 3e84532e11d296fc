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
        let interaction = CardholderInteraction(store.value(.cardholderInteraction))
        var outcome: Outcome
        var signals = signals
        if let interaction, interaction.needsSecondTap {
            outcome = secondTap(interaction)
            signals.append(secondTapMessage(interaction))
        } else {
            outcome = self.outcome(answered)
        }
        outcome.cvm = selection.cvm
        outcome.receipt = needsReceipt
        outcome.dataRecord = store.objects(Kernel2.recordTags)
        if wantsBalance, store.isPresent(.balanceAfterCryptogram) {
            pending = outcome
            state = .balanceAfter
            return KernelStep(.transmit(Kernel2.getBalance), signals: signals)
        }
        if !exchange.writeAfter.isEmpty {
            exchange.held = signals
            return writeAfterCryptogram(outcome)
        }
        return finish(outcome, signals: signals)
    }

    private func outcome(_ answered: ApplicationCryptogram) -> Outcome {
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

    /// The phone has something to ask its holder first (C-2 S910.71 to S910.73).
    func secondTap(_ interaction: CardholderInteraction) -> Outcome {
        let entry = interaction.message(in: store.value(.phoneMessageTable) ?? [])
        return Outcome(
            .endApplication, start: .b,
            uiOnRestart: UIRequest(entry.message, .readyToRead, languagePreference: language))
    }

    /// Shown before the outcome (C-2 S910.79).
    func secondTapMessage(_ interaction: CardholderInteraction) -> UIRequest {
        let entry = interaction.message(in: store.value(.phoneMessageTable) ?? [])
        return UIRequest(entry.message, entry.status, holdTime: holdTime, languagePreference: language)
    }

    /// The card has answered and there is nothing to say yet (C-2 S9.27, S13.12).
    var cardAnswered: UIRequest { UIRequest(.clearDisplay, .cardReadSuccessfully, languagePreference: language) }

    /// What leaves the torn log with this outcome, each record of it: after a wrong answer of a card that could not
    /// recover, its own record too (C-2 S11.90 to S11.95).
    private func lostRecords(_ outcome: Outcome) -> [TornTransaction] {
        let isWrongAnswer = state == .generatingAC && outcome.error.l1 == .ok && outcome.error.l2 != .ok
        guard isWrongAnswer, let retried = torn.retried else { return torn.removed }
        return [retried] + torn.removed
    }

    /// Adds what every outcome of this kernel carries.
    func complete(_ outcome: inout Outcome) {
        if outcome.fieldOffRequest == nil, outcome.status != .selectNext { outcome.fieldOffRequest = fieldOff }
        if wantsCDA { outcome.unmatchedKey = authentication.unmatchedKey(of: store, aid: aid, on: date) }
        // S3.5, S3.7
        let isEarlyEnd = outcome.status == .tryAgain || outcome.error.l3 == .stop
        let tags: [Tag] =
            isEarlyEnd
            ? [.errorIndication]
            : isMagStripe
                ? [.applicationCapabilities, .errorIndication, .thirdPartyData, .track1DynamicData, .track2DynamicData]
                : [
                    .applicationCapabilities, .applicationCurrency, .balanceBeforeCryptogram, .balanceAfterCryptogram,
                    .dsSummary3, .dsSummaryStatus, .errorIndication, .putDataStatusBeforeCryptogram,
                    .putDataStatusAfterCryptogram, .thirdPartyData, .tornRecord,
                ]
        // A record leaves the log with an outcome that tells it: Entry Point goes on after Select Next, and shows it to
        // nobody.
        let tellsRecords = tags.contains(.tornRecord) && outcome.status != .selectNext
        if outcome.tornTransactions == nil, tellsRecords { outcome.tornTransactions = torn.changed }
        var data: [DataObject] = []
        data.reserveCapacity(tags.count)
        for tag in tags {
            switch tag {
            case .errorIndication: data.append(DataObject(tag, outcome.error.bytes))
            case .tornRecord where tellsRecords:
                for lost in lostRecords(outcome) { data.append(DataObject(tag, lost.record.encoded)) }
            case _: if let object = store.object(tag) { data.append(object) }
            }
        }
        outcome.discretionaryData = data
    }
}
