// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Synchronization
import TestSupport
import Testing

@testable import EMV

@Suite("Entry Point")
struct EntryPointTests {
    @Test func `an outside kernel gets application, indicators and a fresh number`() throws {
        var bench = EntryPointBench()
        bench.combinations[0].limits = EntryPointLimits(floorLimit: 500, ttq: TTQ(rawValue: 0x2200_4000))
        let run = try bench.run()
        #expect(run.outcome.outcome.status == .approved)
        #expect(run.outcome.application?.adfName == EntryPointBench.first)
        #expect(run.messages == ["15/02"])
        let activations = bench.log.activations.withLock { $0 }
        #expect(activations.count == 1)
        #expect(activations[0].activation.indicators.floorLimitExceeded)
        #expect(activations[0].activation.indicators.ttq?.rawValue == 0x2280_4000)
        #expect(activations[0].activation.isRestart == false)
        #expect(activations[0].unpredictableNumber == 1)
    }

    @Test func `where no combination is allowed another interface is offered without waiting for a card`() throws {
        var bench = EntryPointBench()
        for index in bench.combinations.indices { bench.combinations[index].limits.transactionLimit = 1_000 }
        let run = try bench.run()
        #expect(run.outcome.outcome.status == .tryAnotherInterface)
        #expect(run.messages == ["18/05"])
        #expect(run.fieldOff.isEmpty)
        #expect(run.outcome.application == nil)
    }

    @Test func `a combination over its limit is no candidate`() throws {
        var bench = EntryPointBench()
        bench.combinations[0].limits.transactionLimit = 1_000
        #expect(try bench.run().outcome.application?.adfName == EntryPointBench.second)
    }

    @Test func `a combination for other transaction types is no candidate`() throws {
        var bench = EntryPointBench()
        bench.combinations[0].transactionTypes = [.refund]
        #expect(try bench.run().outcome.application?.adfName == EntryPointBench.second)
        #expect(try bench.run(.test(1_000, type: .refund)).outcome.application?.adfName == EntryPointBench.first)
    }

    @Test(arguments: ["6A82", "6A81", "6283", "6F00"])
    func `any other status of the directory leaves no candidates`(status: String) throws {
        var bench = EntryPointBench()
        bench.card.answers["00A404000E325041592E5359532E444446303100"] = status
        let run = try bench.run()
        #expect(run.outcome.outcome.status == .endApplication)
        #expect(run.outcome.outcome.error.l2 == .emptyCandidateList)
        #expect(run.messages == ["15/02", "1C/02"])
        #expect(run.commands.count == 1)
    }

    @Test(arguments: ["6A82", "6283", "6A81", "6D00", "6985"])
    func `an application that refuses selection gives way to the next`(status: String) throws {
        var bench = EntryPointBench()
        bench.select(EntryPointBench.first, status)
        #expect(try bench.run().outcome.application?.adfName == EntryPointBench.second)
    }

    @Test func `after the last candidate the application ends`() throws {
        var bench = EntryPointBench()
        bench.select(EntryPointBench.first, "6A82")
        bench.select(EntryPointBench.second, "6283")
        let run = try bench.run()
        #expect(run.outcome.outcome.status == .endApplication)
        #expect(run.messages == ["15/02", "1C/02"])
        #expect(run.commands.count == 3)
    }

    @Test func `Select Next goes on with the next application and its own number`() throws {
        let bench = EntryPointBench([Outcome(.selectNext, start: .c), Outcome(.declined)])
        let run = try bench.run()
        #expect(run.outcome.outcome.status == .declined)
        #expect(run.outcome.application?.adfName == EntryPointBench.second)
        #expect(bench.log.activations.withLock { $0.map { $0.unpredictableNumber } } == [1, 2])
        #expect(run.fieldOff == [0])
    }

    @Test func `Try Again switches the field off, shows the restart message and sets the restart flag`() throws {
        let again = Outcome(
            .tryAgain, start: .b, uiOnOutcome: UIRequest(.seePhone, .processingError, holdTime: 13),
            uiOnRestart: UIRequest(.presentCardAgain, .readyToRead), fieldOffRequest: 13)
        let bench = EntryPointBench([again])
        let run = try bench.run()
        #expect(run.outcome.outcome.status == .approved)
        #expect(run.fieldOff == [0, 1_300])
        #expect(run.messages == ["15/02", "20/05", "21/02"])
        let activations = bench.log.activations.withLock { $0 }
        #expect(activations.map { $0.activation.isRestart } == [false, true])
        #expect(activations.map { $0.unpredictableNumber } == [1, 2])
    }

