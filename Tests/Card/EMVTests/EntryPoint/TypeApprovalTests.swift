// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Synchronization
import Testing

@testable import EMV

/// The topics of the Entry Point's type approval, by their ids. Only ids and topics are public, so the cases are our own.
@Suite("Entry Point type-approval topics")
struct TypeApprovalTests {
    private func activations(_ bench: EntryPointBench) -> [KernelActivation] {
        bench.log.activations.withLock { $0.map { $0.activation } }
    }

    @Test(
        "2EA.001 to 2EA.003 and 2EA.006: amounts and terminal data reach the kernel for each transaction type",
        arguments: [
            (TransactionType.purchase, nil), (.purchaseWithCashback, 500), (.cash, nil), (.refund, nil),
        ] as [(TransactionType, UInt64?)])
    func amounts(type: TransactionType, otherAmount: UInt64?) throws {
        let bench = EntryPointBench()
        _ = try bench.run(.test(1_234, type: type, otherAmount: otherAmount))
        let activation = try #require(activations(bench).first)
        #expect(activation.transaction.amount == 1_234)
        #expect(activation.transaction.otherAmount == otherAmount)
        #expect(activation.transaction.type == type)
        #expect(activation.terminalData == EntryPointBench.terminalData)
    }

    @Test func `2EA.004: a new transaction does not carry the restart flag of the one before`() throws {
        let bench = EntryPointBench([Outcome(.tryAgain, start: .b), Outcome(.declined)])
        var entryPoint = bench.entryPoint()
        _ = try Run.drive(&entryPoint) { bench.card.answer($1) }
        _ = try Run.drive(&entryPoint) { bench.card.answer($1) }
        #expect(activations(bench).map { $0.isRestart } == [false, true, false])
    }

    @Test(arguments: [StartPoint.a, .b])
    func `2EA.005: a new transaction waits for a card with the field as it is and invites to present it`(
        start: StartPoint
    ) throws {
        var entryPoint = EntryPointBench().entryPoint(start: start)
        let step = entryPoint.start(now: TapInstant(nanoseconds: 0))
        #expect(step.signals == [UIRequest(.presentCard, .readyToRead)])
        guard case .activate(fieldOffMilliseconds: 0) = step.action else { throw EndlessRun() }
    }

    @Test func `2EA.007: the unpredictable number differs in every transaction`() throws {
        let bench = EntryPointBench()
        for _ in 0..<16 {
            var entryPoint = bench.entryPoint(numbers: .system)
            _ = try Run.drive(&entryPoint) { bench.card.answer($1) }
        }
        #expect(Set(bench.log.activations.withLock { $0.map { $0.unpredictableNumber } }).count == 16)
    }

    @Test func `2EA.010: once another interface is to be used no card is waited for any more`() throws {
        let elsewhere = Outcome(.tryAnotherInterface, alternateInterface: .contactChip)
        let run = try EntryPointBench([elsewhere]).run()
        #expect(run.fieldOff.count == 1)
        #expect(run.outcome.outcome.alternateInterface == .contactChip)
        #expect(!run.outcome.wantsRestart)
    }

    @Test func `2EA.011 to 2EA.013: hold time, language and balance of a kernel's message come through unchanged`()
        throws
    {
        let message = UIRequest(
            .approved, .cardReadSuccessfully, holdTime: 13, languagePreference: Array("deen".utf8),
            value: UIRequest.Value(qualifier: .balance, amount: [0, 0, 0, 0, 0x12, 0x34], currency: [0x09, 0x78]))
        let bench = EntryPointBench([Outcome(.approved, uiOnOutcome: message)])
        var entryPoint = bench.entryPoint()
        var shown: [UIRequest] = []
        let now = TapInstant(nanoseconds: 0)
        var step = entryPoint.start(now: now)
        for _ in 0..<4 {
            shown += step.signals
            switch step.action {
            case .activate: step = entryPoint.activated(CardActivation(), now: now)
            case .transmit(let command): step = entryPoint.received(bench.card.answer(command), now: now)
            case .finished: break
            }
        }
        #expect(shown.last == message)
        #expect(message.holdMilliseconds == 1_300)
    }

    @Test func `2EA.014: a restart with the issuer's answer hands it to the kernel`() throws {
        let bench = EntryPointBench([Outcome(.onlineRequest, start: .b, onlineResponseData: .emvData)])
        var entryPoint = bench.entryPoint()
        let first = try Run.drive(&entryPoint) { bench.card.answer($1) }
        let response = OnlineResponse(authorisationResponseCode: [0x30, 0x30], scripts: [0x72, 0x00])
        #expect(first.outcome.isRestartDue(after: response))
        entryPoint.provide(response)
        _ = try Run.drive(&entryPoint) { bench.card.answer($1) }
        #expect(activations(bench).map { $0.onlineResponse } == [nil, response])
    }

