import CardBytes

extension Kernel7 {
    private static let recordTags: [Tag] = [
        0x5A, 0x5F20, 0x5F24, 0x5F2A, 0x5F34, 0x82, 0x95, 0x9A, 0x9C, 0x9F10, 0x9F1A, 0x9F26, 0x9F36, 0x9F37, 0x9F6E,
        0x9F7C, 0x9F27, 0x57, 0x9F66, 0x9F02, 0x9F03, 0x9F5D, 0x9F63, 0x9F06, 0x9F21, 0x9F4E, 0x9F24,
    ]

    /// 6986: the consumer device wants its holder; the field goes off for a second.
    func presentAgain(_ status: StatusWord) -> Outcome {
        Outcome(
            .tryAgain, start: .b,
            uiOnOutcome: UIRequest(.presentCardAgain, .processingError, holdTime: 10, languagePreference: language),
            uiOnRestart: UIRequest(.presentCardAgain, .readyToRead, languagePreference: language),
            fieldOffRequest: 10,
            error: ErrorIndication(l2: .statusBytes, statusWord: status, messageOnError: .presentCardAgain))
    }

    var declined: Outcome { Outcome(.declined, cvm: .noCVM, uiOnOutcome: message(.notAuthorised)) }

    func approved(_ cvm: Outcome.CVM) -> Outcome {
        let text = cvm == .obtainSignature ? UIRequest.Message.approvedPleaseSign : .approved
        return Outcome(
            .approved, cvm: cvm, uiOnOutcome: message(text), dataRecord: store.objects(Kernel7.recordTags),
            receipt: cvm == .obtainSignature)
    }

    func online(_ cvm: Outcome.CVM) -> Outcome {
        Outcome(
            .onlineRequest, cvm: cvm, uiOnOutcome: message(.authorising),
            dataRecord: store.objects(Kernel7.recordTags), receipt: cvm == .obtainSignature)
    }

    private func message(_ message: UIRequest.Message) -> UIRequest {
        UIRequest(message, .notReady, languagePreference: language)
    }
}
