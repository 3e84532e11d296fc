// SPDX-License-Identifier: Apache-2.0
import CardBytes
import TestSupport
import Testing

@testable import EMV

/// What kernels 4 to 7 have in common.
@Suite("Kernels 4 to 7")
struct FurtherKernelsTests {
    private static let setups: [(name: String, card: PlainCard, terminal: TerminalConfiguration)] = [
        ("4", Kernel4Tests.card(), Kernel4Tests.terminal()),
        ("4 CDA", Kernel4Tests.signingCard(), Kernel4Tests.terminal()),
        ("5", Kernel5Tests.card(), Kernel5Tests.terminal()),
        ("5 CDA", Kernel5Tests.signingCard(), Kernel5Tests.terminal()),
        ("6", Kernel6Tests.card(), Kernel6Tests.terminal(0x2600_4000)),
        ("6 CDA", Kernel6Tests.signingCard(), Kernel6Tests.terminal(0x2600_4000)),
        ("7", Kernel7Tests.card(), Kernel7Tests.terminal(0x2600_4000)),
        ("7 fDDA", Kernel7Tests.signingCard(), Kernel7Tests.terminal(0x2600_4000)),
    ]

    private func run(
        _ setup: (name: String, card: PlainCard, terminal: TerminalConfiguration),
        _ transaction: Transaction = .test(500),
        answer: (Int, CommandAPDU, ResponseAPDU) -> ResponseAPDU? = { _, _, answer in answer }
    ) throws -> Run {
        var entryPoint = EntryPoint(
            configuration: setup.terminal, transaction: transaction, unpredictableNumbers: .fixed([1]),
            authentication: .accepting)
        return try Run.drive(&entryPoint) { answer($0, $1, setup.card.answer($1)) }
    }

    @Test func `every setup ends well when nobody disturbs it`() throws {
        for setup in Self.setups {
            let status = try run(setup).outcome.outcome.status
            #expect(status == .onlineRequest || status == .approved, "\(setup.name)")
        }
    }

    @Test func `answers at random never trap, and end in an outcome`() throws {
        var generator = SeededGenerator(seed: 4_567)
        for setup in Self.setups {
            for _ in 0..<400 {
                let run = try run(setup) { number, command, answer in
                    guard number > 1, Int.random(in: 0..<3, using: &generator) == 0 else { return answer }
                    var data = answer.data
                    switch Int.random(in: 0..<4, using: &generator) {
                    case 0:
                        data.insert(
                            .random(in: 0...255, using: &generator),
                            at: Int.random(in: 0...data.count, using: &generator))
                    case 1: data = Array(data.prefix(Int.random(in: 0...data.count, using: &generator)))
                    case 2: data = (0..<40).map { _ in .random(in: 0...255, using: &generator) }
                    default: data += data
                    }
                    return ResponseAPDU(data: data, status: .success)
                }
                #expect(run.outcome.outcome.status != .selectNext && run.outcome.outcome.status != .tryAgain)
            }
        }
    }

    @Test func `any length of any object of the card leads to an outcome`() throws {
        for setup in Self.setups {
            let objects = setup.card.options + setup.card.cryptogram + setup.card.records.values.joined()
            for object in objects {
                for count in [0, 1, 2, 3, 4, 5, 6, 7, 9, 12, 30] {
                    var other = setup
                    let value = [UInt8](repeating: 0x99, count: count)
                    func changed(_ list: [DataObject]) -> [DataObject] {
                        list.map { $0.tag == object.tag ? DataObject($0.tag, value) : $0 }
                    }
                    other.card.options = changed(other.card.options)
                    other.card.cryptogram = changed(other.card.cryptogram)
                    other.card.records = other.card.records.mapValues { changed($0) }
                    let status = try run(other).outcome.outcome.status
                    #expect(status != .selectNext && status != .tryAgain, "\(setup.name) \(object.tag)")
                }
            }
        }
    }

    @Test func `a stop ends the application`() throws {
        for setup in Self.setups {
            var entryPoint = EntryPoint(
                configuration: setup.terminal, transaction: .test(500), unpredictableNumbers: .fixed([1]))
            let now = TapInstant(nanoseconds: 0)
            _ = entryPoint.start(now: now)
            var step = entryPoint.activated(CardActivation(), now: now)
            for _ in 0..<2 {
                guard case .transmit(let command) = step.action else { break }
                step = entryPoint.received(setup.card.answer(command), now: now)
            }
            let outcome = entryPoint.stop(now: now).outcome
            #expect(outcome.status == .endApplication)
            #expect(outcome.error.l3 == .stop)
        }
    }

    @Test func `the merchant can force a transaction online`() throws {
        var transaction = Transaction.test(500)
        transaction.merchantForcedOnline = true
        for setup in Self.setups {
            let run = try run(setup, transaction)
            let record = run.outcome.outcome.dataRecord ?? []
            switch setup.name.first {
            case "4", "5": #expect(record.isEmpty || record.value(of: 0x95)?[3] == 0x08, "\(setup.name)")
            default: #expect(run.outcome.outcome.status != .approved, "\(setup.name)")
            }
        }
    }

    @Test func `the test terminal knows every scheme once`() throws {
        let combinations = TerminalConfiguration.test.combinations
        #expect(Set(combinations.map { $0.kernel.rawValue }).isSuperset(of: [2, 3, 4, 5, 6, 7]))
        #expect(Set(combinations.map { $0.aid }).count == combinations.count)
        for combination in combinations { #expect(KernelSet.standard.contains(combination.kernel)) }
    }
}
