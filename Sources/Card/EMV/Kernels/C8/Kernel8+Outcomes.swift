// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension Kernel8 {
    /// Data record (C-8 Table A.11).
    static let recordTags: [Tag] = [
        .amountAuthorised, .amountOther, .applicationCryptogram, .expirationDate, .aip, .applicationLabel, .pan,
        .panSequenceNumber, .preferredName, .atc, .applicationUsageControl, .readerApplicationVersion,
        .authenticatedApplicationData, .cardCapabilitiesInformation, .cryptogramInformation, .cvmResults, .dfName,
        .interfaceDeviceSerialNumber, .issuerApplicationData, .iadMAC, .issuerCodeTableIndex, .paymentAccountReference,
        .terminalCapabilities, .terminalCountry, .terminalType, .tvr, .tokenRequestorID, .track2Equivalent,
        .transactionCurrency, .transactionDate, .transactionType, .unpredictableNumber,
    ]

    /// C-8 S2930. The beep with message 17 once the card is done is unverified.
    mutating func conclude() -> KernelStep {
        if configuration & 0x08 == 0 { tvr.remove(.localAuthenticationFailed) }
        store.set(.tvr, tvr.bytes)
        let shown = [cardRead]
        guard let answered = answeredType else { return fail(.cardDataError, signals: shown) }
        var outcome = outcome(answered)
        outcome.cvm = cvm
        outcome.receipt = needsReceipt
        outcome.dataRecord = mapped(Kernel8.recordTags)
        return finish(outcome, signals: shown)
    }

    private func outcome(_ answered: ApplicationCryptogram) -> Outcome {
        let restart = RestartIndicator(store.value(.restartIndicator))
        if let restart, restart.request == .presentAgain { return presentAgain(restart) }
        switch (answered, decision) {
        case (.tc, .tc):
            let text = cvm == .obtainSignature ? UIRequest.Message.approvedPleaseSign : .approved
            return Outcome(.approved, uiOnOutcome: message(text, hold: holdTime))
        case (.arqc, .arqc), (.arqc, .tc), (.tc, .arqc):
            return Outcome(.onlineRequest, uiOnOutcome: message(.authorising))
        case (.aac, _), (_, .aac):
            return refused(restart)
        }
    }

    private func presentAgain(_ restart: RestartIndicator) -> Outcome {
        let text = restart.message(allowed: allowedMessages, else: .presentCardAgain)
        return Outcome(
            .endApplication, start: .b, uiOnOutcome: message(text, hold: holdTime),
            uiOnRestart: UIRequest(text, .readyToRead, languagePreference: language))
    }

    /// C-8 2930.21 to 2930.41.
    private func refused(_ restart: RestartIndicator?) -> Outcome {
        guard type.isPurchase || type.isCash else {
            return Outcome(.endApplication, uiOnOutcome: message(.clearDisplay))
        }
        if let restart, case .otherInterface(let interface) = restart.request {
            let text = restart.message(allowed: allowedMessages, else: .insertOrSwipe)
            return Outcome(
                .tryAnotherInterface, uiOnOutcome: message(text, hold: holdTime), alternateInterface: interface)
        }
        let text = restart?.message(allowed: allowedMessages, else: .notAuthorised) ?? .notAuthorised
        return Outcome(.declined, uiOnOutcome: message(text, hold: holdTime))
    }

    /// 9F821D.
    private var allowedMessages: [UInt8] { store.value(.messagesOnRestart) ?? [] }

    /// End Application without a message: the terminal is at fault, not the card.
    mutating func end(_ l2: ErrorIndication.L2) -> KernelStep {
        finish(Outcome(.endApplication, error: ErrorIndication(l2: l2)))
    }

    /// Adds what every outcome of this kernel carries: field off and the discretionary data that 9F821F lists.
    mutating func complete(_ outcome: inout Outcome) {
        if outcome.fieldOffRequest == nil, outcome.status != .selectNext { outcome.fieldOffRequest = fieldOff }
        store.set(.c8ErrorIndication, outcome.error.bytes)
        outcome.discretionaryData = mapped(store.value(.discretionaryDataTagList).flatMap { TagList($0) }?.tags ?? [])
    }

    /// The objects of `tags` under the names that the Tag Mapping List (9F8221: pairs of tags) gives them.
    private func mapped(_ tags: [Tag]) -> [DataObject] {
        let objects = store.objects(tags)
        guard let pairs = store.value(.tagMappingList).flatMap({ TagList($0) })?.tags, pairs.count.isMultiple(of: 2)
        else {
            return objects
        }
        return objects.map { object in
            for index in stride(from: 0, to: pairs.count, by: 2) where pairs[index] == object.tag {
                return DataObject(pairs[index + 1], object.value)
            }
            return object
        }
    }
}
