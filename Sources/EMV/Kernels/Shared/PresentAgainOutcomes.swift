import CardBytes

extension Outcome {
    /// The consumer device wants its holder: look at it and present it again.
    ///
    /// - Parameters:
    ///   - holdTime: of the message, in units of 100 ms.
    ///   - fieldOff: in units of 100 ms.
    static func seePhone(
        _ status: Status = .tryAgain, holdTime: UInt32 = 13, fieldOff: UInt8 = 13, statusWord: StatusWord? = nil,
        languagePreference: [UInt8] = []
    ) -> Outcome {
        Outcome(
            status, start: .b,
            uiOnOutcome: UIRequest(
                .seePhone, .processingError, holdTime: holdTime, languagePreference: languagePreference),
            uiOnRestart: UIRequest(.seePhone, .readyToRead, languagePreference: languagePreference),
            fieldOffRequest: fieldOff,
            error: ErrorIndication(
                l2: statusWord == nil ? .ok : .statusBytes, statusWord: statusWord, messageOnError: .seePhone))
    }

    /// The card left too early. Before the cryptogram command the tap simply starts over (`.tryAgain`); afterwards the
    /// card may have counted the transaction (`.endApplication`). The message is unverified.
    static func cardLeft(_ status: Status, languagePreference: [UInt8]) -> Outcome {
        Outcome(
            status, start: .b,
            uiOnRestart: UIRequest(.presentCardAgain, .readyToRead, languagePreference: languagePreference),
            error: ErrorIndication(l1: .transmission, messageOnError: .presentCardAgain))
    }
}
