// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
import Testing

@testable import EMVCrypto

/// What has to hold for every card in software, whatever CA keys a terminal has.
@Suite("CA keys over the whole catalogue")
struct KeyPropertyTests {
    /// The published test keys, all of which were last valid the day before the taps of these tests.
    private static let expired: CAPublicKeys? = {
        let keys = (CAPublicKeys.publishedTestKeys + CAPublicKeys.furtherTestKeys.map(\.row)).compactMap { row in
            try? CAPublicKey(
                rid: row.rid, index: row.index, modulus: row.modulus, exponent: row.exponent, checksum: row.checksum,
                expiry: "20260606", environment: .test)
        }
        return try? CAPublicKeys(environment: .test, keys: keys)
    }()

    /// Kernel 8's test key, last valid on the same day.
    private static let expiredECC: CAECCPublicKeys? = {
        guard let key = CAECCPublicKey.publishedTestKey else { return nil }
        let expired = try? CAECCPublicKey(
            rid: key.rid, index: key.index, point: key.point, expiry: EMVDate(year: 2026, month: 6, day: 6),
            environment: .test)
        return expired.flatMap { try? CAECCPublicKeys(environment: .test, keys: [$0]) }
    }()

    private func authentication(_ keys: CAPublicKeys) -> OfflineAuthentication {
        .using(keys, eccKeys: CAECCPublicKeys.none(.test))
    }

    /// Commands, outcome and record; which of both reasons it is may differ, and nothing else.
    private func tap(
        _ name: String, _ keys: CAPublicKeys, mayApprove: Bool, type: TransactionType, amount: UInt64 = 1_250
    ) throws -> (Tap, Outcome) {
        var entryPoint = CatalogueTapTests.entryPoint(
            mayApprove: mayApprove, authentication: authentication(keys), amount: amount, type: type)
        let tap = try Tap.run(&entryPoint, card: Tap.catalogueCard(name))
        var outcome = tap.outcome
        outcome.unmatchedKey = nil
        return (tap, outcome)
    }

    @Test(arguments: CardCatalogue.names)
    func `an expired CA key is the same as none`(name: String) throws {
        let expired = try #require(Self.expired)
        try #require(expired.count == CAPublicKeys.test.count)
        for mayApprove in [false, true] {
            for type in [TransactionType.purchase, .refund] {
                let old = try tap(name, expired, mayApprove: mayApprove, type: type)
                let none = try tap(name, .none(.test), mayApprove: mayApprove, type: type)
                #expect(old.0.commandTexts == none.0.commandTexts)
                #expect(old.1 == none.1)
                #expect((old.0.outcome.unmatchedKey == nil) == (none.0.outcome.unmatchedKey == nil))
                // One card names a key that no list has.
                #expect(old.0.outcome.unmatchedKey?.isExpired != (name == "visa-unknown-ca"))
                #expect(none.0.outcome.unmatchedKey?.isExpired != true)
            }
        }
    }

    @Test(arguments: CardCatalogue.names)
    func `an expired CA key of kernel 8 is the same as none`(name: String) throws {
        let expired = try #require(Self.expiredECC)
        func tap(_ keys: CAECCPublicKeys, _ type: TransactionType) throws -> Tap {
            var entryPoint = CatalogueTapTests.entryPoint(
                mayApprove: true, authentication: .using(.none(.test), eccKeys: keys), type: type,
                tellsLocalAuthentication: true)
            return try Tap.run(&entryPoint, card: Tap.catalogueCard(name))
        }
        for type in [TransactionType.purchase, .refund] {
            let old = try tap(expired, type)
            let none = try tap(.none(.test), type)
            #expect(old.commandTexts == none.commandTexts)
            #expect(old.outcome == none.outcome)
            // A key in use is not the same: the comparison sees something.
            if name == "c8", type == .purchase { #expect(try tap(.test, type).outcome != none.outcome) }
        }
    }

    /// Every phone of the catalogue, beside the card of its scheme.
    private static let phones = CardCatalogue.names.filter { $0.hasSuffix("-phone") && $0 != "see-phone" }

    @Test(arguments: phones)
    func `without a CA key plastic and phone come to the same`(phone: String) throws {
        let plastic = String(phone.dropLast("-phone".count))
        for mayApprove in [false, true] {
            let card = try tap(plastic, .none(.test), mayApprove: mayApprove, type: .purchase).1
            let device = try tap(phone, .none(.test), mayApprove: mayApprove, type: .purchase).1
            #expect(card.status == device.status, "may approve: \(mayApprove)")
            // JCB's action codes decline a failed CDA (K5-3), and Discover's card asks for that instead of a TC (K6-4).
            if phone == "jcb-phone" || phone == "discover-phone" && mayApprove { continue }
            #expect(device.status == .onlineRequest, "may approve: \(mayApprove)")
        }
    }

    /// Above the CVM limit plastic without a PIN goes each scheme's own way; a phone has verified its holder.
    @Test(arguments: phones)
    func `without a CA key a phone that verified its holder goes online above the CVM limit too`(phone: String) throws {
        for mayApprove in [false, true] {
            // As below the limit.
            if phone == "jcb-phone" || phone == "discover-phone" && mayApprove { continue }
            let device = try tap(phone, .none(.test), mayApprove: mayApprove, type: .purchase, amount: 6_000).1
            #expect(device.status == .onlineRequest, "may approve: \(mayApprove)")
            #expect(device.cvm == .confirmationCodeVerified, "may approve: \(mayApprove)")
        }
    }

    @Test func `there is a phone for every kernel`() {
        #expect(Self.phones.count == 7)
    }
}
