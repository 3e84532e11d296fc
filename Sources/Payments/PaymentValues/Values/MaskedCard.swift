// SPDX-License-Identifier: Apache-2.0
/// What may be known of a card outside the envelope. Cannot be made with a whole card number in it.
public struct MaskedCard: Hashable, Sendable {
    /// `Visa`, `Mastercard` and so on, as the application's identifier says.
    public let scheme: String
    /// Last four digits.
    public let last4: String
    /// Card number with everything but the last four digits, and at most the first six, hidden.
    public let masked: String
    /// The payment service's own name for the card, where it gives one.
    public let token: String?

    /// - Returns: `nil` where `last4` is not four digits, `masked` does not end in them, a text shows more than ten
    ///   digits or a run of more than six, or `scheme` holds a digit.
    public init?(scheme: String, last4: String, masked: String, token: String? = nil) {
        guard last4.utf8.count == 4, last4.utf8.allSatisfy(MaskedCard.isDigit), masked.hasSuffix(last4),
            masked.utf8.count(where: MaskedCard.isDigit) <= 10, MaskedCard.longestRun(masked) <= 6,
            !scheme.utf8.contains(where: MaskedCard.isDigit), masked.utf8.count <= 64, scheme.utf8.count <= 32,
            (token ?? "").utf8.count <= 128
        else { return nil }
        self.scheme = scheme
        self.last4 = last4
        self.masked = masked
        self.token = token
    }

    private static func isDigit(_ unit: UInt8) -> Bool { (0x30...0x39).contains(unit) }

    package static func longestRun(_ text: String) -> Int {
        var longest = 0
        var run = 0
        for unit in text.utf8 {
            run = isDigit(unit) ? run + 1 : 0
            longest = max(longest, run)
        }
        return longest
    }
}

extension MaskedCard {
    /// The same card under the payment service's name for it; as it is where that name cannot be taken: one that is too
    /// long, or holds a run of digits that could be the card's number.
    public func named(_ token: String?) -> MaskedCard {
        guard let token, token.isReference(upTo: 128), MaskedCard.longestRun(token) < 8 else { return self }
        return MaskedCard(scheme: scheme, last4: last4, masked: masked, token: token) ?? self
    }
}

extension MaskedCard {
    /// The same card without the payment service's name for it, which is enough to charge a stored card.
    public var withoutToken: MaskedCard {
        MaskedCard(scheme: scheme, last4: last4, masked: masked) ?? self
    }
}

extension MaskedCard: CustomStringConvertible {
    public var description: String { "•••• \(last4) (\(scheme))" }
}

extension MaskedCard: Codable {
    private enum CodingKeys: String, CodingKey {
        case scheme, last4, masked, token
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let card = MaskedCard(
            scheme: try members.decode(String.self, forKey: .scheme),
            last4: try members.decode(String.self, forKey: .last4),
            masked: try members.decode(String.self, forKey: .masked),
            token: try members.decodeIfPresent(String.self, forKey: .token))
        guard let card else { throw decoder.refusal(.requestInvalidField) }
        self = card
    }
}
