// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

@testable import EMV

/// Entry Point against other readings of Book B (Tests/Vectors/emv/second-reading.jsonl).
@Suite("Second reading: Entry Point")
struct SecondReadingEntryPointTests {
    private static let aid: [UInt8] = [0xA0, 0x00, 0x00, 0x00, 0x04, 0x10, 0x10]

    /// A PPSE of one entry, with what BF0C holds besides.
    static func directory(_ entry: [DataObject], besides: [DataObject] = []) -> [UInt8] {
        let issuer = DataObject(0xBF0C, ([DataObject(0x61, entry.encoded)] + besides).encoded)
        let proprietary = DataObject(0xA5, [issuer].encoded)
        return [DataObject(0x6F, [DataObject(0x84, Array("2PAY.SYS.DDF01".utf8)), proprietary].encoded)].encoded
    }

    /// A kernel that ends with the outcomes it was given.
    private struct PlannedKernel: Kernel {
        final class Plan: Sendable {
            let outcomes: [Outcome]
            init(_ outcomes: [Outcome]) { self.outcomes = outcomes }
        }

        let plan: Plan

        mutating func start(_ activation: KernelActivation, now: TapInstant) -> KernelStep {
            KernelStep(.finished(plan.outcomes[activation.isRestart ? 1 : 0]))
        }
        mutating func received(_ response: ResponseAPDU, now: TapInstant) -> KernelStep {
            KernelStep(.finished(Outcome(.endApplication)))
        }
        mutating func cardLost(now: TapInstant) -> KernelStep { KernelStep(.finished(Outcome(.endApplication))) }
        mutating func stop(now: TapInstant) -> Outcome { Outcome(.endApplication) }
    }

    private func entryPoint(
        _ outcomes: [Outcome] = [Outcome(.approved)], configure: (inout TerminalConfiguration) -> Void = { _ in }
    ) -> EntryPoint {
        var kernels = KernelSet()
        let plan = PlannedKernel.Plan(outcomes)
        kernels.register(.mastercard) { PlannedKernel(plan: plan) }
        var configuration = TerminalConfiguration(
            terminalData: [], combinations: [Combination(aid: Self.aid, kernel: .mastercard)])
        configure(&configuration)
        return EntryPoint(
            configuration: configuration,
            transaction: Transaction(
                amount: 1_000, currency: 978, exponent: 2, country: 250, date: EMVDate(year: 2026, month: 6, day: 1),
                time: EMVTime(hour: 1, minute: 2, second: 3), sequenceCounter: 1),
            unpredictableNumbers: .fixed([1]), kernels: kernels)
    }

    /// What happens until the end, or until `answers` are used up.
    private func run(_ machine: inout EntryPoint, _ answers: [String]) throws -> (
        commands: [String], signals: [UIRequest], outcome: FinalOutcome?
    ) {
        var commands: [String] = []
        var signals: [UIRequest] = []
        var rest = answers[...]
        let now = TapInstant(nanoseconds: 0)
        var step = machine.start(now: now)
        while true {
            signals += step.signals
            switch step.action {
            case .finished(let outcome): return (commands, signals, outcome)
            case .activate: step = machine.activated(CardActivation(), now: now)
            case .transmit(let command):
                commands.append(Hex.string(command.bytes))
                guard let answer = rest.popFirst() else { return (commands, signals, nil) }
                step = machine.received(try ResponseAPDU(Hex.bytes(answer)), now: now)
            }
        }
    }

    private static let fci = "6F098407A00000000410109000"

    private func directoryAnswer(_ besides: [DataObject] = []) -> String {
        Hex.string(Self.directory([DataObject(0x4F, Self.aid)], besides: besides)) + "9000"
    }

    @Test func `the Requested Kernel ID follows from 9F2A`() throws {
        for line in try SecondReading.lines("ep_requested_kernel") where SecondReading.isFollowed(line) {
            let aid = try line.bytes("aid")
            var objects = [DataObject(0x4F, aid)]
            if let value = try line.optionalBytes("value_9F2A") { objects.append(DataObject(0x9F2A, value)) }
            let entry = try #require(PPSEEntry.entries(ofPPSE: Self.directory(objects)).first, "\(line.id)")
            let requested = entry.requestedKernel(matching: aid, .v2_12)
            switch try line.text("expect") {
            case "default by RID": #expect(requested == .kernel(.mastercard), "\(line.id)")
            case let text where text.contains("any kernel"): #expect(requested == .any, "\(line.id)")
            case let text where text.contains("skip"): #expect(requested == RequestedKernel.none, "\(line.id)")
            case let text:
                let number = try #require(UInt32(text, radix: 16), "\(line.id)")
                #expect(requested == .kernel(KernelIdentifier(rawValue: number)), "\(line.id)")
            }
        }
    }

