// SPDX-License-Identifier: Apache-2.0
import PSPAPI
import PaymentValues
import StoreAndForward
import Testing

@Suite("The decision to take a payment without the payment service")
struct OfflineDecisionTests {
    private let contactAt = Timestamp(milliseconds: 1_800_000_000_000)

    private func rules() -> OfflineRules {
        var rules = OfflineRules(currencies: ["EUR": .init(amount: 5_000, total: 12_000)], count: 4)
        rules.schemes = ["Visa", "Mastercard"]
        return rules
    }

    private func sale(_ value: Int64 = 1_000, _ currency: String = "EUR", scheme: String = "Visa") throws -> OfflineSale
    {
        OfflineSale(
            kind: .sale, amount: Money(value: value, currency: try #require(Currency(currency))),
            card: try #require(MaskedCard(scheme: scheme, last4: "0010", masked: "************0010")),
            isApprovedByCard: true, validity: .valid, needsConfirmation: false)
    }

    private func situation(hours: Int64 = 1) -> OfflineSituation {
        OfflineSituation(
            now: contactAt.advanced(bySeconds: hours * 3_600), boot: "b1", serviceName: "psp",
            lastContact: OnlineContact(at: contactAt, boot: "b1", serviceName: "psp"))
    }

    private func refusal(
        _ change: (inout OfflineSale, inout OfflineSituation, inout OfflineRules) -> Void = { _, _, _ in }
    ) throws -> ErrorCode? {
        var (sale, situation, rules) = (try sale(), situation(), rules())
        change(&sale, &situation, &rules)
        return OfflineDecision.refusal(of: sale, in: situation, by: rules)
    }

    @Test("Off unless it is allowed; a sale that every rule permits is stored")
    func allowed() throws {
        #expect(OfflineDecision.refusal(of: try sale(), in: situation(), by: nil) == .offlineNotAllowed)
        #expect(try refusal() == nil)
    }

    @Test("Only what the card has approved by itself is stored, and nothing but plain sales")
    func kind() throws {
        #expect(try refusal { sale, _, _ in sale.isApprovedByCard = false } == .offlineCardAsksOnline)
        for kind in AuthorizationRequest.Kind.allCases where kind != .sale {
            #expect(try refusal { sale, _, _ in sale.kind = kind } == .offlineNotAllowed)
        }
        #expect(try refusal { sale, _, _ in sale.needsConfirmation = true } == .offlineNotAllowed)
    }

    @Test("Acceptance test 5: 24 hours after the last contact it is over, whatever the rules say")
    func age() throws {
        #expect(try refusal { _, situation, _ in situation = self.situation(hours: 24) } == nil)
        #expect(
            try refusal { _, situation, rules in
                situation = self.situation(hours: 24)
                situation.now = situation.now.advanced(bySeconds: 1)
                rules.age = .seconds(48 * 3_600)
            } == .offlineExpired)
        #expect(
            try refusal { _, situation, rules in
                situation = self.situation(hours: 2)
                rules.age = .seconds(3_600)
            } == .offlineExpired)
        #expect(try refusal { _, situation, _ in situation.lastContact = nil } == .offlineNotContacted)
    }

    @Test("A clock that was put back ends it as well")
    func clock() throws {
        #expect(try refusal { _, situation, _ in situation = self.situation(hours: -1) } == .clockUnbelievable)
    }

    @Test("Acceptance test 5: a restart of the machine ends it, unless the rules allow that")
    func boot() throws {
        #expect(try refusal { _, situation, _ in situation.boot = "b2" } == .offlineInvalidated)
        #expect(
            try refusal { _, situation, rules in
                situation.boot = "b2"
                rules.needsSameBoot = false
            } == nil)
    }

    @Test("Another payment service blocks until the former one's payments are gone, and it was reached itself")
    func serviceName() throws {
        #expect(try refusal { _, situation, _ in situation.serviceName = "other" } == .offlineNotContacted)
        #expect(try refusal { _, situation, _ in situation.storedServiceNames = ["former"] } == .offlineServiceChanged)
        #expect(try refusal { _, situation, _ in situation.storedServiceNames = ["psp"] } == nil)
    }

    @Test("Amount, sum, number, currency, scheme and card each have their limit, which itself is still allowed")
    func limits() throws {
        #expect(try refusal { sale, _, _ in sale.amount.value = 5_000 } == nil)
        #expect(try refusal { sale, _, _ in sale.amount.value = 5_001 } == .offlineAmountExceeded)
        #expect(try refusal { _, situation, _ in situation.storedTotals = ["EUR": 11_000] } == nil)
        #expect(try refusal { _, situation, _ in situation.storedTotals = ["EUR": 11_001] } == .offlineTotalExceeded)
        #expect(try refusal { _, situation, _ in situation.storedTotals = ["EUR": .max] } == .offlineTotalExceeded)
        #expect(try refusal { _, situation, _ in situation.storedCount = 3 } == nil)
        #expect(try refusal { _, situation, _ in situation.storedCount = 4 } == .offlineCountExceeded)
        #expect(try refusal { _, situation, _ in situation.storedOfCard = 2 } == nil)
        #expect(try refusal { _, situation, _ in situation.storedOfCard = 3 } == .offlineCardTooOften)
        let dollars = try sale(1_000, "USD")
        #expect(OfflineDecision.refusal(of: dollars, in: situation(), by: rules()) == .offlineCurrencyNotAllowed)
        let other = try sale(scheme: "Discover")
        #expect(OfflineDecision.refusal(of: other, in: situation(), by: rules()) == .offlineSchemeNotAllowed)
    }

    @Test(
        "A card out of its dates, or that does not say, is not stored",
        arguments: [OfflineSale.Validity.expired, .notYetEffective, .unknown])
    func validity(_ validity: OfflineSale.Validity) throws {
        #expect(try refusal { sale, _, _ in sale.validity = validity } == .offlineCardExpired)
    }

    @Test("Acceptance test 5: sixty seconds for a decline, and not one more")
    func sixtySeconds() {
        let at = contactAt
        for (offset, holds) in [(-1, false), (0, true), (60_000, true), (60_001, false)] as [(Int64, Bool)] {
            let now = Timestamp(milliseconds: at.milliseconds + offset)
            #expect(StoredSale.mayBeDeclined(storedAt: at, now: now) == holds)
        }
        // A3: put back by a minute, the wall clock says that no time has passed.
        #expect(StoredSale.mayBeDeclined(storedAt: at, now: at, elapsed: .seconds(60)))
        #expect(!StoredSale.mayBeDeclined(storedAt: at, now: at, elapsed: .milliseconds(60_001)))
    }
}
