// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

@testable import EMV

@Suite("Kernel 4")
struct Kernel4Tests {
    private static let pan: [UInt8] = [0x37, 0x42, 0x45, 0x45, 0x54, 0x00, 0x00, 0x1F]

    /// Terminal type 22, PIN pad and signature, CDA and SDA, contacts; no action code hits what is not tested.
    static func terminal(
        _ changes: DataObject...,
        limits: EntryPointLimits = EntryPointLimits(cvmRequiredLimit: 5_000, floorLimit: 8_000), type: UInt8 = 0x22
    ) -> TerminalConfiguration {
        var kernelData = [
            DataObject(0x9F6D, [0xC0]), DataObject(0x9F6E, [0x98, 0xA0, 0x00, 0x03]),
            DataObject(0x9F33, [0x00, 0x68, 0x88]), DataObject(0x9F09, [0x00, 0x01]),
        ]
        for change in changes {
            kernelData.removeAll { $0.tag == change.tag }
            kernelData.append(change)
        }
        return TerminalConfiguration(
            terminalData: [DataObject(0x9F35, [type])],
            combinations: [
                Combination(
                    aid: [0xA0, 0, 0, 0, 0x25, 0x01], kernel: .americanExpress, limits: limits, kernelData: kernelData)
            ])
    }

    /// A card without offline authentication unless `profile` says so.
    static func card(profile: [UInt8] = [0x10, 0x80], cid: UInt8 = 0x80) -> PlainCard {
        var card = PlainCard(
            aid: [0xA0, 0, 0, 0, 0x25, 0x01, 0x09, 0x01],
            selection: [DataObject(0x9F38, [0x9F, 0x35, 0x01, 0x9F, 0x6E, 0x04])],
            options: [DataObject(0x82, profile), DataObject(0x94, [0x08, 0x01, 0x01, 0x01])],
            cryptogram: [
                DataObject(0x9F27, [cid]), DataObject(0x9F36, [0x00, 0x01]),
                DataObject(0x9F26, [8, 7, 6, 5, 4, 3, 2, 1]), DataObject(0x9F10, [0x06, 0x02]),
            ])
        card.records[[0x01, 0x0C]] = [
            DataObject(0x5A, pan), DataObject(0x5F24, [0x29, 0x12, 0x31]), DataObject(0x5F25, [0x19, 0x03, 0x01]),
            DataObject(0x8C, [0x95, 0x05, 0x9F, 0x37, 0x04, 0x9F, 0x6D, 0x01, 0x9F, 0x35, 0x01]),
            DataObject(0x8E, [0, 0, 0, 0, 0, 0, 0, 0, 0x41, 0x03, 0x42, 0x03, 0x1E, 0x03, 0x1F, 0x03]),
            DataObject(
                0x57, [0x37, 0x42, 0x45, 0x45, 0x54, 0x00, 0x00, 0x1D, 0x29, 0x12, 0x20, 0x10, 0x00, 0x00]),
            DataObject(0x5F20, Array("TEST/AMEX".utf8)), DataObject(0x9F0F, [0, 0, 0, 0, 0]),
            DataObject(0x9F0D, [0, 0, 0, 0, 0]), DataObject(0x5F34, [0x00]),
        ]
        return card
    }

    /// With certificates in a second record.
    static func signingCard(profile: [UInt8] = [0x11, 0x80], cid: UInt8 = 0x40) -> PlainCard {
        var card = card(profile: profile, cid: cid)
        card.setOptions(DataObject(0x94, [0x08, 0x01, 0x02, 0x01]))
        card.records[[0x02, 0x0C]] = [
            DataObject(0x8F, [0xC1]), DataObject(0x90, [1]), DataObject(0x9F32, [3]), DataObject(0x9F46, [1]),
            DataObject(0x9F47, [3]), DataObject(0x93, [7]),
        ]
        card.cryptogram = card.cryptogram.filter { $0.tag != 0x9F26 } + [DataObject(0x9F4B, [1])]
        return card
    }

    private func value(_ run: Run, _ tag: CardBytes.Tag) -> String? {
        run.outcome.outcome.dataRecord?.value(of: tag).map { Hex.string($0) }
    }

    private func tvr(_ run: Run) throws -> String {
        let command = try #require(run.commands.last { $0.hasPrefix("80AE") })
        return String(command.dropFirst(10).prefix(10))
    }