    @Test func `2EA.015: removal time-out and field-off time of the outcome come through`() throws {
        let outcome = Outcome(.onlineRequest, fieldOffRequest: 5, removalTimeout: 50)
        let result = try EntryPointBench([outcome]).run().outcome.outcome
        #expect(result.removalTimeout == 50)
        #expect(result.fieldOffRequest == 5)
    }

    @Test func `2EA.016: online response data any restarts after every answer, EMV data only after some for the card`()
    {
        let empty = OnlineResponse(authorisationResponseCode: [0x30, 0x35])
        for (wanted, due) in [(Outcome.OnlineResponseData.any, true), (.emvData, false)] {
            let final = FinalOutcome(outcome: Outcome(.onlineRequest, start: .b, onlineResponseData: wanted))
            #expect(final.isRestartDue(after: empty) == due)
        }
    }

    @Test func `2EA.017: reserved bits of priority and TTQ are ignored and passed on`() throws {
        var bench = EntryPointBench()
        bench.card.answers["00A404000E325041592E5359532E444446303100"] =
            Hex.string(
                DirectoryTests.ppse([
                    [DataObject(0x4F, EntryPointBench.first), DataObject(0x87, [0x72])],
                    [DataObject(0x4F, EntryPointBench.second), DataObject(0x87, [0x01])],
                ])) + "9000"
        bench.combinations[1].limits.ttq = TTQ(rawValue: 0x603F_3F7F)
        _ = try bench.run()
        let activation = try #require(activations(bench).first)
        #expect(activation.application.adfName == EntryPointBench.second)
        #expect(activation.indicators.ttq?.rawValue == 0x603F_3F7F)
    }

    @Test func `2EA.018: a data record without any object is tolerated`() throws {
        let bench = EntryPointBench([Outcome(.onlineRequest, dataRecord: [], discretionaryData: [])])
        let outcome = try bench.run().outcome.outcome
        #expect(outcome.dataRecord == [])
        #expect(outcome.parameterSet[4] == 0x30)
    }

    @Test(arguments: [true, false]) func `2EA.019: the receipt is asked for as the kernel asks`(receipt: Bool) throws {
        let outcome = try EntryPointBench([Outcome(.approved, receipt: receipt)]).run().outcome.outcome
        #expect(outcome.receipt == receipt)
        #expect(outcome.parameterSet[4] & 0x08 == (receipt ? 0x08 : 0x00))
    }

    @Test(
        "2EA.020 and 2EA.021: padding between objects and their order mean nothing",
        arguments: [
            "61 0C 4F06A00000099901 9F2A0120", "61 0C 9F2A0120 4F06A00000099901",
            "61 10 0000 4F06A00000099901 0000 9F2A0120", "00 61 0C 9F2A0120 4F06A00000099901 00",
        ])
    func paddingAndOrder(entry: String) throws {
        let inner = try Hex.bytes(entry.replacing(" ", with: ""))
        var writer = TLVWriter()
        writer.append(0x6F) { fci in
            fci.append(0xA5) { $0.append(0xBF0C) { $0.append(encoded: inner) } }
            fci.append(0x84, Array("2PAY.SYS.DDF01".utf8))
        }
        var bench = EntryPointBench()
        bench.card.answers["00A404000E325041592E5359532E444446303100"] = Hex.string(writer.bytes) + "9000"
        #expect(try bench.run().outcome.application?.adfName == EntryPointBench.first)
    }

    @Test func `2EB.001: the indicators of a transaction do not reach the next one`() throws {
        var bench = EntryPointBench()
        bench.combinations[0].limits = EntryPointLimits(
            cvmRequiredLimit: 500, floorLimit: 500, ttq: TTQ(rawValue: 0x2200_4000))
        for amount: UInt64 in [1_000, 100] {
            var entryPoint = bench.entryPoint(.test(amount))
            _ = try Run.drive(&entryPoint) { bench.card.answer($1) }
        }
        #expect(activations(bench).map { $0.indicators.cvmLimitExceeded } == [true, false])
        #expect(activations(bench).map { $0.indicators.ttq?.rawValue } == [0x22C0_4000, 0x2200_4000])
    }