    @Test func `one byte 00 asks for the default of the RID, and for any kernel by the older book`() {
        var entry = PPSEEntry(adfName: Self.aid)
        entry.kernelIdentifier = [0x00]
        #expect(entry.requestedKernel(matching: Self.aid, .v2_12) == .kernel(.mastercard))
        #expect(entry.requestedKernel(matching: Self.aid, .v2_5) == .any)
        entry.kernelIdentifier = [0x00, 0x00]
        #expect(EntryPointVersion.allCases.allSatisfy { entry.requestedKernel(matching: Self.aid, $0) == .any })
    }

    @Test func `Kernel Identifier - Terminal has eight bytes, and every list can ask for it`() throws {
        for line in try SecondReading.lines("ep_tag_96") where SecondReading.isFollowed(line) {
            let kernel = KernelIdentifier(
                rawValue: try #require(UInt32(line.text("kernel_of_combination"), radix: 16)))
            let value = kernel.terminalValue(
                requested: try line.optionalBytes("value_9F2A") ?? [],
                KernelIdentifier.TerminalFlags(rawValue: try #require(line.bytes("byte4").first)))
            #expect(Hex.string(value) == (try line.text("expect")), "\(line.id)")
        }
        var machine = EntryPoint(
            configuration: TerminalConfiguration(
                terminalData: [DataObject(0x9F35, [0x22])],
                combinations: [Combination(aid: Self.aid, kernel: .mastercard)]),
            transaction: Transaction(
                amount: 1, currency: 978, exponent: 2, country: 250, date: EMVDate(year: 2026, month: 6, day: 1),
                time: EMVTime(hour: 1, minute: 2, second: 3), sequenceCounter: 1),
            unpredictableNumbers: .fixed([1]))
        let asked = try run(
            &machine, [directoryAnswer(), "6F108407A0000000041010A5059F380296089000"])
        #expect(asked.commands.last == "80A800000A8308" + "0200000000000000" + "00")
    }

    @Test func `terminal data go to a card that asks for them before it names its applications`() throws {
        for line in try SecondReading.lines("ep_spi") where SecondReading.isFollowed(line) {
            if let data = try line.optionalBytes("data") {
                let command = try #require(POIInformation.command(data: data))
                #expect(Hex.string(command.bytes) == (try line.text("expect")), "\(line.id)")
                continue
            }
            let categories = DataObject(0x9F3E, try line.optionalBytes("ppse_9F3E") ?? [0x00, 0x01])
            let list = DataObject(0x9F3F, try line.optionalBytes("ppse_9F3F") ?? [0x9F, 0x1A, 0x02])
            let isAnswer = line["response"] != nil
            let besides = [categories, list].filter { object in
                isAnswer || line[object.tag == 0x9F3E ? "ppse_9F3E" : "ppse_9F3F"] as? String != "absent"
            }
            var machine = entryPoint { $0.terminalCategory = [0x00, 0x01] }
            let taken = try run(
                &machine, [directoryAnswer(besides), directoryAnswer(isAnswer ? besides : []), Self.fci])
            let expected = try line.text("expect")
            if isAnswer {
                #expect(taken.commands.filter { $0.hasPrefix("801A") }.count == 1, "\(line.id)")
                #expect(taken.outcome?.outcome.status == .approved)
            } else if expected.hasPrefix("not sent") {
                #expect(taken.commands[1].hasPrefix("00A404"), "\(line.id)")
            } else {
                #expect(taken.commands[1] == expected, "\(line.id)")
                #expect(taken.commands[2].hasPrefix("00A40400"), "\(line.id)")
            }
            var silent = entryPoint()
            #expect(try run(&silent, [directoryAnswer(besides)]).commands[1].hasPrefix("00A404"), "\(line.id)")
        }
    }

    @Test func `a card that refuses the terminal's data ends the application`() throws {
        for answer in ["6D00", "9000"] {
            var machine = entryPoint { $0.terminalCategory = [0x00, 0x01] }
            let refused = try run(&machine, [directoryAnswer([DataObject(0x9F3E, [0x00, 0x01])]), answer])
            #expect(refused.outcome?.outcome.status == .endApplication)
            #expect(refused.signals.last?.message == .insertSwipeOrTryAnotherCard)
        }
    }

    @Test func `an application that is refused or another one leads to the next candidate`() throws {
        for line in try SecondReading.lines("ep_select") where SecondReading.isFollowed(line) {
            if let name = try line.optionalBytes("adf") {
                let entry = [DataObject(0x4F, name), DataObject(0x9F29, try line.bytes("value_9F29"))]
                var machine = entryPoint { $0.combinations[0].aid = name }
                let answer = Hex.string(Self.directory(entry + [DataObject(0x9F2A, [0x02])])) + "9000"
                #expect(try run(&machine, [answer]).commands.last == (try line.text("expect")), "\(line.id)")
                continue
            }
            let answer: String
            switch try line.text("sw") {
            case "9000, FCI without 84": answer = "6F00" + "9000"
            case "9000, 84 differs from the ADF name": answer = "6F098407A00000000430609000"
            case let status: answer = status
            }
            var machine = entryPoint()
            let outcome = try run(&machine, [directoryAnswer(), answer]).outcome?.outcome
            #expect(outcome?.error.l2 == .emptyCandidateList, "\(line.id)")
        }
    }

    @Test func `what is shown at a restart is shown whatever the start`() throws {
        for line in try SecondReading.lines("ep_restart_ui") where SecondReading.isFollowed(line) {
            let starts: [String: StartPoint] = ["A": .a, "B": .b, "C": .c, "D": .d]
            let start = try #require(starts[line.text("start")])
            let request = (line["ui_on_restart"] as? [String: Any]).map { _ in UIRequest(.seePhone, .readyToRead) }
            var machine = entryPoint([
                Outcome(.endApplication, start: start, uiOnRestart: request), Outcome(.approved),
            ])
            _ = try run(&machine, [directoryAnswer(), Self.fci])
            let answers = start == .d ? [] : start == .c ? [Self.fci] : [directoryAnswer(), Self.fci]
            let again = try run(&machine, answers)
            #expect(again.signals.first == request ?? UIRequest(.presentCard, .readyToRead), "\(line.id)")
            #expect(again.outcome?.outcome.status == .approved, "\(line.id)")
        }
    }

    @Test(arguments: [StartPoint.c, .d])
    func `Try Again with a later start shows its message too`(start: StartPoint) throws {
        var machine = entryPoint([
            Outcome(.tryAgain, start: start, uiOnRestart: UIRequest(.seePhone, .readyToRead)), Outcome(.approved),
        ])
        let taken = try run(&machine, [directoryAnswer(), Self.fci, Self.fci])
        #expect(taken.signals == [UIRequest(.presentCard, .readyToRead), UIRequest(.seePhone, .readyToRead)])
        #expect(taken.outcome?.outcome.status == .approved)
    }

    @Test func `an amount of zero is taken as the configuration says`() throws {
        for line in try SecondReading.lines("ep_zero_amount") where SecondReading.isFollowed(line) {
            func flag(_ name: String) -> Bool? { (line[name] as? Int).map { $0 == 1 } }
            let limits = EntryPointLimits(
                zeroAmountAllowed: flag("zero_amount_allowed"),
                zeroAmountForOfflineAllowed: flag("zero_amount_for_offline_allowed"),
                ttq: TTQ(try line.bytes("ttq")))
            var transaction = try ScriptTerminal([:]).transaction
            transaction.amount = UInt64(try line.number("amount"))
            let indicators = PreProcessing.indicators(limits, transaction)
            let expected = try line.text("expect")
            #expect(indicators.contactlessNotAllowed == expected.hasPrefix("notAllowed"), "\(line.id)")
            if let match = expected.firstMatch(of: /TTQ ([0-9A-F]{8})/) {
                #expect(Hex.string(try #require(indicators.ttq).bytes) == match.1, "\(line.id)")
            }
            #expect(indicators.zeroAmount == expected.hasPrefix("zeroAmount") || expected.hasPrefix("notAllowed"))
        }
    }

    @Test func `a start at B takes the qualifiers as the edition of the book has it`() throws {
        for line in try SecondReading.lines("ep_start_b_ttq") where SecondReading.isFollowed(line) {
            let limits = EntryPointLimits(ttq: TTQ(try line.bytes("ttq")))
            let expected = try line.text("expect")
            for version in EntryPointVersion.allCases {
                let ttq = try #require(PreProcessing.untouched(limits, version).ttq)
                #expect(expected.contains("v\(version.rawValue): \(Hex.string(ttq.bytes))"), "\(line.id)")
            }
        }
    }

    @Test func `a restart at A reads the directory again, with the issuer's answer at hand`() throws {
        var machine = entryPoint([Outcome(.onlineRequest, start: .a), Outcome(.endApplication)])
        _ = try run(&machine, [directoryAnswer(), Self.fci])
        machine.provide(OnlineResponse(authorisationResponseCode: [0x30, 0x30], issuerAuthenticationData: [1, 2]))
        let again = try run(&machine, [directoryAnswer(), Self.fci])
        #expect(again.commands.first == "00A404000E325041592E5359532E444446303100")
        #expect(again.commands.count == 2)
    }

    @Test func `the end of a collision is told when the field is empty`() throws {
        var machine = entryPoint()
        let now = TapInstant(nanoseconds: 0)
        _ = machine.start(now: now)
        #expect(machine.fieldEmptied(now: now).signals.isEmpty)
        #expect(machine.collided(now: now).signals == [UIRequest(.presentOneCardOnly, .processingError)])
        #expect(machine.fieldEmptied(now: now).signals == [UIRequest(.presentOneCardOnly, .readyToRead)])
        #expect(machine.fieldEmptied(now: now).signals.isEmpty)
        #expect(machine.activated(CardActivation(), now: now).signals.isEmpty)
    }
}
