// SPDX-License-Identifier: Apache-2.0
public import CardBytes

extension Outcome {
    /// The consumer device wants its holder: look at it and present it again.
    ///
    /// - Parameters:
    ///   - message: "see phone", or what a kernel has instead.
    ///   - holdTime: of the message and, without the field, before the next tap; in units of 100 ms.
    public static func seePhone(
        _ status: Status = .tryAgain, message: UIRequest.Message = .seePhone, holdTime: UInt8 = 13,
        statusWord: StatusWord? = nil, languagePreference: [UInt8] = []
    ) -> Outcome {
        Outcome(
            status, start: .b,
            uiOnOutcome: UIRequest(
                message, .processingError, holdTime: UInt32(holdTime), languagePreference: languagePreference),
            uiOnRestart: UIRequest(message, .readyToRead, languagePreference: languagePreference),
            fieldOffRequest: holdTime,
            error: ErrorIndication(
                l2: statusWord == nil ? .ok : .statusBytes, statusWord: statusWord, messageOnError: message))
    }

    /// The card left too early. Before the cryptogram command the tap simply starts over (`.tryAgain`); afterwards the
    /// card may have counted the transaction (`.endApplication`). The message is unverified.
    public static func cardLeft(_ status: Status, _ loss: CardLoss, languagePreference: [UInt8]) -> Outcome {
        Outcome(
            status, start: .b,
            uiOnRestart: UIRequest(.presentCardAgain, .readyToRead, languagePreference: languagePreference),
            error: ErrorIndication(l1: ErrorIndication.L1(loss), messageOnError: .presentCardAgain))
    }

    /// The card left before it answered GET PROCESSING OPTIONS: the tap starts over, and nothing is shown but the
    /// invitation (C-2 S3.4, S3.5; of kernel 8 unverified).
    public static func optionsLost(_ loss: CardLoss) -> Outcome {
        Outcome(.tryAgain, start: .b, error: ErrorIndication(l1: ErrorIndication.L1(loss)))
    }
}
