// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
import EMVCrypto
import Testing

/// Every card in software through Entry Point and kernels with certificates that are really verified, and with every
/// answer disturbed.
@Suite("The catalogue's cards with real keys")
struct CatalogueTapTests {
    /// The test terminal; `mayApprove` gives it floor limits above the amount and a type that approves offline,
    /// `tellsLocalAuthentication` lets kernel 8 keep a failed authentication in the TVR.
    static func entryPoint(
        mayApprove: Bool, authentication: OfflineAuthentication = .using(.test), qualifiers: UInt32 = 0,
        amount: UInt64 = 1_250, type: TransactionType = .purchase, riskManagementData: [UInt8]? = nil,
        tellsLocalAuthentication: Bool = false
    ) -> EntryPoint {
        var configuration = TerminalConfiguration.test
        for index in configuration.combinations.indices where tellsLocalAuthentication {
            configuration.combinations[index].kernelData = configuration.combinations[index].kernelData.map {
                $0.tag == .c8KernelConfiguration ? DataObject(.c8KernelConfiguration, [0x08, 0x00]) : $0
            }
        }
        if let riskManagementData {
            for index in configuration.combinations.indices {
                configuration.combinations[index].kernelData = configuration.combinations[index].kernelData.map {
                    $0.tag == 0x9F1D ? DataObject(0x9F1D, riskManagementData) : $0
                }
            }
        }
        for index in configuration.combinations.indices where mayApprove {
            configuration.combinations[index].limits.floorLimit = 10_000
            configuration.combinations[index].limits.ttq = configuration.combinations[index].limits.ttq.map {
                TTQ(rawValue: $0.rawValue | qualifiers)
            }
            configuration.combinations[index].kernelData = configuration.combinations[index].kernelData.map {
                $0.tag == 0xDF8123 ? DataObject(0xDF8123, [0, 0, 0, 1, 0, 0]) : $0
            }
        }
        if mayApprove {
            configuration.terminalData = configuration.terminalData.map {
                $0.tag == 0x9F35 ? DataObject(0x9F35, [0x22]) : $0
            }
        }
        return EntryPoint(
            configuration: configuration,
            transaction: Transaction(
                amount: amount, currency: 978, exponent: 2, country: 276, type: type,
                date: EMVDate(year: 2026, month: 6, day: 7),
                time: EMVTime(hour: 12, minute: 0, second: 0), sequenceCounter: 1),
            unpredictableNumbers: .fixed([0x0102_0304]), authentication: authentication)
    }

    @Test(arguments: CardCatalogue.names)
    func `a disturbed answer at any step leads to an outcome`(name: String) throws {
        var disturbances = Disturbances(seed: 23)
        var plain = CatalogueTapTests.entryPoint(mayApprove: true)
        let sizes = try Tap.run(&plain, card: Tap.catalogueCard(name)).sizes
        for (step, size) in sizes.enumerated().prefix(12) {
            for disturbance in disturbances.list(size: size, flips: 2, randoms: 1) {
                var entryPoint = CatalogueTapTests.entryPoint(mayApprove: true)
                let tap = try Tap.run(&entryPoint, disturb: (step, disturbance), card: Tap.catalogueCard(name))
                #expect(tap.isFinal, "step \(step), \(disturbance)")
            }
        }
    }

    @Test(arguments: ["visa", "visa-afl", "mastercard", "mastercard-nocda", "visa-phone", "mastercard-phone"])
    func `a card that is lost at any step works when it is presented again`(name: String) throws {
        var plain = CatalogueTapTests.entryPoint(mayApprove: false)
        let count = try Tap.run(&plain, card: Tap.catalogueCard(name)).commands.count
        #expect(count >= 3)
        for step in 0..<count {
            var entryPoint = CatalogueTapTests.entryPoint(mayApprove: false)
            let tap = try Tap.run(&entryPoint, disturb: (step, .cardLost), card: Tap.catalogueCard(name))
            #expect(tap.outcome.status == .onlineRequest, "step \(step)")
            #expect(tap.commands.count > count, "step \(step)")
        }
    }

