// SPDX-License-Identifier: Apache-2.0
/// What an application identifier (AID, ISO/IEC 7816-4 §8.2.1.2) says of the card it is on.
public struct PaymentNetwork: Hashable, Sendable {
    /// What receipts, answers and profiles call it: `Visa`, `Maestro`, `US common debit` …
    public let name: String
    /// The scheme of the application: `Visa`, `Mastercard` … The same as `name` unless the scheme has several.
    public let scheme: String
    /// Number of the kernel that Entry Point chooses where a card names none, by the registered provider (EMV Contactless
    /// Book B Table 3-6); `nil` for providers that are not in that table.
    public let kernel: UInt8?

    /// The network's name by an AID; `Card` for one that is not on the list.
    public static func name(of aid: [UInt8]) -> String { PaymentNetwork(aid: aid)?.name ?? unknownName }

    /// Every name that `name(of:)` can give.
    public static var names: Set<String> {
        Set(providers.values.map(\.scheme)).union(products.map(\.name)).union([unknownName])
    }

    /// Every name that `scheme` can have.
    public static var schemes: Set<String> { Set(providers.values.map(\.scheme)) }

    /// - Parameter aid: the five bytes of the registered provider (RID) and what follows them.
    /// - Returns: `nil` for a provider that is not on the list.
    public init?(aid: [UInt8]) {
        guard let rid = PaymentNetwork.provider(aid), let provider = PaymentNetwork.providers[rid] else { return nil }
        let product = PaymentNetwork.products.first { $0.rid == rid && aid.dropFirst(5).starts(with: $0.extension) }
        name = product?.name ?? provider.scheme
        scheme = provider.scheme
        kernel = provider.kernel
    }

    /// As `kernel` of the network, without its names.
    ///
    /// - Returns: `nil` for a provider without a number, or one that is not on the list.
    public static func kernel(ofProvider aid: [UInt8]) -> UInt8? {
        provider(aid).flatMap { providers[$0]?.kernel }
    }

    /// The RID as a number; `nil` for fewer than five bytes.
    private static func provider(_ aid: [UInt8]) -> UInt64? {
        guard aid.count >= 5 else { return nil }
        var rid: UInt64 = 0
        for index in 0..<5 { rid = rid << 8 | UInt64(aid[index]) }
        return rid
    }

    /// Whether the scheme has a kernel that a terminal of everybody's can have: one of EMV Contactless Book C, by Table 3-6 of Book B.
    public var hasPublicKernel: Bool { PaymentNetwork.schemesWithKernel.contains(scheme) }

    private static let schemesWithKernel = Set(providers.values.filter { $0.kernel != nil }.map(\.scheme))

    /// RIDs of the providers in Book B Table 3-6, five bytes each, in ascending order.
    public static let providersWithKernel: [[UInt8]] =
        providers.filter { $0.value.kernel != nil }.keys.sorted().map { rid in
            [32, 24, 16, 8, 0].map { UInt8(truncatingIfNeeded: rid >> ($0 as UInt64)) }
        }

    private static let unknownName = "Card"

    private static let providers: [UInt64: (scheme: String, kernel: UInt8?)] = [
        0xA0_0000_0003: ("Visa", 3), 0xA0_0000_0098: ("Visa", nil), 0xA0_0000_0004: ("Mastercard", 2),
        0xA0_0000_0025: ("American Express", 4), 0xA0_0000_0065: ("JCB", 5), 0xA0_0000_0152: ("Discover", 6),
        0xA0_0000_0324: ("Discover", nil), 0xA0_0000_0333: ("UnionPay", 7), 0xA0_0000_0277: ("Interac", nil),
        0xA0_0000_0524: ("RuPay", nil), 0xA0_0000_0658: ("Mir", nil), 0xA0_0000_0602: ("GPN", nil),
        0xA0_0000_0384: ("eftpos", nil), 0xA0_0000_0121: ("Dankort", nil),
        // Of the German banks, and of the alliance that gave them a second number.
        0xA0_0000_0059: ("girocard", nil), 0xA0_0000_0359: ("girocard", nil),
        0xD2_7600_0025: ("girocard", nil), 0xA0_0000_0672: ("Troy", nil), 0xD0_5600_0666: ("Bancontact", nil),
        0xA0_0000_0732: ("Meeza", nil), 0xD5_7800_0002: ("BankAxept", nil), 0xA0_0000_0371: ("Verve", nil),
        0xA0_0000_0620: ("Debit Network Alliance", nil),
        0xA0_0000_0042: ("CB", nil), 0xA0_0000_0141: ("PagoBancomat", nil), 0xA0_0000_0228: ("mada", nil),
        // These names, and that of GPN, are unverified: no registry says whose the numbers are.
        0xA0_0000_0494: ("UzCard", nil), 0xA0_0000_0615: ("MyDebit", nil), 0xA0_0000_0651: ("Elo", nil),
    ]

    /// Applications with a name of their own, by what follows the RID.
    private static let products: [(rid: UInt64, extension: [UInt8], name: String)] = [
        (0xA0_0000_0004, [0x30, 0x60], "Maestro"),
        // Debit cards of the United States: the application through which any debit network may be chosen.
        (0xA0_0000_0098, [0x08, 0x40], "US common debit"), (0xA0_0000_0004, [0x22, 0x03], "US common debit"),
        (0xA0_0000_0152, [0x40, 0x10], "US common debit"), (0xA0_0000_0333, [0x01, 0x01, 0x08], "US common debit"),
        (0xA0_0000_0620, [0x06, 0x20], "US common debit"),
    ]
}
