// SPDX-License-Identifier: Apache-2.0
import Configuration
import PaymentValues
import Profile
import Settings
import StoreAndForward
import Testing

@testable import TapDaemon

@Suite("What may be stored, by the configuration and by the signed profile")
struct OfflineSettingsTests {
    private func configuration(_ offline: String) throws -> DaemonConfiguration {
        let lane = "[[lane]]\nname = \"a\"\nreader = \"pcsc:\"\n"
        let file = try ConfigurationFile(file: "nfc-tapd.toml", text: lane + offline)
        return try DaemonConfiguration(file)
    }

    private static let table = """
        [offline]
        count = 7
        hours = 2
        restart = "allowed"
        per-card = 1
        schemes = "Visa, American Express"
        alert-after = 5
        service-name = "psp"
        [[offline.currency]]
        code = "EUR"
        amount = 1000
        total = 3000
        [[offline.currency]]
        code = "JPY"
        amount = 500
        total = 500
        """

    @Test("Without the table nothing is stored; with it, each setting is a rule")
    func configured() throws {
        #expect(try configuration("").offlineSettings.rules == nil)
        let settings = try configuration(Self.table).offlineSettings
        var rules = OfflineRules(
            currencies: ["EUR": .init(amount: 1_000, total: 3_000), "JPY": .init(amount: 500, total: 500)], count: 7,
            schemes: ["Visa", "American Express"])
        rules.age = .seconds(7_200)
        rules.needsSameBoot = false
        rules.perCard = 1
        #expect(settings.rules == rules && settings.serviceName == "psp" && settings.alertAge == .seconds(300))
        #expect(settings.receiptKey == SandboxReceipts.key)
    }

    static let wrong = [
        "[offline]\ncount = 1\n", "[offline]\nhours = 25\n", "[offline]\nrestart = \"yes\"\n",
        "[offline]\n[[offline.currency]]\ncode = \"XXX\"\namount = 1\ntotal = 1\n",
        "[offline]\n[[offline.currency]]\ncode = \"EUR\"\namount = 0\ntotal = 1\n",
        "[offline]\n[[offline.currency]]\ncode = \"EUR\"\ntotal = 1\n",
        "[offline]\nreceipt-key = \"/nowhere/key.jwk\"\n[[offline.currency]]\ncode = \"EUR\"\namount = 1\ntotal = 1\n",
    ]

    @Test("A wrong setting is refused by its name", arguments: wrong)
    func refused(_ text: String) throws {
        #expect(throws: ConfigurationError.self) { try configuration(text) }
    }

    @Test("The limits of a signed profile become the rules, and a day is the most")
    func profile() throws {
        let euro = try #require(Currency("EUR"))
        let limits = OfflineLimits(
            count: 3, ceilings: [.init(currency: euro, amount: 10, total: 20)], networks: ["Visa"],
            maximumAge: 90_000, rebootAllowed: false)
        let rules = OfflineRules(limits)
        #expect(rules.currencies == ["EUR": .init(amount: 10, total: 20)] && rules.count == 3)
        #expect(rules.schemes == ["Visa"] && rules.needsSameBoot)
        let contact = OnlineContact(at: .init(milliseconds: 0), boot: "b", serviceName: "i")
        #expect(OfflineDecision.expiry(after: contact, by: rules) == Timestamp(milliseconds: 86_400_000))
    }
}
