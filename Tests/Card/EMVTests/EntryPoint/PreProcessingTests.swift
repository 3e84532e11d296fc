// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import EMV

@Suite("Pre-processing")
struct PreProcessingTests {
    private func indicators(
        _ limits: EntryPointLimits, amount: UInt64, exponent: UInt8 = 2
    ) -> PreProcessingIndicators {
        var transaction = Transaction.test(amount)
        transaction.exponent = exponent
        return PreProcessing.indicators(limits, transaction)
    }

    @Test(
        arguments: [(99, false), (100, true), (101, false), (0, false)] as [(UInt64, Bool)])
    func `a status check is requested for exactly one unit of currency`(amount: UInt64, requested: Bool) {
        let limits = EntryPointLimits(statusCheck: true, ttq: TTQ(rawValue: 0x2200_4000))
        let result = indicators(limits, amount: amount)
        #expect(result.statusCheckRequested == requested)
        if requested { #expect(result.ttq?.requiresOnlineCryptogram == true) }
    }

    @Test func `one unit of a currency without minor units is an amount of 1`() {
        let limits = EntryPointLimits(statusCheck: true)
        #expect(indicators(limits, amount: 1, exponent: 0).statusCheckRequested)
        #expect(!indicators(limits, amount: 100, exponent: 0).statusCheckRequested)
    }

    @Test func `no status check is requested where the reader does not support it`() {
        #expect(!indicators(EntryPointLimits(), amount: 100).statusCheckRequested)
    }

    @Test func `a zero amount is refused only where the flag is there and off`() {
        let refused = indicators(EntryPointLimits(zeroAmountAllowed: false), amount: 0)
        #expect(refused.contactlessNotAllowed)
        #expect(!refused.zeroAmount)
        for flag in [true, nil] {
            let allowed = indicators(EntryPointLimits(zeroAmountAllowed: flag), amount: 0)
            #expect(!allowed.contactlessNotAllowed)
            #expect(allowed.zeroAmount)
        }
    }

    @Test func `a zero amount asks an online reader for an online cryptogram and an offline-only one for nothing`() {
        let online = indicators(EntryPointLimits(ttq: TTQ(rawValue: 0x2000_4000)), amount: 0)
        #expect(online.ttq?.requiresOnlineCryptogram == true)
        #expect(!online.contactlessNotAllowed)
        let offline = indicators(EntryPointLimits(ttq: TTQ(rawValue: 0x2800_4000)), amount: 0)
        #expect(offline.contactlessNotAllowed)
        #expect(offline.ttq?.requiresOnlineCryptogram == false)
    }

    @Test(arguments: [(4_999, false), (5_000, true), (5_001, true)] as [(UInt64, Bool)])
    func `the transaction limit refuses at and above it`(amount: UInt64, refused: Bool) {
        #expect(indicators(EntryPointLimits(transactionLimit: 5_000), amount: amount).contactlessNotAllowed == refused)
    }

    @Test(arguments: [(4_999, false), (5_000, false), (5_001, true)] as [(UInt64, Bool)])
    func `the floor limit is exceeded only above it`(amount: UInt64, exceeded: Bool) {
        let limits = EntryPointLimits(floorLimit: 5_000, ttq: TTQ(rawValue: 0x2200_4000))
        let result = indicators(limits, amount: amount)
        #expect(result.floorLimitExceeded == exceeded)
        #expect(result.ttq?.requiresOnlineCryptogram == exceeded)
    }

    @Test(arguments: [(4_999, false), (5_000, true), (5_001, true)] as [(UInt64, Bool)])
    func `the CVM limit is exceeded at and above it`(amount: UInt64, exceeded: Bool) {
        let limits = EntryPointLimits(cvmRequiredLimit: 5_000, ttq: TTQ(rawValue: 0x2200_4000))
        let result = indicators(limits, amount: amount)
        #expect(result.cvmLimitExceeded == exceeded)
        #expect(result.ttq?.requiresCVM == exceeded)
    }

    @Test func `the terminal floor limit counts only where the reader has none`() {
        let both = EntryPointLimits(floorLimit: 10_000, terminalFloorLimit: 1_000)
        #expect(!indicators(both, amount: 5_000).floorLimitExceeded)
        #expect(indicators(EntryPointLimits(terminalFloorLimit: 1_000), amount: 1_001).floorLimitExceeded)
        #expect(!indicators(EntryPointLimits(terminalFloorLimit: 1_000), amount: 1_000).floorLimitExceeded)
    }

    @Test func `without limits nothing is checked`() {
        var expected = PreProcessingIndicators()
        expected.ttq = TTQ(rawValue: 0x3600_4000)
        #expect(indicators(EntryPointLimits(ttq: TTQ(rawValue: 0x3600_4000)), amount: 999_999_999_999) == expected)
    }

    @Test func `dynamic TTQ bits of the configuration are cleared and the others kept`() {
        let result = indicators(EntryPointLimits(ttq: TTQ(rawValue: 0xFFFF_FFFF)), amount: 1)
        #expect(result.ttq?.rawValue == 0xFF3F_FFFF)
    }

    @Test func `an entry at B takes the TTQ as configured, without what pre-processing sets in the newer book`() {
        let limits = EntryPointLimits(floorLimit: 0, ttq: TTQ(rawValue: 0x22C0_4000))
        #expect(PreProcessing.untouched(limits, .v2_5).ttq?.rawValue == 0x22C0_4000)
        #expect(PreProcessing.untouched(limits, .v2_12).ttq?.rawValue == 0x2200_4000)
        #expect(!PreProcessing.untouched(limits, .v2_12).floorLimitExceeded)
    }
}
