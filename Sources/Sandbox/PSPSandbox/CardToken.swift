// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Crypto

/// A name for a card that tells nothing of its number: the same for every read by one merchant, another one for each
/// merchant, and a new one with every start of the sandbox.
enum CardToken {
    /// - Parameter digits: of the card number, 0…9 each.
    static func make(_ digits: [UInt8], merchant: String, secret: SymmetricKey) -> String {
        let message = Array(merchant.utf8) + [0] + digits
        let code = HMAC<SHA256>.authenticationCode(for: message, using: secret)
        // Letters only, so that no run of digits in it looks like a card number.
        return "card_"
            + String(decoding: code.prefix(12).flatMap { [0x61 + $0 >> 4, 0x61 + $0 & 0x0F] }, as: UTF8.self)
    }
}
