// SPDX-License-Identifier: Apache-2.0
/// What a command tells whoever has started it while the customer taps: short, for one line each.
public enum ProgressWord: String, CaseIterable, Sendable {
    case test, live
    case preparing, preparingPart, presentCard, cardDetected, presentAgain, removeCard, cardRead
    /// Where passes are read and nothing is charged.
    case holdPass, reading, done
    case pinRequested, pinEntered, pinCancelled, pinTimedOut, pinFailed
    case linkOpened, authorising, unclear
    /// Events cannot be seen; what they are about goes on.
    case paymentUnseen, readingUnseen
}

extension Mode {
    public func progressText(in language: Language) -> String {
        switch self {
        case .test: language.text(.progress(.test))
        case .live: language.text(.progress(.live))
        }
    }
}
