// SPDX-License-Identifier: Apache-2.0
import CardBytes

@testable import EMV

/// A reader of two applications whose kernel is the test's own.
struct EntryPointBench {
    static let first: [UInt8] = [0xA0, 0x00, 0x00, 0x09, 0x99, 0x01]
    static let second: [UInt8] = [0xA0, 0x00, 0x00, 0x09, 0x99, 0x02]
    static let kernel = KernelIdentifier(rawValue: 0x20)
    static let terminalData = [DataObject(0x9F35, [0x21]), DataObject(0x9F33, [0x00, 0x08, 0x08])]

    let log: OutsideKernel.Log
    var card = ScriptedCard()
    var combinations: [Combination]

    init(_ outcomes: [Outcome] = []) {
        log = OutsideKernel.Log(outcomes)
        combinations = [EntryPointBench.first, EntryPointBench.second].map {
            Combination(aid: $0, kernel: EntryPointBench.kernel)
        }
        card.answers["00A404000E325041592E5359532E444446303100"] =
            Hex.string(
                DirectoryTests.ppse([
                    [DataObject(0x4F, EntryPointBench.first), DataObject(0x87, [0x01])],
                    [DataObject(0x4F, EntryPointBench.second), DataObject(0x87, [0x02])],
                ])) + "9000"
        select(EntryPointBench.first, "6F088406A000000999019000")
        select(EntryPointBench.second, "6F088406A000000999029000")
    }

    static func command(_ name: [UInt8]) -> String {
        "00A40400" + Hex.string([UInt8(name.count)]) + Hex.string(name) + "00"
    }

    mutating func select(_ name: [UInt8], _ answer: String) { card.answers[EntryPointBench.command(name)] = answer }

    func entryPoint(
        _ transaction: Transaction = .test(1_000), start: StartPoint = .a,
        numbers: UnpredictableNumbers = .fixed([1, 2, 3])
    ) -> EntryPoint {
        var kernels = KernelSet()
        let log = log
        // A kernel for every identifier that a combination names.
        for combination in combinations { kernels.register(combination.kernel) { OutsideKernel(log: log) } }
        return EntryPoint(
            configuration: TerminalConfiguration(
                terminalData: EntryPointBench.terminalData, combinations: combinations),
            transaction: transaction,
            unpredictableNumbers: numbers, kernels: kernels, startingAt: start)
    }

    func run(_ transaction: Transaction = .test(1_000), start: StartPoint = .a) throws -> Run {
        var entryPoint = entryPoint(transaction, start: start)
        return try Run.drive(&entryPoint) { card.answer($1) }
    }
}
