// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues

/// What the bridge says at a till: the daemon's own words, and the messages of the till in the browser.
extension Language {
    /// What its letters can be written in: code page 437 of ZVT has neither Arabic nor Japanese ones.
    var hasCodePage437: Bool { self != .arabic && self != .japanese }

    /// What a start, or what became of it, is refused for.
    func text(_ error: ErrorDetail?) -> String? {
        guard let error else { return nil }
        let code = ErrorCode(rawValue: error.code)
        if let code, find(.errorMessage(code)) != nil { return code.texts(in: self).message }
        // What this version, or this language, has no text for comes from the daemon in English.
        return isComplete ? error.message : tillText("till.refused")
    }

    /// A line for the customer, at an event; `nil` where there is nothing to say.
    func text(_ event: Event) -> String? {
        event.customerText ?? Language.key(of: event).map(tillText)
    }

    private static func key(of event: Event) -> String? {
        switch event.name {
        case .readReadyForTap: "hold"
        case .readRetry:
            switch event.message {
            case .seePhone: "phone"
            case .presentOneCardOnly: "one"
            case .insertCard, .insertOrSwipe, .insertSwipeOrTryAnotherCard: "chip"
            default: "again"
            }
        case .readRemoveCard: "read"
        case .readCancelled: "cancelled"
        case .paymentAuthorizing: "wait"
        case .pinRequested: "pin"
        case .paymentDeclined: "declined"
        case .paymentUnknown: "unknown"
        case .paymentReversed: "reversing"
        default: nil
        }
    }
}
