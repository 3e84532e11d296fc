// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import EMVCrypto

@testable import CardSim

/// One tap of a kernel 8 card at the test terminal.
struct C8Tap {
    var card: any VirtualCard
    var kernelData: [DataObject] = []
    var terminalType: UInt8 = 0x21
    var amount: UInt64 = 1_250
    var type = TransactionType.purchase
    var number: UInt32 = 0x0102_0304
    var date = EMVDate(year: 2026, month: 6, day: 7)
    var authentication = OfflineAuthentication.using(.test)

    struct Run: Equatable {
        var outcome: FinalOutcome
        var commands: [[UInt8]]
        var answers: [[UInt8]]

        var record: [DataObject] { outcome.outcome.dataRecord ?? [] }
        var verdict: ARQCVerdict { TestIssuer.verify(record.map { ($0.tag, $0.value) }) }
        var error: ErrorIndication { outcome.outcome.error }
        var told: [DataObject] { outcome.outcome.discretionaryData ?? [] }
    }

    init(_ card: any VirtualCard = PaymentCard(.commonKernel(.personalised()))) { self.card = card }

    init(_ application: CommonKernelApplication, _ oddities: [CardOddity] = []) {
        var profile = CardProfile.commonKernel(application)
        profile.oddities = oddities
        self.init(PaymentCard(profile))
    }

    private var configuration: TerminalConfiguration {
        var configuration = TerminalConfiguration.test
        configuration.terminalData = configuration.terminalData.map {
            $0.tag == 0x9F35 ? DataObject(0x9F35, [terminalType]) : $0
        }
        for index in configuration.combinations.indices where configuration.combinations[index].kernel == .c8 {
            let kept = configuration.combinations[index].kernelData.filter { object in
                !kernelData.contains { $0.tag == object.tag }
            }
            configuration.combinations[index].kernelData = kept + kernelData
        }
        return configuration
    }

    /// Runs to the end. `answer` may change what comes back, or return `nil` for a card that has left; the machine gets 100
    /// steps.
    mutating func run(
        _ answer: (Int, ResponseAPDU) -> ResponseAPDU? = { $1 }
    ) throws -> Run {
        var entryPoint = EntryPoint(
            configuration: configuration,
            transaction: Transaction(
                amount: amount, currency: 978, exponent: 2, country: 276, type: type, date: date,
                time: EMVTime(hour: 12, minute: 0, second: 0), sequenceCounter: 1),
            unpredictableNumbers: .fixed([number]), authentication: authentication)
        var commands: [[UInt8]] = []
        var answers: [[UInt8]] = []
        var activations = 0
        var now = TapInstant(nanoseconds: 0)
        var step = entryPoint.start(now: now)
        for _ in 0..<100 {
            now = now.advanced(byMilliseconds: 5)
            switch step.action {
            case .finished(let outcome): return Run(outcome: outcome, commands: commands, answers: answers)
            case .activate:
                activations += 1
                guard activations < 4 else {
                    return Run(outcome: entryPoint.stop(now: now), commands: commands, answers: answers)
                }
                card.powerOn()
                step = entryPoint.activated(card.activation, now: now)
            case .transmit(let command):
                commands.append(command.bytes)
                guard case .answer(let bytes) = card.answer(command.bytes),
                    let response = answer(commands.count - 1, try ResponseAPDU(bytes))
                else {
                    step = entryPoint.cardLost(now: now)
                    continue
                }
                answers.append(response.bytes)
                step = entryPoint.received(response, now: now)
            }
        }
        throw C8TapWithoutEnd()
    }
}

struct C8TapWithoutEnd: Error {}