    @Test func `Try Again without a restart message invites as at first`() throws {
        let bench = EntryPointBench([Outcome(.tryAgain, start: .b)])
        #expect(try bench.run().messages == ["15/02", "15/02"])
    }

    @Test(arguments: [Outcome.Status.approved, .declined, .onlineRequest, .tryAnotherInterface, .endApplication])
    func `other outcomes are final and their message is shown`(status: Outcome.Status) throws {
        let outcome = Outcome(status, uiOnOutcome: UIRequest(.processingError, .processingError), removalTimeout: 7)
        let run = try EntryPointBench([outcome]).run()
        #expect(run.outcome.outcome == outcome)
        #expect(run.messages == ["15/02", "0F/05"])
        #expect(!run.outcome.wantsRestart)
    }

    @Test func `an online request with a restart comes back to the same application with the issuer's answer`() throws {
        let online = Outcome(
            .onlineRequest, start: .b, onlineResponseData: .emvData,
            uiOnRestart: UIRequest(.presentCardAgain, .readyToRead), fieldOffRequest: 0)
        let bench = EntryPointBench([online, Outcome(.endApplication)])
        var entryPoint = bench.entryPoint()
        let first = try Run.drive(&entryPoint) { bench.card.answer($1) }
        #expect(first.outcome.wantsRestart)
        entryPoint.provide(OnlineResponse(authorisationResponseCode: [0x30, 0x30], issuerAuthenticationData: [1, 2]))
        let second = try Run.drive(&entryPoint) { bench.card.answer($1) }
        #expect(second.messages == ["21/02"])
        #expect(second.commands == [EntryPointBench.command(EntryPointBench.first)])
        #expect(second.outcome.outcome.status == .endApplication)
        let last = try #require(bench.log.activations.withLock { $0.last })
        #expect(last.activation.isRestart)
        #expect(last.activation.onlineResponse?.issuerAuthenticationData == [1, 2])
    }

    @Test func `the issuer's answer decides whether a restart is due`() {
        let empty = OnlineResponse(authorisationResponseCode: [0x30, 0x30])
        let data = OnlineResponse(authorisationResponseCode: [0x30, 0x30], issuerAuthenticationData: [1])
        func due(_ start: StartPoint?, _ wanted: Outcome.OnlineResponseData?) -> [Bool] {
            let final = FinalOutcome(outcome: Outcome(.onlineRequest, start: start, onlineResponseData: wanted))
            return [nil, empty, data].map { final.isRestartDue(after: $0) }
        }
        #expect(due(nil, .any) == [false, false, false])
        #expect(due(.b, .emvData) == [false, false, true])
        #expect(due(.b, .any) == [false, true, true])
        #expect(due(.b, nil) == [true, true, true])
    }

    @Test func `an application that refuses selection with issuer data pending ends the transaction`() throws {
        var bench = EntryPointBench([Outcome(.onlineRequest, start: .b)])
        var entryPoint = bench.entryPoint()
        _ = try Run.drive(&entryPoint) { bench.card.answer($1) }
        entryPoint.provide(OnlineResponse(authorisationResponseCode: [0x30, 0x30], scripts: [0x71, 0x00]))
        bench.select(EntryPointBench.first, "6A82")
        let run = try Run.drive(&entryPoint) { bench.card.answer($1) }
        #expect(run.outcome.outcome.status == .endApplication)
        #expect(run.messages == ["15/02", "1C/02"])
    }

    @Test func `a kernel that ends with a start at B is run again by the next start`() throws {
        let secondTap = Outcome(
            .endApplication, start: .b, uiOnOutcome: UIRequest(.seePhone, .notReady, holdTime: 13),
            uiOnRestart: UIRequest(.seePhone, .readyToRead), fieldOffRequest: 2)
        let bench = EntryPointBench([secondTap, Outcome(.onlineRequest)])
        var entryPoint = bench.entryPoint()
        let first = try Run.drive(&entryPoint) { bench.card.answer($1) }
        #expect(first.outcome.outcome == secondTap)
        let second = try Run.drive(&entryPoint) { bench.card.answer($1) }
        #expect(second.messages == ["20/02"])
        #expect(second.fieldOff == [200])
        #expect(second.outcome.outcome.status == .onlineRequest)
    }

