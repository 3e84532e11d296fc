// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Application Usage Control (9F07, two bytes; EMV Book 3 Annex C2).
struct ApplicationUsageControl: Equatable {
    let rawValue: UInt16

    init(rawValue: UInt16) { self.rawValue = rawValue }

    /// `nil` where the card sent none of two bytes.
    init?(_ store: DataStore) {
        guard let number = store.number(.applicationUsageControl, count: 2) else { return nil }
        rawValue = UInt16(truncatingIfNeeded: number)
    }

    func cash(domestic: Bool) -> Bool { has(domestic ? 0x8000 : 0x4000) }
    /// A purchase is refused only where both goods and services are.
    func purchase(domestic: Bool) -> Bool { has(domestic ? 0x2800 : 0x1400) }
    func cashback(domestic: Bool) -> Bool { has(domestic ? 0x0080 : 0x0040) }
    var atm: Bool { has(0x0200) }
    var otherThanATM: Bool { has(0x0100) }

    /// Whether the transaction in `store` may use the application. The country rules apply where the issuer's country
    /// is known.
    func allows(_ store: DataStore, issuerCountry: Tag) -> Bool {
        let terminal = TerminalType(rawValue: store.byte(.terminalType) ?? 0)
        let isATM = terminal.isATM(additionalCapabilities: store.byte(.additionalTerminalCapabilities) ?? 0)
        guard isATM ? atm : otherThanATM else { return false }
        guard store.isPresentNotEmpty(issuerCountry) else { return true }
        let domestic = store.isEqual(issuerCountry, .terminalCountry)
        let type = TransactionType(rawValue: store.byte(.transactionType) ?? 0)
        if type.isCash, !cash(domestic: domestic) { return false }
        if type.isPurchase, !purchase(domestic: domestic) { return false }
        if type == .purchaseWithCashback || store.digits(.amountOther) ?? 0 > 0 { return cashback(domestic: domestic) }
        return true
    }

    private func has(_ mask: UInt16) -> Bool { rawValue & mask != 0 }
}
