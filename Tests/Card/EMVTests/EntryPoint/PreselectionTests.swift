// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Synchronization
import Testing

@testable import EMV

@Suite("Preselected application")
struct PreselectionTests {
    private static let fci: [UInt8] = [0x6F, 0x08, 0x84, 0x06] + EntryPointBench.first

    private func entryPoint(
        _ bench: EntryPointBench, _ name: [UInt8] = EntryPointBench.first,
        kernel: KernelIdentifier = EntryPointBench.kernel, status: StatusWord = .success, amount: UInt64 = 1_000
    ) -> EntryPoint {
        var kernels = KernelSet()
        let log = bench.log
        kernels.register(EntryPointBench.kernel) { OutsideKernel(log: log) }
        return EntryPoint(
            configuration: TerminalConfiguration(terminalData: [], combinations: bench.combinations),
            transaction: .test(amount), unpredictableNumbers: .fixed([1]), kernels: kernels, startingAt: .d,
            preselected: PreselectedApplication(
                adfName: name, kernel: kernel, selection: ResponseAPDU(data: PreselectionTests.fci, status: status)))
    }

    @Test func `a first start at D activates the kernel at once, with the indicators of pre-processing`() throws {
        var bench = EntryPointBench()
        bench.combinations[0].limits = EntryPointLimits(floorLimit: 500, ttq: TTQ(rawValue: 0x2200_4000))
        var entryPoint = entryPoint(bench)
        let run = try Run.drive(&entryPoint) { bench.card.answer($1) }
        #expect(run.outcome.outcome.status == .approved)
        #expect(run.outcome.application?.adfName == EntryPointBench.first)
        #expect(run.commands.isEmpty)
        #expect(run.fieldOff.isEmpty)
        let activation = try #require(bench.log.activations.withLock { $0.first }).activation
        #expect(activation.selection.data == PreselectionTests.fci)
        #expect(activation.indicators.ttq?.rawValue == 0x2280_4000)
    }

    @Test func `an amount over the limit of the application's combination leaves no candidate`() throws {
        var bench = EntryPointBench()
        bench.combinations[0].limits.transactionLimit = 1_000
        var only = entryPoint(bench)
        #expect(try Run.drive(&only) { bench.card.answer($1) }.outcome.outcome.error.l2 == .emptyCandidateList)
        bench.combinations[1].limits.transactionLimit = 1_000
        var none = entryPoint(bench)
        #expect(try Run.drive(&none) { bench.card.answer($1) }.outcome.outcome.status == .tryAnotherInterface)
    }

    @Test func `an application that no combination has, or that was refused, ends the transaction`() throws {
        let bench = EntryPointBench()
        var unknown = entryPoint(bench, [0xA0, 0x00, 0x00, 0x00, 0x77, 0x01])
        var otherKernel = entryPoint(bench, kernel: .visa)
        var refused = entryPoint(bench, status: .fileNotFound)
        for status in [
            try Run.drive(&unknown) { bench.card.answer($1) }.outcome.outcome.status,
            try Run.drive(&otherKernel) { bench.card.answer($1) }.outcome.outcome.status,
            try Run.drive(&refused) { bench.card.answer($1) }.outcome.outcome.status,
        ] {
            #expect(status == .endApplication)
        }
        #expect(bench.log.activations.withLock { $0.isEmpty })
    }

    @Test func `a kernel that wants the card again gets it through the directory`() throws {
        let bench = EntryPointBench([Outcome(.tryAgain, start: .b)])
        var entryPoint = entryPoint(bench)
        let run = try Run.drive(&entryPoint) { bench.card.answer($1) }
        #expect(run.outcome.outcome.status == .approved)
        #expect(run.commands.count == 2)
        #expect(bench.log.activations.withLock { $0.map { $0.activation.isRestart } } == [false, true])
    }

    @Test func `a preselection counts for one transaction`() throws {
        let bench = EntryPointBench()
        var entryPoint = entryPoint(bench)
        _ = try Run.drive(&entryPoint) { bench.card.answer($1) }
        let again = try Run.drive(&entryPoint) { bench.card.answer($1) }
        #expect(again.outcome.outcome.error.l1 == .protocolError)
        #expect(bench.log.activations.withLock { $0.count } == 1)
    }
}
