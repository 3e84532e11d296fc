// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import EMVCrypto
import Testing

@testable import CardSim

/// One transaction of Entry Point and its kernels with a card of the catalogue and the test CA keys.
struct TerminalRun {
    var outcome: FinalOutcome
    var commands: [[UInt8]] = []
    /// Message ids in hexadecimal.
    var messages: [String] = []
    var fieldOff: [UInt64] = []

    /// - Parameters:
    ///   - disturb: gets each answer after the selection with its number and changes it; `nil` for a lost card.
    static func tap(
        _ name: String, amount: UInt64 = 1_250, type: TransactionType = .purchase,
        _ configuration: TerminalConfiguration = .test, authentication: OfflineAuthentication = .using(.test),
        disturb: (Int, ResponseAPDU) throws -> ResponseAPDU? = { _, answer in answer }
    ) throws -> TerminalRun {
        var card = try #require(CardCatalogue.card(named: name))
        let transaction = Transaction(
            amount: amount, currency: 978, exponent: 2, country: 276, type: type,
            date: EMVDate(year: 2026, month: 6, day: 7), time: EMVTime(hour: 12, minute: 0, second: 0),
            sequenceCounter: 1)
        var entryPoint = EntryPoint(
            configuration: configuration, transaction: transaction, unpredictableNumbers: .fixed([0xABAB_ABAB]),
            authentication: authentication)
        var run = TerminalRun(outcome: FinalOutcome(outcome: Outcome(.endApplication)))
        let now = TapInstant(nanoseconds: 0)
        var step = entryPoint.start(now: now)
        for _ in 0..<300 {
            run.messages += step.signals.map { Hex.string([$0.message.rawValue]) }
            switch step.action {
            case .finished(let outcome):
                run.outcome = outcome
                return run
            case .activate(let milliseconds):
                run.fieldOff.append(milliseconds)
                // A card that keeps failing is taken away.
                guard run.fieldOff.count < 5 else {
                    run.outcome = entryPoint.stop(now: now)
                    return run
                }
                card.powerOn()
                step = entryPoint.activated(card.activation, now: now)
            case .transmit(let command):
                run.commands.append(command.bytes)
                let answer = try answer(&card, command)
                let isSelection = command.ins == 0xA4
                if let answer = try isSelection ? answer : disturb(run.commands.count - 1, answer) {
                    step = entryPoint.received(answer, now: now)
                } else {
                    step = entryPoint.cardLost(now: now)
                }
            }
        }
        Issue.record("the transaction does not end")
        return run
    }

    private static func answer(_ card: inout any VirtualCard, _ command: CommandAPDU) throws -> ResponseAPDU {
        switch card.answer(command.bytes) {
        case .answer(let bytes), .late(let bytes, _): return try ResponseAPDU(bytes)
        case .gone: throw Gone()
        }
    }

    struct Gone: Error {}

    func value(_ tag: CardBytes.Tag) -> String? { outcome.outcome.dataRecord?.value(of: tag).map { Hex.string($0) } }

    /// What the issuer says of the data record, with other values for some objects.
    func verdict(_ changes: [CardBytes.Tag: [UInt8]] = [:]) -> ARQCVerdict {
        let record = outcome.outcome.dataRecord ?? []
        return TestIssuer.verify(changes.map { ($0.key, $0.value) } + record.map { ($0.tag, $0.value) })
    }
}

extension TerminalConfiguration {
    /// The test terminal as one that may approve offline below 100.00 and has a PIN pad.
    static let offlineCapable: TerminalConfiguration = {
        var configuration = TerminalConfiguration.test
        configuration.set(0x9F35, [0x22])
        for index in configuration.combinations.indices {
            configuration.combinations[index].limits.floorLimit = 10_000
            configuration.combinations[index].limits.ttq = configuration.combinations[index].limits.ttq.map {
                TTQ(rawValue: $0.rawValue | 0x0400_0000)
            }
        }
        return configuration
    }()

    mutating func set(_ tag: CardBytes.Tag, _ value: [UInt8]) {
        terminalData.removeAll { $0.tag == tag }
        terminalData.append(DataObject(tag, value))
    }

    mutating func set(_ kernel: KernelIdentifier, _ tag: CardBytes.Tag, _ value: [UInt8]) {
        for index in combinations.indices where combinations[index].kernel == kernel {
            combinations[index].kernelData.removeAll { $0.tag == tag }
            combinations[index].kernelData.append(DataObject(tag, value))
        }
    }
}
