import CardBytes

extension Kernel2 {
    static let recordTags: [Tag] = [
        0x9F02, 0x9F03, 0x9F26, 0x5F24, 0x82, 0x50, 0x5A, 0x5F34, 0x9F12, 0x9F36, 0x9F07, 0x9F09, 0x9F27, 0x9F34,
        0x84, 0x9F1E, 0x9F10, 0x9F11, 0x9F24, 0x9F33, 0x9F1A, 0x9F35, 0x95, 0x57, 0x9F53, 0x5F2A, 0x9A, 0x9C, 0x9F37,
    ]
    static let magStripeRecordTags: [Tag] = [0x50, 0x9F12, 0x84, 0x9F11, 0x9F6D, 0x9F24, 0x56]

    /// C-2 S910.70 to S910.81.
    mutating func conclude(_ answered: CryptogramType, signals: [UIRequest]) -> KernelStep {
        var outcome = outcome(answered)
        outcome.cvm = selection.cvm
        outcome.receipt = needsReceipt
        outcome.dataRecord = store.objects(Kernel2.recordTags)
        if wantsBalance, store.isPresent(0xDF8105) {
            pending = outcome
            state = .balanceAfter
            return KernelStep(.transmit(Kernel2.getBalance), signals: signals)
        }
        return finish(outcome, signals: signals)
    }

    mutating func finishPending() -> KernelStep {
        guard var outcome = pending else { return fail(.cardDataError) }
        if outcome.status == .approved, let balance = store.value(0xDF8105) {
            outcome.uiOnOutcome?.value = UIRequest.Value(
                qualifier: .balance, amount: balance, currency: store.value(0x9F42) ?? [])
        }
        return finish(outcome)
    }

    private func outcome(_ answered: CryptogramType) -> Outcome {
        if let interaction = CardholderInteraction(store.value(0xDF4B)), interaction.needsSecondTap {
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
        let hasContact = (store.byte(0x9F33) ?? 0) & 0x20 != 0
        if hasContact, ThirdPartyData(store.value(0x9F6E))?.isOtherThanCard != true {
            return Outcome(
                .tryAnotherInterface, uiOnOutcome: message(.insertCard, hold: holdTime),
                alternateInterface: .contactChip)
        }
        return Outcome(.declined, uiOnOutcome: message(.notAuthorised, hold: holdTime))
    }

    /// The phone has something to ask its holder first.
    func secondTap(_ interaction: CardholderInteraction) -> Outcome {
        let entry = interaction.message(in: store.value(0xDF8131) ?? [])
        return Outcome(
            .endApplication, start: .b,
            uiOnOutcome: UIRequest(entry.message, entry.status, holdTime: holdTime, languagePreference: language),
            uiOnRestart: UIRequest(entry.message, .readyToRead, languagePreference: language))
    }

    func message(_ message: UIRequest.Message, hold: UInt32 = 0) -> UIRequest {
        UIRequest(message, .notReady, holdTime: hold, languagePreference: language)
    }

    /// Start C: another application of the card may do.
    func selectNext(_ l2: ErrorIndication.L2, statusWord: StatusWord? = nil) -> Outcome {
        .selectNext(l2, statusWord: statusWord)
    }

    /// End Application with "insert, swipe or try another card".
    mutating func fail(
        _ l2: ErrorIndication.L2, statusWord: StatusWord? = nil, signals: [UIRequest] = []
    ) -> KernelStep {
        let text = UIRequest.Message.insertSwipeOrTryAnotherCard
        return finish(
            Outcome(
                .endApplication, uiOnOutcome: message(text, hold: holdTime),
                error: ErrorIndication(l2: l2, statusWord: statusWord, messageOnError: text)),
            signals: signals)
    }

    mutating func finish(_ outcome: Outcome, signals: [UIRequest] = []) -> KernelStep {
        state = .finished
        return KernelStep(.finished(complete(outcome)), signals: signals)
    }

    /// Adds what every outcome of this kernel carries.
    func complete(_ outcome: Outcome) -> Outcome {
        var outcome = outcome
        if outcome.fieldOffRequest == nil, outcome.status != .selectNext { outcome.fieldOffRequest = fieldOff }
        if outcome.tornTransactions == nil { outcome.tornTransactions = torn.changed }
        let tags: [Tag] =
            isMagStripe
            ? [0x9F5D, 0xDF8115, 0x9F6E, 0xDF812A, 0xDF812B]
            : [
                0x9F5D, 0x9F42, 0xDF8104, 0xDF8105, 0xDF8102, 0xDF810B, 0xDF8115, 0xDF810F, 0xDF810E, 0x9F6E, 0xFF8101,
            ]
        outcome.discretionaryData = tags.compactMap { tag in
            switch tag {
            case 0xDF8115: DataObject(tag, outcome.error.bytes)
            case 0xFF8101: torn.removed.map { DataObject(tag, $0.record.encoded) }
            case _: store.object(tag)
            }
        }
        return outcome
    }
}
