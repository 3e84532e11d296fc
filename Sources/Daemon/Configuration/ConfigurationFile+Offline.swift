// SPDX-License-Identifier: Apache-2.0
public import Envelope
import PaymentValues
import Settings
public import StoreAndForward

extension ConfigurationFile {
    /// What `[offline]` says: nothing is stored without it.
    public struct Offline: Sendable {
        public var rules: OfflineRules
        public var receiptKey: VerificationKey?
        public var serviceName: String?
        /// A payment that waits for longer is told of as overdue.
        public var alertAge: Duration = .seconds(3_600)

        public init(rules: OfflineRules) { self.rules = rules }
    }

    /// - Returns: `nil` where there is no such table.
    static func offline(_ top: inout ConfigurationTable, mode: Mode) -> Offline? {
        guard top.has("offline") else { return nil }
        var table = top.subtable("offline")
        var offline = Offline(rules: rules(&table))
        if let minutes = table.number("alert-after", in: 1...10_080) { offline.alertAge = .seconds(minutes * 60) }
        offline.serviceName = serviceName(&table)
        offline.receiptKey = receiptKey(&table)
        table.finish()
        if !table.has("currency") {
            table.report("currency", "is missing", "write [[offline.currency]] with code, amount and total")
        }
        guard mode == .test else {
            return top.report("offline", "is for test mode", "remove it: live limits come with the signed profile")
        }
        return offline
    }

    /// A payment service that the shop had before: `[[former-service]]`.
    public struct FormerService: Equatable, Sendable {
        /// Signs its receipts for batches.
        public var receiptKey: VerificationKey?
        /// Where its adapter is.
        public var socket: String?

        public init(receiptKey: VerificationKey? = nil, socket: String? = nil) {
            self.receiptKey = receiptKey
            self.socket = socket
        }
    }

    /// What is stored for them can still be brought there, and is let go against their receipts; what they were asked they
    /// go on being asked. In live mode too.
    static func formerServices(_ top: inout ConfigurationTable, mode: Mode) -> [String: FormerService] {
        var services: [String: FormerService] = [:]
        for var table in top.subtables("former-service") {
            let serviceName = serviceName(&table)
            let (key, socket) = (receiptKey(&table), table.absolutePath("socket"))
            table.finish()
            guard let serviceName, services[serviceName] == nil else {
                table.report("service-name", "is missing or repeated", "write the name that its profile had")
                continue
            }
            guard key != nil || socket != nil else {
                table.report(
                    "receipt-key", "is missing, and socket, too",
                    "write the socket of its adapter, or the file of the key that its receipts are signed with")
                continue
            }
            if mode == .live, let key, key.isTest {
                table.report("receipt-key", "is a test key", "install the former payment service's live key")
            }
            services[serviceName] = FormerService(receiptKey: key, socket: socket)
        }
        return services
    }

    private static func serviceName(_ table: inout ConfigurationTable) -> String? {
        let key = table.name(of: "service-name", formerly: "issuer")
        guard let serviceName = table.text(key) else { return nil }
        guard serviceName.isReference(upTo: 64) else {
            return table.report(key, "is not 1 to 64 visible characters", "write the payment service's name")
        }
        return serviceName
    }

    private static func receiptKey(_ table: inout ConfigurationTable) -> VerificationKey? {
        guard let path = table.absolutePath("receipt-key") else { return nil }
        return table.attempt { () throws(ConfigurationError) in try receiptKey(path, table) }
    }

    private static func rules(_ table: inout ConfigurationTable) -> OfflineRules {
        let entries = table.subtables("currency")
        var currencies: [String: OfflineRules.CurrencyLimit] = [:]
        for var entry in entries { read(&entry, into: &currencies) }
        var rules = OfflineRules(currencies: currencies, count: table.number("count", in: 1...1_000) ?? 50)
        if let hours = table.number("hours", in: 1...24) { rules.age = .seconds(hours * 3_600) }
        if let perCard = table.number("per-card", in: 1...1_000) { rules.perCard = perCard }
        if let schemes = table.text("schemes") {
            rules.schemes = Set(
                schemes.split(separator: ",").map { name in
                    String(name.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
                })
        }
        if let restart = table.text("restart") {
            if !["ends", "allowed"].contains(restart) {
                table.report("restart", "is neither ends nor allowed", "write restart = \"ends\"")
            }
            rules.needsSameBoot = restart != "allowed"
        }
        return rules
    }

    private static func read(
        _ entry: inout ConfigurationTable, into currencies: inout [String: OfflineRules.CurrencyLimit]
    ) {
        let code = entry.text("code")
        let most = Int(Limits.amount)
        let amount = entry.number("amount", in: 1...most)
        let total = entry.number("total", in: 1...most)
        if amount == nil { entry.report("amount", "is missing", "write the most of one payment in minor units") }
        if total == nil {
            entry.report("total", "is missing", "write the most of all stored payments in minor units")
        }
        entry.finish()
        guard let code, Currency(code) != nil, currencies[code] == nil else {
            return entry.report("code", "is missing, unknown or used twice", "write code = \"EUR\"")
        }
        currencies[code] = OfflineRules.CurrencyLimit(amount: Int64(amount ?? 1), total: Int64(total ?? 1))
    }

    private static func receiptKey(
        _ path: String, _ table: ConfigurationTable
    ) throws(ConfigurationError) -> VerificationKey {
        let jwk = try table.contents(of: path, for: "receipt-key")
        do throws(RecipientKeyError) { return try VerificationKey(jwk: jwk) } catch {
            throw table.wrong(
                "receipt-key", "is wrong: \(error)", "ask your payment service for a public JWK that follows this rule")
        }
    }
}
