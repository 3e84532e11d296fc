// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import EMVCrypto
import Testing

@testable import CardSim

/// The cards at Entry Point and the kernels: what a whole tap comes to.
@Suite struct KernelOutcomeTests {
    /// A card that never leaves the field, and a terminal that takes what it gets. At most 100 steps.
    private func tap(_ name: String, offline: Bool) throws -> FinalOutcome? {
        var card = try #require(CardCatalogue.card(named: name))
        var entryPoint = EntryPoint(
            configuration: offline ? Self.offlineTerminal : .test,
            transaction: Transaction(
                amount: 1250, currency: 978, exponent: 2, country: 276,
                date: EMVDate(year: 2026, month: 6, day: 7), time: EMVTime(hour: 12, minute: 0, second: 0),
                sequenceCounter: 1), unpredictableNumbers: .fixed([0x0102_0304]), authentication: .using(.test))
        let now = TapInstant(nanoseconds: 0)
        var step = entryPoint.start(now: now)
        for _ in 0..<100 {
            switch step.action {
            case .finished(let outcome): return outcome
            case .activate:
                card.powerOn()
                step = entryPoint.activated(card.activation, now: now)
            case .transmit(let command):
                switch card.answer(command.bytes) {
                case .answer(let bytes), .late(let bytes, _):
                    step = entryPoint.received(try ResponseAPDU(bytes), now: now)
                case .gone: step = entryPoint.cardLost(now: now)
                }
            }
        }
        return nil
    }

    /// The test terminal with floor limits above the amount, able to approve offline.
    private static let offlineTerminal: TerminalConfiguration = {
        var configuration = TerminalConfiguration.test
        for index in configuration.combinations.indices {
            configuration.combinations[index].limits.floorLimit = 10_000
            configuration.combinations[index].kernelData = configuration.combinations[index].kernelData.map {
                $0.tag == 0xDF8123 ? DataObject(0xDF8123, [0, 0, 0, 1, 0, 0]) : $0
            }
        }
        configuration.terminalData = configuration.terminalData.map {
            $0.tag == 0x9F35 ? DataObject(0x9F35, [0x22]) : $0
        }
        return configuration
    }()

    private static let online = [
        "visa", "visa-afl", "visa-fdda-00", "mastercard", "mastercard-nocda", "blocked-first", "missing-application",
        "equal-priority", "co-badged", "type-b", "visa-phone", "see-phone", "repeated-dol", "vendor-tags",
        "long-records", "slow", "torn-gpo", "torn-record", "mastercard-phone", "mastercard-pdol",
        "mastercard-online", "mastercard-format-1", "apple-pass", "google-pass",
    ]

    @Test(arguments: online)
    func `cards that work go online with a cryptogram that their issuer knows`(_ name: String) throws {
        let outcome = try #require(try tap(name, offline: false)?.outcome)
        #expect(outcome.status == .onlineRequest)
        #expect(TestIssuer.verify((outcome.dataRecord ?? []).map { ($0.tag, $0.value) }) == .verified)
    }

    @Test(arguments: ["visa-afl", "visa-fdda-00", "mastercard", "mastercard-pdol", "mastercard-phone"])
    func `cards with good signatures are approved offline`(_ name: String) throws {
        let outcome = try #require(try tap(name, offline: true)?.outcome)
        #expect(outcome.status == .approved)
    }

    private static let unusable: [(name: String, status: Outcome.Status)] = [
        ("no-ppse", .endApplication), ("empty-ppse", .endApplication), ("locked", .endApplication),
        ("blocked-application", .endApplication), ("malformed-ppse", .endApplication),
        ("malformed-fci", .endApplication), ("gpo-6985", .endApplication), ("gpo-6984", .tryAnotherInterface),
        ("gpo-6f00", .endApplication), ("malformed-tlv", .endApplication), ("malformed-record", .endApplication),
        ("missing-record", .endApplication), ("pan-mismatch", .endApplication), ("duplicate-tag", .endApplication),
        ("visa-declines", .declined), ("mastercard-declines", .declined), ("mastercard-no-afl", .endApplication),
        ("mastercard-bad-afl", .endApplication), ("mastercard-bad-signature", .endApplication),
        ("generate-ac-6985", .endApplication), ("smoke", .endApplication),
    ]

    @Test(arguments: unusable.indices)
    func `cards that do not work end in an outcome`(_ index: Int) throws {
        let (name, status) = Self.unusable[index]
        #expect(try tap(name, offline: false)?.outcome.status == status, "\(name)")
    }

    @Test(arguments: ["visa-expired-certificate", "visa-unknown-ca", "visa-bad-signature"])
    func `a Visa card whose signature fails asks its issuer instead`(_ name: String) throws {
        #expect(try tap(name, offline: true)?.outcome.status == .onlineRequest)
    }

    @Test func `an expired Visa card is not approved offline`() throws {
        #expect(try tap("visa-expired", offline: true)?.outcome.status == .declined)
    }
}