    @Test(arguments: ["visa-afl", "visa-fdda-00"])
    func `an offline approval of a Visa card needs its signature`(name: String) throws {
        var good = CatalogueTapTests.entryPoint(mayApprove: true)
        #expect(try Tap.run(&good, card: Tap.catalogueCard(name)).outcome.status == .approved)
        // The card's CTQ says: online where authentication fails and the reader can.
        var keyless = CatalogueTapTests.entryPoint(mayApprove: true, authentication: .unavailable)
        #expect(try Tap.run(&keyless, card: Tap.catalogueCard(name)).outcome.status == .onlineRequest)
        var offlineOnly = CatalogueTapTests.entryPoint(
            mayApprove: true, authentication: .unavailable, qualifiers: 0x0800_0000)
        let declined = try Tap.run(&offlineOnly, card: Tap.catalogueCard(name))
        #expect(declined.outcome.status == .declined)
        #expect(declined.outcome.dataRecord == nil)
    }

    @Test(
        "a Visa card that cannot be authenticated is declined where nobody can be asked",
        arguments: ["visa-expired-certificate", "visa-unknown-ca", "visa-bad-signature"])
    func unauthenticated(name: String) throws {
        var offlineOnly = CatalogueTapTests.entryPoint(mayApprove: true, qualifiers: 0x0800_0000)
        #expect(try Tap.run(&offlineOnly, card: Tap.catalogueCard(name)).outcome.status == .declined)
    }

    @Test func `a Visa card is authenticated online where the reader says so, and a bad signature is told`() throws {
        for (name, error) in [("visa-afl", ErrorIndication.L2.ok), ("visa-bad-signature", .camFailed)] {
            var configured = CatalogueTapTests.entryPoint(mayApprove: true, qualifiers: 0x0100_0000, amount: 10_001)
            let tap = try Tap.run(&configured, card: Tap.catalogueCard(name))
            #expect(tap.outcome.status == .onlineRequest)
            #expect(tap.outcome.error.l2 == error, "\(name)")
            #expect(tap.value(0x95) == "0000000000")
        }
    }

    @Test func `a Mastercard without its CA key goes online with CDA failed in the TVR`() throws {
        var entryPoint = CatalogueTapTests.entryPoint(mayApprove: false, authentication: .unavailable)
        let tap = try Tap.run(&entryPoint, card: Tap.catalogueCard("mastercard"))
        #expect(tap.outcome.status == .onlineRequest)
        let results = try #require(tap.outcome.dataRecord?.value(of: 0x95)).first
        #expect(results.map { $0 & 0x04 } == 0x04)
        #expect(tap.commandTexts.last?.hasPrefix("80AE80") == true)
    }

    @Test func `a phone that verified its holder but cannot be authenticated is refused where the terminal wants CDA`()
        throws
    {
        var entryPoint = CatalogueTapTests.entryPoint(
            mayApprove: false, authentication: .unavailable, riskManagementData: [0x2C, 0x00, 0x80, 0, 0, 0, 0, 0])
        let tap = try Tap.run(&entryPoint, card: Tap.catalogueCard("mastercard-phone"))
        #expect(tap.commandTexts.last?.hasPrefix("80AE00") == true)
        #expect(tap.outcome.status == .declined)
    }

    @Test func `a Mastercard whose signature is wrong ends the application with CAM failed`() throws {
        for mayApprove in [false, true] {
            var entryPoint = CatalogueTapTests.entryPoint(mayApprove: mayApprove)
            let tap = try Tap.run(&entryPoint, card: Tap.catalogueCard("mastercard-bad-signature"))
            #expect(tap.outcome.status == .endApplication)
            #expect(tap.outcome.error.l2 == .camFailed)
            #expect(tap.outcome.dataRecord == nil)
        }
    }

    @Test(arguments: ["torn-gpo", "torn-record", "torn-generate-ac", "see-phone"])
    func `a card that leaves, or a phone that asks its holder, is continued on the same machine`(name: String) throws {
        var entryPoint = CatalogueTapTests.entryPoint(mayApprove: false)
        let tap = try Tap.run(&entryPoint, card: Tap.catalogueCard(name))
        #expect(tap.outcome.status == .onlineRequest)
        #expect(tap.commands.filter { $0 == tap.commands[0] }.count == 2)
    }
}