    @Test func `a plain card goes online with its record`() throws {
        let run = try Self.card().run(Self.terminal(), .test(500))
        #expect(run.outcome.outcome.status == .onlineRequest)
        #expect(run.outcome.outcome.cvm == .noCVM)
        #expect(run.messages == ["15/02", "17/04", "1B/00"])
        #expect(run.commands[2] == "80A800000783052298A0000300")
        #expect(run.commands.last == "80AE80000B800000000012345678C02200")
        #expect(value(run, 0x9F34) == "3F0000")
        #expect(value(run, 0x9F6E) == "98A00003")
        #expect(run.outcome.outcome.dataRecord?.contains { $0.tag == 0x5A } == true)
    }

    @Test(arguments: [(4_999, "C0", "98A00003"), (5_000, "C8", "98A04003")] as [(UInt64, String, String)])
    func `at the CVM limit the capabilities say so`(amount: UInt64, capability: String, enhanced: String) throws {
        let run = try Self.card().run(
            Self.terminal(
                DataObject(0x9F6D, [0xC8]), DataObject(0x9F6E, [0x98, 0xA0, 0xFF, 0x03]),
                limits: EntryPointLimits(cvmRequiredLimit: 5_000)), .test(amount))
        #expect(value(run, 0x9F6D) == capability)
        #expect(value(run, 0x9F6E) == enhanced)
    }

    @Test func `an offline-only reader says so and answers for the issuer`() throws {
        let approved = try Self.card(cid: 0x40).run(
            Self.terminal(DataObject(0xDF8120, [0, 0, 0, 0, 0]), limits: EntryPointLimits(), type: 0x23), .test(500))
        #expect(approved.outcome.outcome.status == .approved)
        #expect(value(approved, 0x9F6E) == "98A08003")
        #expect(value(approved, 0x8A) == "5931")
        let declined = try Self.card(cid: 0x00).run(Self.terminal(limits: EntryPointLimits(), type: 0x23), .test(500))
        #expect(declined.outcome.outcome.status == .declined)
        #expect(declined.commands.last?.hasPrefix("80AE0000") == true)
        #expect(declined.outcome.outcome.dataRecord == nil)
    }

    @Test func `a legacy card gets the capabilities in place of the terminal type`() throws {
        var card = Self.card()
        card.selection = [DataObject(0x9F38, [0x9F, 0x35, 0x01])]
        let run = try card.run(Self.terminal(), .test(500))
        #expect(run.commands[2] == "80A80000038301C000")
        #expect(value(run, 0x9F35) == "22")
        card.selection = []
        #expect(try card.run(Self.terminal(), .test(500)).commands[2] == "80A8000002830000")
    }

    @Test func `a reader that says nothing of itself does not ask the card`() throws {
        let run = try Self.card().run(Self.terminal(DataObject(0x9F6E, [0, 0, 0, 0])), .test(500))
        #expect(run.outcome.outcome.status == .endApplication)
        #expect(run.outcome.outcome.error.l2 == .terminalDataError)
        #expect(run.commands.count == 2)
    }

    @Test(arguments: [0x6984, 0x6985, 0x6986, 0x6A81] as [UInt16])
    func `any status but 9000 of GET PROCESSING OPTIONS ends the application`(status: UInt16) throws {
        var card = Self.card()
        card.statuses[0xA8] = StatusWord(status)
        let outcome = try card.run(Self.terminal(), .test(500)).outcome.outcome
        #expect(outcome.status == .endApplication)
        #expect(outcome.error.statusWord == StatusWord(status))
        #expect(outcome.uiOnOutcome?.message == .insertSwipeOrTryAnotherCard)
    }

    @Test func `both formats of the options are taken, and both need AIP and AFL`() throws {
        var card = Self.card()
        card.answers[0xA8] = [0x80, 0x06, 0x10, 0x80, 0x08, 0x01, 0x01, 0x00]
        #expect(try card.run(Self.terminal(), .test(500)).outcome.outcome.status == .onlineRequest)
        card.answers[0xA8] = [0x80, 0x02, 0x10, 0x80]
        #expect(try card.run(Self.terminal(), .test(500)).outcome.outcome.error.l2 == .parsingError)
        card.answers[0xA8] = [0x77, 0x04, 0x82, 0x02, 0x10, 0x80]
        #expect(try card.run(Self.terminal(), .test(500)).outcome.outcome.error.l2 == .cardDataMissing)
        card.answers[0xA8] = [0x77, 0x09, 0x82, 0x02, 0x10, 0x80, 0x94, 0x03, 0x08, 0x01, 0x01]
        #expect(try card.run(Self.terminal(), .test(500)).outcome.outcome.error.l2 == .cardDataError)
    }

