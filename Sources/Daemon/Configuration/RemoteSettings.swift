// SPDX-License-Identifier: Apache-2.0
public import PaymentValues
import Settings

/// `[remote]`: whose program starts payments that a backend far away asks for, and what it may do at most, whatever it says.
public struct RemoteSettings: Equatable, Sendable {
    /// Group whose members name tills that begin with `TillName.remotePrefix`, and have no other power.
    public var group: UInt32
    /// On which lanes; there is no default.
    public var lanes: Set<String>
    public var types: Set<TransactionType> = [.purchase]
    /// The most of one payment, in minor units; a currency without one is refused.
    public var limits: [Currency: Int64]
    /// The most of all payments of 24 hours together, in minor units; without one for its currency there is no limit.
    public var dayLimits: [Currency: Int64] = [:]
    /// Lanes may have nothing that shows the customer the amount.
    public var isUnseen = false

    /// Name of the group where nothing else is written.
    private static let groupName = "nfc-tap-remote"
    /// Types that read a card on a lane, and give nothing back.
    private static let allowedTypes: Set<TransactionType> = [.purchase, .verification, .loyalty]

    public init(group: UInt32, lanes: Set<String>, limits: [Currency: Int64]) {
        (self.group, self.lanes, self.limits) = (group, lanes, limits)
    }

    /// What speaks against an order, before its lanes are looked at; `nil` for nothing.
    ///
    /// - Returns: the code, and the limit where there is one.
    public func refusal(of amount: Money) -> (code: ErrorCode, limit: Money?)? {
        guard amount.value > 0 else { return nil }
        guard let limit = limits[amount.currency] else { return (.remoteCurrencyNotAllowed, nil) }
        return amount.value <= limit ? nil : (.remoteAmountExceeded, Money(value: limit, currency: amount.currency))
    }
}

extension RemoteSettings {
    /// `[remote]`.
    init?(
        _ table: inout ConfigurationTable, lanes known: [ConfigurationFile.Lane], gateway: GatewaySettings?
    ) {
        let group = table.group("group") ?? table.host.groupNumber(RemoteSettings.groupName)
        if group == nil { table.report("group", "is missing", "name the group of nfc-tap-remote") }
        if let group, group == gateway?.group {
            table.report("group", "is the gateway's group", "give each a group of its own")
        }
        let names = table.texts("lanes")
        if names.isEmpty { table.report("lanes", "is missing", "name the lanes on which a backend may start payments") }
        if let unknown = names.first(where: { name in !known.contains { $0.name == name } }) {
            table.report("lanes", "names the lane \(unknown), which does not exist", "add [[lane]] or remove it")
        }
        if let alone = known.first(where: { names.contains($0.name) && $0.standing != nil }) {
            table.report("lanes", "names the lane \(alone.name), which stands alone", "remove it here, or its standing")
        }
        let types = Set(table.words("types", of: TransactionType.self, "purchase, verification and loyalty"))
        if let wrong = types.subtracting(RemoteSettings.allowedTypes).map(\.rawValue).min() {
            table.report(
                "types", "names \(wrong)", "remove it: a backend starts purchase, verification and loyalty only")
        }
        let limits = RemoteSettings.amounts("limits", &table)
        if limits.isEmpty {
            table.report("limits", "is missing", "write the most of one payment: limits = { EUR = 5000 }")
        }
        self.init(group: group ?? .max, lanes: Set(names), limits: limits)
        if !types.isEmpty { self.types = types }
        dayLimits = RemoteSettings.amounts("limit-day", &table)
        for (currency, most) in dayLimits where most < limits[currency] ?? .max {
            table.report(
                "limit-day", "allows less of \(currency.code) than limits allows of one payment",
                "raise it to limits.\(currency.code) at least, and name each currency there")
        }
        isUnseen = table.flag("unseen") ?? false
        table.finish()
        guard group != nil else { return nil }
    }

    private static func amounts(_ key: String, _ table: inout ConfigurationTable) -> [Currency: Int64] {
        var amounts: [Currency: Int64] = [:]
        var written = table.subtable(key)
        for code in written.keys {
            guard let value = written.number(code, in: 1...Int(Limits.amount)) else { continue }
            if let currency = Currency(code) {
                amounts[currency] = Int64(value)
            } else {
                written.report(code, "is no currency", "write its three letters, as EUR")
            }
        }
        written.finish()
        return amounts
    }
}

extension ConfigurationFile {
    /// `[remote]`. Where it is not written, no backend starts anything.
    mutating func readRemote(_ top: inout ConfigurationTable) {
        guard top.has("remote") else { return }
        var table = top.subtable("remote")
        remote = RemoteSettings(&table, lanes: lanes, gateway: gateway)
    }
}
