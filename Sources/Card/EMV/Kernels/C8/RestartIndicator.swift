// SPDX-License-Identifier: Apache-2.0
/// Restart Indicator (9F8108, two to five bytes): what the card wants instead of a plain outcome (C-8 S2930).
struct RestartIndicator: Equatable {
    enum Request: Equatable {
        /// Start B again.
        case presentAgain
        /// Another interface; `nil` for any.
        case otherInterface(Outcome.AlternateInterface?)
        case none
    }

    let request: Request
    /// The card's own message, 0 for none.
    let message: UInt8

    /// - Parameter bytes: `nil` for fewer than two.
    init?(_ bytes: [UInt8]?) {
        guard let bytes, bytes.count >= 2 else { return nil }
        message = bytes[1]
        switch bytes[0] & 0xF0 {
        case 0x20: request = .presentAgain
        case 0x30: request = .otherInterface(Outcome.AlternateInterface(rawValue: bytes[0] << 4))
        case _: request = .none
        }
    }

    /// The card's message where the terminal allows it (9F821D), else `fallback`.
    func message(allowed: [UInt8], else fallback: UIRequest.Message) -> UIRequest.Message {
        guard message != 0, allowed.contains(message) else { return fallback }
        return UIRequest.Message(rawValue: message) ?? fallback
    }
}
