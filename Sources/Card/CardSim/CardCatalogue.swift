// SPDX-License-Identifier: Apache-2.0
/// The cards in software, by name: payment cards, then phones and member cards with passes. Every call makes a new card
/// whose counters start afresh.
public enum CardCatalogue {
    /// The names, in the order in which they are listed.
    public static var names: [String] { entries.map(\.name) + WalletCatalogue.names }

    /// What a person reads beside the name, or `nil` for a name that is not listed.
    public static func summary(of name: String) -> String? {
        entries.first { $0.name == name }?.summary ?? WalletCatalogue.summary(of: name)
    }

    /// A new card, or `nil` for a name that is not listed. Phones with passes can also pay, as a Visa card.
    public static func card(named name: String) -> (any VirtualCard)? {
        if let entry = entries.first(where: { $0.name == name }) { return entry.make() }
        let payment = card(VisaApplication.personalised(.visa, verifiesCardholder: true))
        return WalletCatalogue.card(named: name, payment: payment)
    }

    /// A Visa card of its own for each number, for tests with many cards at a time: each has its own account and counter.
    package static func visa(account: UInt32) -> any VirtualCard {
        card(VisaApplication.personalised(.visa(account: account)))
    }

    struct Entry: Sendable {
        let name: String
        /// One line, lower-case, without a final period.
        let summary: String
        let make: @Sendable () -> any VirtualCard
    }

    private static let entries: [Entry] =
        wellBehaved + furtherKernels + commonKernel + furtherDevices + twoApplications + simple + oddSelections
        + oddVisaCards
        + oddMastercardCards

    private static let simple: [Entry] = [
        Entry(name: "smoke", summary: "fixed answers and test instructions, no cryptogram") { SmokeCard() }
    ]
}
