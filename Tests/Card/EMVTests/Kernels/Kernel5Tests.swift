// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

@testable import EMV

@Suite("Kernel 5")
struct Kernel5Tests {
    /// Terminal type 22 with the action codes of a public configuration, signature, online PIN and device in the profile.
    static func terminal(
        _ changes: DataObject...,
        limits: EntryPointLimits = EntryPointLimits(cvmRequiredLimit: 5_000, floorLimit: 8_000),
        type: UInt8 = 0x22
    ) -> TerminalConfiguration {
        var kernelData = [
            DataObject(0xDF811B, [0x22]), DataObject(0x9F53, [0xF2, 0x80, 0x00]),
            DataObject(0xDF8120, [0x04, 0x00, 0x00, 0x00, 0x00]),
            DataObject(0xDF8121, [0x04, 0x40, 0x00, 0x00, 0x00]),
            DataObject(0xDF8122, [0xF8, 0x50, 0xAC, 0xF8, 0x00]),
        ]
        for change in changes {
            kernelData.removeAll { $0.tag == change.tag }
            if !change.value.isEmpty { kernelData.append(change) }
        }
        return TerminalConfiguration(
            terminalData: [DataObject(0x9F35, [type]), DataObject(0x9F39, [0x07])],
            combinations: [Combination(aid: aid, kernel: .jcb, limits: limits, kernelData: kernelData)])
    }

    static let aid: [UInt8] = [0xA0, 0, 0, 0, 0x65, 0x10, 0x10]

    static func card(profile: [UInt8] = [0x00, 0x80], cid: UInt8 = 0x80, status: UInt8 = 0x00) -> PlainCard {
        var card = PlainCard(
            aid: aid, selection: [DataObject(0x9F38, [0x9F, 0x52, 0x01, 0x9F, 0x53, 0x03])],
            options: [DataObject(0x82, profile), DataObject(0x94, [0x08, 0x01, 0x01, 0x01])],
            cryptogram: [
                DataObject(0x9F27, [cid]), DataObject(0x9F36, [0x00, 0x01]),
                DataObject(0x9F26, [8, 7, 6, 5, 4, 3, 2, 1]), DataObject(0x9F10, [0x07, 0x02]),
                DataObject(0x9F50, [status]),
            ])
        card.records[[0x01, 0x0C]] = [
            DataObject(0x5F24, [0x29, 0x12, 0x31]), DataObject(0x8C, [0x95, 0x05, 0x9F, 0x37, 0x04]),
            DataObject(
                0x57, [0x35, 0x69, 0x99, 0x00, 0x10, 0x08, 0x22, 0x11, 0xD2, 0x91, 0x22, 0x01, 0x00, 0x00]),
            DataObject(0x9F0F, [0, 0, 0, 0, 0]), DataObject(0x9F0D, [0, 0, 0, 0, 0]), DataObject(0x5F34, [0x00]),
        ]
        return card
    }

    static func signingCard(cid: UInt8 = 0x40) -> PlainCard {
        var card = card(profile: [0x01, 0x80], cid: cid)
        card.setOptions(DataObject(0x94, [0x08, 0x01, 0x02, 0x01]))
        card.records[[0x02, 0x0C]] = [
            DataObject(0x8F, [0x0F]), DataObject(0x90, [1]), DataObject(0x9F32, [3]), DataObject(0x9F46, [1]),
            DataObject(0x9F47, [3]), DataObject(0x5A, [0x35, 0x69, 0x99, 0x00, 0x10, 0x08, 0x22, 0x11]),
        ]
        card.cryptogram = card.cryptogram.filter { $0.tag != 0x9F26 } + [DataObject(0x9F4B, [1])]
        return card
    }

    private func value(_ run: Run, _ tag: CardBytes.Tag) -> String? {
        run.outcome.outcome.dataRecord?.value(of: tag).map { Hex.string($0) }
    }

    @Test func `a card without CDA goes online with its record`() throws {
        let run = try Self.card().run(Self.terminal(), .test(500))
        #expect(run.outcome.outcome.status == .onlineRequest)
        #expect(run.commands[2] == "80A800000683040272800000")
        #expect(run.commands.last == "80AE80000980000000001234567800")
        #expect(run.messages == ["15/02", "17/04", "1B/00"])
        #expect(value(run, 0x9F34) == "1F0002")
        #expect(value(run, 0x9F39) == "07")
        #expect(value(run, 0x95) == "8000000000")
    }

    @Test(arguments: [(4_999, "72"), (5_000, "F2")] as [(UInt64, String)])
    func `at the CVM limit the profile asks for a verification, but not for a refund`(
        amount: UInt64, first: String
    ) throws {
        let run = try Self.card(status: 0x20).run(Self.terminal(), .test(amount))
        #expect(run.commands[2] == "80A8000006830402\(first)800000")
        let refund = try Self.card().run(Self.terminal(), .test(amount, type: .refund))
        #expect(refund.commands[2] == "80A800000683040272800000")
    }

    @Test func `at the transaction limit the next application is tried`() throws {
        var configuration = Self.terminal(limits: EntryPointLimits(transactionLimit: 500))
        #expect(try Self.card().run(configuration, .test(500)).commands.isEmpty)
        #expect(try Self.card().run(configuration, .test(499)).outcome.outcome.status == .onlineRequest)
        // A terminal that starts at B leaves the limit to the kernel.
        configuration.combinations[0].limits.transactionLimit = 300
        var entryPoint = EntryPoint(
            configuration: configuration, transaction: .test(300), unpredictableNumbers: .fixed([1]), startingAt: .b)
        let run = try Run.drive(&entryPoint) { Self.card().answer($1) }
        #expect(run.commands.count == 2)
        #expect(run.outcome.outcome.error.l2 == .emptyCandidateList)
    }

