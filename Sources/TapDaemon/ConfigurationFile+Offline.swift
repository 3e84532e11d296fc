import Envelope
import Settings
import StoreAndForward
import Wire

extension ConfigurationFile {
    /// What `[offline]` says: nothing is stored without it.
    struct Offline: Sendable {
        var rules: OfflineRules
        var receiptKey: VerificationKey?
        var issuer: String?
        var alertAge: Duration = .seconds(3_600)
    }

    /// - Returns: `nil` where there is no such table.
    static func offline(_ top: inout ConfigurationTable, mode: Mode) throws(ConfigurationError) -> Offline? {
        guard top.has("offline") else { return nil }
        guard mode == .test else {
            throw top.wrong("offline", "is for test mode", "remove it: live limits come with the signed profile")
        }
        var table = try top.subtable("offline")
        let rules = try rules(&table)
        var offline = Offline(rules: rules)
        if let minutes = try table.number("alert-after", in: 1...10_080) {
            offline.alertAge = .seconds(minutes * 60)
        }
        if let issuer = try table.text("issuer") {
            guard issuer.isReference(upTo: 64) else {
                throw table.wrong("issuer", "is not 1 to 64 visible characters", "write the payment service's name")
            }
            offline.issuer = issuer
        }
        if let path = try table.absolutePath("receipt-key") {
            offline.receiptKey = try receiptKey(path, table)
        }
        try table.finish()
        guard !rules.currencies.isEmpty else {
            throw table.wrong("currency", "is missing", "write [[offline.currency]] with code, amount and total")
        }
        return offline
    }

    private static func rules(_ table: inout ConfigurationTable) throws(ConfigurationError) -> OfflineRules {
        var currencies: [String: OfflineRules.CurrencyLimit] = [:]
        for var entry in try table.subtables("currency") {
            guard let code = try entry.text("code"), Currency(code) != nil, currencies[code] == nil else {
                throw entry.wrong("code", "is missing, unknown or used twice", "write code = \"EUR\"")
            }
            let most = Int(Limits.amount)
            guard let amount = try entry.number("amount", in: 1...most) else {
                throw entry.wrong("amount", "is missing", "write the most of one payment in minor units")
            }
            guard let total = try entry.number("total", in: 1...most) else {
                throw entry.wrong("total", "is missing", "write the most of all stored payments in minor units")
            }
            try entry.finish()
            currencies[code] = OfflineRules.CurrencyLimit(amount: Int64(amount), total: Int64(total))
        }
        var rules = OfflineRules(currencies: currencies, count: try table.number("count", in: 1...1_000) ?? 50)
        if let hours = try table.number("hours", in: 1...24) { rules.age = .seconds(hours * 3_600) }
        if let perCard = try table.number("per-card", in: 1...1_000) { rules.perCard = perCard }
        if let schemes = try table.text("schemes") {
            rules.schemes = Set(
                schemes.split(separator: ",").map { name in
                    String(name.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
                })
        }
        if let restart = try table.text("restart") {
            guard ["ends", "allowed"].contains(restart) else {
                throw table.wrong("restart", "is neither ends nor allowed", "write restart = \"ends\"")
            }
            rules.needsSameBoot = restart == "ends"
        }
        return rules
    }

    private static func receiptKey(
        _ path: String, _ table: ConfigurationTable
    ) throws(ConfigurationError) -> VerificationKey {
        guard let jwk = ConfigurationTable.contents(path) else {
            throw table.wrong("receipt-key", "names a file that cannot be read", "check its name and permissions")
        }
        do throws(RecipientKeyError) { return try VerificationKey(jwk: jwk) } catch {
            throw table.wrong("receipt-key", "is wrong: \(error)", "install the JWK that the PSP gave you")
        }
    }
}