    @Test func `2EB.002: every combination has its own copy of the TTQ`() throws {
        var bench = EntryPointBench([Outcome(.selectNext, start: .c)])
        for (index, floor) in [(0, UInt64(0)), (1, 9_999)] {
            bench.combinations[index].limits = EntryPointLimits(floorLimit: floor, ttq: TTQ(rawValue: 0x2200_4000))
        }
        _ = try bench.run()
        #expect(activations(bench).map { $0.indicators.ttq?.rawValue } == [0x2280_4000, 0x2200_4000])
    }

    @Test(
        "2EB.003 to 2EB.006: a status check is made for the transaction types that have the flag",
        arguments: [(TransactionType.purchase, true), (.refund, false)])
    func statusCheck(type: TransactionType, requested: Bool) throws {
        var bench = EntryPointBench()
        bench.combinations = [(TransactionType.purchase, true), (.refund, false)].map { type, flag in
            Combination(
                aid: EntryPointBench.first, kernel: EntryPointBench.kernel, transactionTypes: [type],
                limits: EntryPointLimits(statusCheck: flag))
        }
        _ = try bench.run(.test(100, type: type))
        #expect(activations(bench).first?.indicators.statusCheckRequested == requested)
    }

    @Test(
        "2EB.007 to 2EB.022: amounts against limits decide whether a card is waited for at all",
        arguments: [
            (EntryPointLimits(zeroAmountAllowed: false), 0, true),
            (EntryPointLimits(zeroAmountAllowed: true), 0, false),
            (EntryPointLimits(), 0, false), (EntryPointLimits(transactionLimit: 1_000), 1_000, true),
            (EntryPointLimits(transactionLimit: 1_000), 999, false), (EntryPointLimits(), 999_999_999_999, false),
            (EntryPointLimits(ttq: TTQ(rawValue: 0x2800_4000)), 0, true),
            (EntryPointLimits(ttq: TTQ(rawValue: 0x2000_4000)), 0, false),
            (EntryPointLimits(cvmRequiredLimit: 0, floorLimit: 0, terminalFloorLimit: 0), 1, false),
        ] as [(EntryPointLimits, UInt64, Bool)])
    func allowed(limits: EntryPointLimits, amount: UInt64, refused: Bool) throws {
        var bench = EntryPointBench()
        for index in bench.combinations.indices { bench.combinations[index].limits = limits }
        let run = try bench.run(.test(amount))
        #expect(run.outcome.outcome.status == (refused ? .tryAnotherInterface : .approved))
        #expect(run.messages == (refused ? ["18/05"] : ["15/02"]))
    }

    /// As large as the terminal of the type approval: more than 50 combinations, among them domestic kernels and a
    /// partial AID.
    @Test(
        "a terminal of many combinations finds the one that the card's entry asks for",
        arguments: [
            ("A0000009990101", "21", 0x21), ("A0000009990101", "25", 0x25), ("A0000009990101", "32", 0x32),
            ("A0000009990101", "810978", 0x81_0978), ("A0000009990101", "BF0840", 0xBF_0840),
            ("A0000009990101", "C11111", 0xC1_1111), ("A0000009990101", "FF2222", 0xFF_2222),
            ("B000000001010177", "26", 0x26), ("B0000000010101", "26", 0x26),
        ] as [(String, String, UInt32)])
    func manyCombinations(name: String, identifier: String, kernel: UInt32) throws {
        var bench = EntryPointBench()
        let aid: [UInt8] = [0xA0, 0x00, 0x00, 0x09, 0x99, 0x01, 0x01]
        let identifiers: [UInt32] = [0x21, 0x22, 0x23, 0x24, 0x25, 0x32, 0x81_0978, 0xBF_0840, 0xC1_1111, 0xFF_2222]
        let others = (0..<42).map { Combination(aid: aid + [$0], kernel: KernelIdentifier(rawValue: 0x30)) }
        bench.combinations =
            others + identifiers.map { Combination(aid: aid, kernel: KernelIdentifier(rawValue: $0)) } + [
                Combination(
                    aid: [0xB0, 0x00, 0x00, 0x00, 0x01, 0x01, 0x01], kernel: KernelIdentifier(rawValue: 0x26))
            ]
        let adfName = try Hex.bytes(name)
        let entry = [DataObject(0x4F, adfName), DataObject(0x9F2A, try Hex.bytes(identifier))]
        bench.card.answers["00A404000E325041592E5359532E444446303100"] =
            Hex.string(DirectoryTests.ppse([entry])) + "9000"
        let fci = [DataObject(0x6F, [DataObject(0x84, adfName)].encoded)].encoded
        bench.select(adfName, Hex.string(fci) + "9000")
        let application = try #require(try bench.run().outcome.application)
        #expect(application.kernel.rawValue == kernel)
        #expect(application.adfName == adfName)
    }
}