    @Test(
        "the floor limit is reached at equality, and by everything that must go online",
        arguments: [
            (7_999, 0x22, 0x22, "8000000000"), (8_000, 0x22, 0x22, "8000008000"), (500, 0x21, 0x22, "8000008000"),
            (100, 0x22, 0x62, "8000008000"), (100, 0x22, 0x22, "8000000000"), (101, 0x22, 0x62, "8000000000"),
        ] as [(UInt64, UInt8, UInt8, String)])
    func floor(amount: UInt64, type: UInt8, options: UInt8, tvr: String) throws {
        let limits = EntryPointLimits(floorLimit: 8_000, statusCheck: true)
        let terminal = Self.terminal(DataObject(0xDF811B, [options]), limits: limits, type: type)
        #expect(value(try Self.card().run(terminal, .test(amount)), 0x95) == tvr)
    }

    @Test func `any status but 9000 of GET PROCESSING OPTIONS tries the next application`() throws {
        for status: StatusWord in [.conditionsNotSatisfied, .commandNotAllowed, 0x6200] {
            var card = Self.card()
            card.statuses[0xA8] = status
            let run = try card.run(Self.terminal(), .test(500))
            #expect(run.outcome.outcome.error.l2 == .emptyCandidateList)
            #expect(run.commands.count == 3)
        }
    }

    @Test func `an answer in the wrong format, without AFL or with an object twice tries the next application`() throws
    {
        var card = Self.card()
        let answers: [[UInt8]] = [
            [0x80, 0x06, 0x00, 0x80, 0x08, 0x01, 0x01, 0x00], [0x77, 0x04, 0x82, 0x02, 0x00, 0x80],
            [0x77, 0x06, 0x94, 0x04, 0x08, 0x01, 0x01, 0x00],
            [0x77, 0x0C, 0x82, 0x02, 0x00, 0x80, 0x94, 0x06, 0x08, 0x01, 0x01, 0x00, 0x08, 0x01],
            [0x77, 0x0E, 0x82, 0x02, 0x00, 0x80, 0x82, 0x02, 0x00, 0x80, 0x94, 0x04, 0x08, 0x01, 0x01, 0x00],
        ]
        for answer in answers {
            card.answers[0xA8] = answer
            let run = try card.run(Self.terminal(), .test(500))
            #expect(run.commands.count == 3)
            #expect(run.outcome.outcome.error.l2 == .emptyCandidateList)
        }
    }

    @Test(arguments: [0x8C, 0x57, 0x5F24] as [UInt32])
    func `a record without a mandatory object tries the next application`(tag: UInt32) throws {
        var card = Self.card()
        card.records[[0x01, 0x0C]]?.removeAll { $0.tag.rawValue == tag }
        let run = try card.run(Self.terminal(), .test(500))
        #expect(run.outcome.outcome.error.l2 == .emptyCandidateList)
        #expect(run.commands.count == 4)
    }

    @Test(
        "restrictions set their bits, versions are not compared",
        arguments: [
            (0x9F08, "0001", "8000000000"), (0x5F24, "200315", nil), (0x5F24, "200316", "8000000000"),
            (0x5F25, "200317", "8020000000"), (0x5F25, "200316", "8000000000"), (0x9F07, "0100", "8000000000"),
            (0x9F07, "0000", "8010000000"),
        ] as [(UInt32, String, String?)])
    func restrictions(tag: UInt32, value: String, tvr: String?) throws {
        var card = Self.card()
        let object = DataObject(CardBytes.Tag(tag), try Hex.bytes(value))
        card.records[[0x01, 0x0C]]?.removeAll { $0.tag == object.tag }
        card.records[[0x01, 0x0C]]?.append(object)
        let run = try card.run(Self.terminal(DataObject(0x9F09, [0x02, 0x00])), .test(500))
        // Expiry is denied by the action codes, before the card is asked.
        #expect(run.outcome.outcome.status == (tvr == nil ? .declined : .onlineRequest))
        #expect(self.value(run, 0x95) == tvr ?? "8040000000")
        #expect(run.commands.count == (tvr == nil ? 4 : 5))
    }

    @Test func `the issuer country is 9F57, or else 5F28`() throws {
        for (tag, country, tvr) in [
            (0x9F57, 0x40, "8000000000"), (0x5F28, 0x40, "8000000000"), (0x9F57, 0x26, "8010000000"),
        ] as [(UInt32, UInt8, String)] {
            var card = Self.card()
            card.records[[0x01, 0x0C]]? += [
                DataObject(0x9F07, [0x21, 0x00]), DataObject(CardBytes.Tag(tag), [0x08, country]),
            ]
            #expect(value(try card.run(Self.terminal(), .test(500)), 0x95) == tvr)
        }
    }

    @Test func `exception file and random selection count where the options have them`() throws {
        var kernels = KernelSet()
        let file = ExceptionFile { pan, sequence in pan.count == 16 && sequence == 0 }
        kernels.register(.jcb) { Kernel5(options: Kernel5Options(exceptionFile: file)) }
        var terminal = Self.terminal(DataObject(0xDF811B, [0x3A]))
        terminal.combinations[0].riskManagement.randomSelection = RandomSelection(
            floorLimit: 8_000, threshold: 0, targetPercentage: 99, maximumPercentage: 99)
        #expect(value(try Self.card().run(terminal, .test(500), kernels: kernels), 0x95) == "9000001000")
        terminal.combinations[0].kernelData[4] = DataObject(0xDF811B, [0x22])
        terminal.combinations[0].kernelData.removeAll { $0 == DataObject(0xDF811B, [0x3A]) }
        #expect(value(try Self.card().run(terminal, .test(500), kernels: kernels), 0x95) == "8000000000")
    }
}