    @Test(arguments: [0x5A, 0x5F24, 0x8C] as [UInt32])
    func `a record without a mandatory object ends the application`(tag: UInt32) throws {
        for isEmpty in [false, true] {
            var card = Self.card()
            card.records[[0x01, 0x0C]]?.removeAll { $0.tag.rawValue == tag }
            if isEmpty { card.records[[0x01, 0x0C]]?.append(DataObject(CardBytes.Tag(tag), [])) }
            let outcome = try card.run(Self.terminal(), .test(500)).outcome.outcome
            #expect(outcome.error.l2 == .cardDataMissing)
        }
        var card = Self.card()
        card.statuses[0xB2] = .recordNotFound
        #expect(try card.run(Self.terminal(), .test(500)).outcome.outcome.error.statusWord == .recordNotFound)
    }

    @Test(arguments: [(7_999, false), (8_000, false), (8_001, true)] as [(UInt64, Bool)])
    func `the floor limit is exceeded above it`(amount: UInt64, exceeded: Bool) throws {
        let limits = EntryPointLimits(floorLimit: 8_000)
        let run = try Self.card().run(Self.terminal(limits: limits), .test(amount))
        #expect(try tvr(run) == (exceeded ? "8000008000" : "8000000000"))
    }

    @Test(
        "the card chooses a limit set by the low nibble of 9F70",
        arguments: [
            (UInt8(0x12), 2_000, Outcome.Status.onlineRequest, Outcome.CVM.noCVM),
            (0x11, 999, .onlineRequest, .noCVM), (0x11, 1_000, .onlineRequest, .onlinePIN),
            (0x21, 3_000, .onlineRequest, .onlinePIN), (0x01, 3_001, .tryAnotherInterface, nil),
        ] as [(UInt8, UInt64, Outcome.Status, Outcome.CVM?)])
    func dynamicLimits(set: UInt8, amount: UInt64, status: Outcome.Status, cvm: Outcome.CVM?) throws {
        var configuration = Self.terminal()
        configuration.combinations[0].dynamicLimits = [
            DynamicReaderLimits(
                programIdentifier: [0x01],
                limits: EntryPointLimits(transactionLimit: 3_000, cvmRequiredLimit: 1_000, floorLimit: 500))
        ]
        var card = Self.card()
        card.records[[0x01, 0x0C]]?.append(DataObject(0x9F70, [0x00, set]))
        let outcome = try card.run(configuration, .test(amount)).outcome.outcome
        #expect(outcome.status == status)
        #expect(outcome.cvm == cvm)
        #expect(outcome.alternateInterface == (status == .tryAnotherInterface ? .contactChip : nil))
        configuration.combinations[0].kernelData[1] = DataObject(0x9F6E, [0x18, 0xA0, 0x00, 0x03])
        if status == .tryAnotherInterface {
            let other = try card.run(configuration, .test(amount)).outcome.outcome
            #expect(other.status == .endApplication && other.error.l2 == .maxLimitExceeded)
        }
    }

    @Test func `above the transaction limit of the combination the kernel is not reached`() throws {
        let limits = EntryPointLimits(transactionLimit: 500)
        let run = try Self.card().run(Self.terminal(limits: limits), .test(500))
        #expect(run.outcome.outcome.status == .tryAnotherInterface)
        #expect(run.commands.isEmpty)
        #expect(try Self.card().run(Self.terminal(limits: limits), .test(499)).outcome.outcome.status == .onlineRequest)
    }

    @Test func `restrictions set their bits`() throws {
        let cases: [(DataObject, String)] = [
            (DataObject(0x9F08, [0x00, 0x02]), "8080000000"), (DataObject(0x9F08, [0x00, 0x01]), "8000000000"),
            (DataObject(0x5F24, [0x20, 0x03, 0x15]), "8040000000"),
            (DataObject(0x5F24, [0x20, 0x03, 0x16]), "8000000000"),
            (DataObject(0x5F25, [0x20, 0x03, 0x17]), "8020000000"),
            (DataObject(0x5F25, [0x20, 0x03, 0x16]), "8000000000"),
        ]
        for (object, expected) in cases {
            var card = Self.card()
            card.records[[0x01, 0x0C]]?.removeAll { $0.tag == object.tag }
            card.records[[0x01, 0x0C]]?.append(object)
            let run = try card.run(Self.terminal(DataObject(0xDF8121, [0, 0, 0, 0, 0])), .test(500))
            #expect(try tvr(run) == expected)
        }
    }

    @Test func `a service that is not allowed is denied with the published action codes`() throws {
        var card = Self.card(cid: 0x00)
        card.records[[0x01, 0x0C]]? += [DataObject(0x9F07, [0x00, 0x00]), DataObject(0x5F28, [0x08, 0x40])]
        let run = try card.run(Self.terminal(), .test(500))
        #expect(run.commands.last?.hasPrefix("80AE0000") == true)
        #expect(run.outcome.outcome.status == .declined)
    }
}
