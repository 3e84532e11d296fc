// SPDX-License-Identifier: Apache-2.0
import EMV

/// Tells the person at the reader what to do, on standard error.
enum Progress {
    static func show(_ request: UIRequest) {
        guard let text = text(request.message) else { return }
        StandardError.write("nfc-tap: \(text)\n")
    }

    /// `nil` for requests that only drive lamps and sound.
    private static func text(_ message: UIRequest.Message) -> String? {
        switch message {
        case .presentCard: "present the card"
        case .presentCardAgain: "present the card again"
        case .presentOneCardOnly: "present one card only"
        case .seePhone: "follow the instructions on the phone"
        case .cardReadOK: "card read"
        case .insertSwipeOrTryAnotherCard: "present another card"
        case .approved, .notAuthorised, .enterPIN, .processingError, .removeCard, .welcome, .processing, .insertOrSwipe,
            .approvedPleaseSign, .authorising, .insertCard, .clearDisplay, .none:
            nil
        }
    }
}
