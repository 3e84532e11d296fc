// SPDX-License-Identifier: Apache-2.0
public import PaymentValues
import Settings

/// `[gateway]`: whose programs may speak for tills, and what those tills may do at most, whatever the gateway says.
public struct GatewaySettings: Equatable, Sendable {
    /// Its members may name a till.
    public var group: UInt32
    /// Never `admin`.
    public var roles: Set<Role> = [.cashier, .loyalty, .monitor]
    /// `nil` for all.
    public var lanes: Set<String>?
    public var types = Set(TransactionType.allCases).subtracting([.refund, .charge, .link, .handover])
    /// How long after its approval a till may reverse its own payment; 0 for never.
    public var reversalMinutes = 15

    /// Name of the group where nothing else is written.
    private static let groupName = "nfc-tap-gateway"

    public init(group: UInt32) { self.group = group }

    /// That of an installed system, as far as its group exists.
    init?(of host: ConfigurationHost) {
        guard let group = host.groupNumber(GatewaySettings.groupName) else { return nil }
        self.init(group: group)
    }
}

extension ConfigurationFile {
    /// `[gateway]`. Where its group is the one of an installed system and does not exist, nobody may speak for tills.
    mutating func readGateway(_ top: inout ConfigurationTable) {
        var table = top.subtable("gateway")
        let group = table.group("group") ?? gateway?.group
        var settings = GatewaySettings(group: group ?? .max)
        if table.has("roles") {
            settings.roles = Set(table.words("roles", of: Role.self, "cashier, loyalty and monitor"))
            if settings.roles.contains(.admin) {
                table.report("roles", "names admin", "remove it: no till is an administrator")
            }
            if settings.roles.contains(.machine) {
                table.report("roles", "names machine", "remove it: a machine uses the daemon's socket itself")
            }
        }
        if table.has("types") {
            settings.types = Set(
                table.words(
                    "types", of: TransactionType.self, "purchase, refund, verification, loyalty, link and handover"))
            if settings.types.contains(.charge) {
                table.report("types", "names charge", "remove it: no till charges stored cards")
            }
        }
        if table.has("lanes") {
            let names = table.texts("lanes")
            if let unknown = names.first(where: { name in !lanes.contains { $0.name == name } }) {
                table.report("lanes", "names the lane \(unknown), which does not exist", "add [[lane]] or remove it")
            }
            settings.lanes = Set(names)
        }
        if let minutes = table.number("reversal-minutes", in: 0...10_080) { settings.reversalMinutes = minutes }
        if let number = table.number("connections", in: 8...1_024) { pos.places.relayed = number }
        gateway = group == nil ? nil : settings
        table.finish()
    }
}

extension ConfigurationTable {
    /// A list of words of which each has to be one of a few.
    mutating func words<Word: RawRepresentable<String>>(
        _ key: String, of type: Word.Type, _ known: String
    ) -> [Word] {
        texts(key).compactMap { text in
            Word(rawValue: text) ?? report(key, "names \(text), which does not exist", "use some of \(known)")
        }
    }
}
