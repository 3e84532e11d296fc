/// What may be said of a card's account in the clear: the scheme and the last four digits (PCI DSS 3.4.1 allows more;
/// nothing here needs it).
public struct MaskedAccount: Equatable, Sendable {
    /// By the application's registered provider: `Visa`, `Mastercard` …; `Card` for one that is not known.
    public let scheme: String
    public let lastFour: String
    /// As many characters as the card number has digits, all but the last four being `*`.
    public let masked: String

    /// - Returns: `nil` where the record has no card number.
    init?(_ account: AccountData, aid: [UInt8]) {
        guard account.hasPAN else { return nil }
        scheme = MaskedAccount.scheme(of: aid)
        lastFour = String(decoding: account.digits.suffix(4).map { $0 | 0x30 }, as: UTF8.self)
        masked = String(repeating: "*", count: account.digits.count - 4) + lastFour
    }

    /// The scheme by RID, the first five bytes of the AID; Maestro shares Mastercard's.
    public static func scheme(of aid: [UInt8]) -> String {
        if aid.starts(with: [0xA0, 0x00, 0x00, 0x00, 0x04, 0x30, 0x60]) { return "Maestro" }
        return schemes[Array(aid.prefix(5))] ?? "Card"
    }

    /// Every name that `scheme` can be.
    public static var schemeNames: Set<String> { Set(schemes.values).union(["Maestro", "Card"]) }

    private static let schemes: [[UInt8]: String] = [
        [0xA0, 0x00, 0x00, 0x00, 0x03]: "Visa", [0xA0, 0x00, 0x00, 0x00, 0x04]: "Mastercard",
        [0xA0, 0x00, 0x00, 0x00, 0x25]: "American Express", [0xA0, 0x00, 0x00, 0x00, 0x65]: "JCB",
        [0xA0, 0x00, 0x00, 0x01, 0x52]: "Discover", [0xA0, 0x00, 0x00, 0x03, 0x24]: "Discover",
        [0xA0, 0x00, 0x00, 0x03, 0x33]: "UnionPay", [0xA0, 0x00, 0x00, 0x02, 0x77]: "Interac",
        [0xA0, 0x00, 0x00, 0x03, 0x59]: "girocard", [0xA0, 0x00, 0x00, 0x01, 0x21]: "Dankort",
    ]
}
