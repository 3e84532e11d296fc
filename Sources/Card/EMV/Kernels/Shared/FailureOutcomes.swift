// SPDX-License-Identifier: Apache-2.0
public import CardBytes

extension Outcome {
    /// End Application with "insert, swipe or try another card": a card whose data cannot be used.
    ///
    /// - Parameter shown: the kernel's own form of the message.
    public static func unusableCard(
        _ l2: ErrorIndication.L2, statusWord: StatusWord? = nil,
        shown: UIRequest = UIRequest(.insertSwipeOrTryAnotherCard, .processingError)
    ) -> Outcome {
        Outcome(
            .endApplication, uiOnOutcome: shown,
            error: ErrorIndication(l2: l2, statusWord: statusWord, messageOnError: shown.message))
    }

    /// Select Next: another application of the card may do.
    public static func selectNext(_ l2: ErrorIndication.L2, statusWord: StatusWord? = nil) -> Outcome {
        Outcome(.selectNext, start: .c, error: ErrorIndication(l2: l2, statusWord: statusWord))
    }

    /// Try Another Interface, contact chip preferred, with "insert card".
    public static func tryContact(_ error: ErrorIndication = ErrorIndication()) -> Outcome {
        Outcome(
            .tryAnotherInterface, uiOnOutcome: UIRequest(.insertCard, .processingError),
            alternateInterface: .contactChip, error: error)
    }
}

extension CardDataError {
    /// The Level 2 error a kernel reports for it.
    public var l2: ErrorIndication.L2 {
        switch self {
        case .malformed, .duplicate, .reservedTag, .wrongLength, .misplaced, .wrongTemplate, .tooManyObjects:
            .parsingError
        }
    }
}