    @Test func `a start at B skips pre-processing and takes the configured TTQ`() throws {
        var bench = EntryPointBench()
        bench.combinations[0].limits = EntryPointLimits(
            transactionLimit: 1, floorLimit: 0, ttq: TTQ(rawValue: 0x2240_4000))
        let run = try bench.run(start: .b)
        #expect(run.outcome.application?.adfName == EntryPointBench.first)
        let activation = try #require(bench.log.activations.withLock { $0.first }).activation
        #expect(activation.indicators.ttq?.rawValue == 0x2200_4000)
        #expect(!activation.indicators.floorLimitExceeded)
    }

    @Test func `two cards are announced once, and their parting too`() throws {
        let bench = EntryPointBench()
        var entryPoint = bench.entryPoint()
        let now = TapInstant(nanoseconds: 0)
        _ = entryPoint.start(now: now)
        #expect(entryPoint.collided(now: now).signals.map { Run.text($0) } == ["19/05"])
        #expect(entryPoint.collided(now: now).signals.isEmpty)
        let step = entryPoint.activated(CardActivation(), now: now)
        #expect(step.signals.map { Run.text($0) } == ["19/02"])
        guard case .transmit(let command) = step.action else { throw EndlessRun() }
        #expect(Hex.string(command.bytes) == "00A404000E325041592E5359532E444446303100")
    }

    @Test(arguments: [0, 1])
    func `a card lost before the kernel starts is waited for again`(lostAt: Int) throws {
        let bench = EntryPointBench()
        var entryPoint = bench.entryPoint()
        let run = try Run.drive(&entryPoint) { number, command in
            number == lostAt ? nil : bench.card.answer(command)
        }
        #expect(run.outcome.outcome.status == .approved)
        #expect(run.messages == ["15/02", "15/02"])
        #expect(bench.log.activations.withLock { $0.map { $0.activation.isRestart } } == [false])
    }

    @Test func `a stop before the kernel starts ends the application`() {
        let bench = EntryPointBench()
        var entryPoint = bench.entryPoint()
        let now = TapInstant(nanoseconds: 0)
        _ = entryPoint.start(now: now)
        let outcome = entryPoint.stop(now: now)
        #expect(outcome.outcome.status == .endApplication)
        #expect(outcome.outcome.error.l3 == .stop)
    }

    @Test func `an input out of order ends the machine instead of trapping`() throws {
        let bench = EntryPointBench()
        let now = TapInstant(nanoseconds: 0)
        var early = bench.entryPoint()
        guard case .finished(let outcome) = early.received(ResponseAPDU(status: .success), now: now).action else {
            throw EndlessRun()
        }
        #expect(outcome.outcome.error.l1 == .protocolError)
        var twice = bench.entryPoint()
        _ = twice.start(now: now)
        _ = twice.activated(CardActivation(), now: now)
        guard case .finished = twice.activated(CardActivation(), now: now).action else { throw EndlessRun() }
        guard case .finished = twice.cardLost(now: now).action else { throw EndlessRun() }
    }

    @Test func `a Visa application without 9F66 in its PDOL goes to kernel 1 or is left out`() throws {
        for (pdol, expected) in [("", nil), ("9F38039F3704", nil), ("9F38039F6604", KernelIdentifier.visa)] {
            for hasLegacy in [false, true] {
                let log = OutsideKernel.Log([])
                var kernels = KernelSet()
                kernels.register(.visa) { OutsideKernel(log: log) }
                if hasLegacy { kernels.register(.legacy) { OutsideKernel(log: log) } }
                let fields = try Hex.bytes(pdol)
                var fci = TLVWriter()
                fci.append(0x6F) { inner in
                    inner.append(0x84, AID.visa)
                    inner.append(0xA5) { $0.append(encoded: fields) }
                }
                let card = ScriptedCard([
                    "00A404000E325041592E5359532E444446303100":
                        Hex.string(DirectoryTests.ppse([[DataObject(0x4F, AID.visa)]])) + "9000",
                    "00A4040007A000000003101000": Hex.string(fci.bytes) + "9000",
                ])
                var entryPoint = EntryPoint(
                    configuration: Terminals.visa(), transaction: .test(1_000), unpredictableNumbers: .fixed([1]),
                    kernels: kernels)
                let run = try Run.drive(&entryPoint) { card.answer($1) }
                let kernel = expected ?? (hasLegacy ? .legacy : nil)
                #expect(run.outcome.application?.kernel == kernel)
                #expect(run.outcome.outcome.status == (kernel == nil ? .endApplication : .approved))
            }
        }
    }

    @Test func `numbers never repeat after a fixed list ends`() {
        var numbers = UnpredictableNumbers.fixed([7])
        #expect([numbers.next(), numbers.next(), numbers.next()] == [7, 8, 9])
    }
}
