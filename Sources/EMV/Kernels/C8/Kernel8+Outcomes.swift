import CardBytes

extension Kernel8 {
    /// Data record (C-8 Table A.11).
    static let recordTags: [Tag] = [
        0x9F02, 0x9F03, 0x9F26, 0x5F24, 0x82, 0x50, 0x5A, 0x5F34, 0x9F12, 0x9F36, 0x9F07, 0x9F09, 0x9F8106, 0x9F810D,
        0x9F27, 0x9F34, 0x84, 0x9F1E, 0x9F10, 0x9F8109, 0x9F11, 0x9F24, 0x9F33, 0x9F1A, 0x9F35, 0x95, 0x9F19, 0x57,
        0x5F2A, 0x9A, 0x9C, 0x9F37,
    ]

    /// C-8 S2930. The beep with message 17 once the card is done is unverified.
    mutating func conclude() -> KernelStep {
        if configuration & 0x08 == 0 { tvr.remove(.localAuthenticationFailed) }
        store.set(0x95, tvr.bytes)
        let shown = [UIRequest(.cardReadOK, .cardReadSuccessfully, languagePreference: language)]
        guard let answered = answeredType else { return fail(.cardDataError, signals: shown) }
        var outcome = outcome(answered)
        outcome.cvm = cvm
        outcome.receipt = needsReceipt
        outcome.dataRecord = mapped(Kernel8.recordTags)
        return finish(outcome, signals: shown)
    }

    private func outcome(_ answered: CryptogramType) -> Outcome {
        let restart = RestartIndicator(store.value(0x9F8108))
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
    private var allowedMessages: [UInt8] { store.value(0x9F821D) ?? [] }

    private func message(_ message: UIRequest.Message, hold: UInt32 = 0) -> UIRequest {
        UIRequest(message, .notReady, holdTime: hold, languagePreference: language)
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

    /// End Application without a message: the terminal is at fault, not the card.
    mutating func end(_ l2: ErrorIndication.L2) -> KernelStep {
        finish(Outcome(.endApplication, error: ErrorIndication(l2: l2)))
    }

    mutating func finish(_ outcome: Outcome, signals: [UIRequest] = []) -> KernelStep {
        state = .finished
        return KernelStep(.finished(complete(outcome)), signals: signals)
    }

    /// Adds what every outcome of this kernel carries: field off and the discretionary data that 9F821F lists.
    mutating func complete(_ outcome: Outcome) -> Outcome {
        var outcome = outcome
        if outcome.fieldOffRequest == nil, outcome.status != .selectNext { outcome.fieldOffRequest = fieldOff }
        store.set(0x9F8204, outcome.error.bytes)
        outcome.discretionaryData = mapped(store.value(0x9F821F).flatMap { TagList($0) }?.tags ?? [])
        return outcome
    }

    /// The objects of `tags` under the names that the Tag Mapping List (9F8221: pairs of tags) gives them.
    private func mapped(_ tags: [Tag]) -> [DataObject] {
        let objects = store.objects(tags)
        guard let pairs = store.value(0x9F8221).flatMap({ TagList($0) })?.tags, pairs.count.isMultiple(of: 2) else {
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
