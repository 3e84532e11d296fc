// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import Testing

/// A kernel as somebody outside this package writes it: this file sees the public API only.
private struct EchoKernel: Kernel {
    private var activation: KernelActivation?
    private var answered = 0

    mutating func start(_ activation: KernelActivation, now: TapInstant) -> KernelStep {
        self.activation = activation
        guard let command = try? CommandAPDU([0x80, 0xA8, 0x00, 0x00, 0x02, 0x83, 0x00, 0x00]) else {
            return KernelStep(.finished(Outcome(.endApplication)))
        }
        return KernelStep(.transmit(command), signals: [UIRequest(.processing, .processing)])
    }

    mutating func received(_ response: ResponseAPDU, now: TapInstant) -> KernelStep {
        answered += 1
        guard response.status.isSuccess, var numbers = activation?.unpredictableNumbers else {
            return KernelStep(.finished(Outcome(.selectNext, start: .c)))
        }
        let number = numbers.next()
        let record = [
            DataObject(0x9F10, response.data),
            DataObject(0x9F37, [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }),
        ]
        return KernelStep(
            .finished(
                Outcome(
                    .onlineRequest, cvm: .noCVM, uiOnOutcome: UIRequest(.authorising, .notReady), dataRecord: record)),
            signals: [UIRequest(.cardReadOK, .cardReadSuccessfully)])
    }

    mutating func cardLost(now: TapInstant) -> KernelStep {
        KernelStep(
            .finished(Outcome(.tryAgain, start: .b, uiOnRestart: UIRequest(.presentCardAgain, .readyToRead))))
    }

    mutating func stop(now: TapInstant) -> Outcome {
        Outcome(.endApplication, error: ErrorIndication(l3: .stop))
    }
}

@Suite("A kernel from outside")
struct OutsideKernelTests {
    private static let directory: [UInt8] =
        [0x6F, 0x23, 0x84, 0x0E] + Array("2PAY.SYS.DDF01".utf8) + [
            0xA5, 0x11, 0xBF, 0x0C, 0x0E, 0x61, 0x0C, 0x4F, 0x07, 0xA0, 0x00, 0x00, 0x00, 0x04, 0x10, 0x10, 0x87, 0x01,
            0x01,
        ]

    /// A terminal whose kernel 2 is the outside one; the others stay.
    private func entryPoint() -> EntryPoint {
        var kernels = KernelSet.standard
        kernels.register(.mastercard) { EchoKernel() }
        return EntryPoint(
            configuration: .test,
            transaction: Transaction(
                amount: 1_250, currency: 978, exponent: 2, country: 276, date: EMVDate(year: 2026, month: 6, day: 7),
                time: EMVTime(hour: 12, minute: 0, second: 0), sequenceCounter: 1),
            unpredictableNumbers: .fixed([0x0102_0304]), kernels: kernels)
    }

    /// What the machine sends, shows and ends with; `answer` returns `nil` for a lost card.
    private func run(_ answer: (CommandAPDU) -> ResponseAPDU?) -> (FinalOutcome?, [UIRequest.Message]) {
        var machine = entryPoint()
        var shown: [UIRequest.Message] = []
        let now = TapInstant(nanoseconds: 0)
        var step = machine.start(now: now)
        for _ in 0..<20 {
            shown += step.signals.map { $0.message }
            switch step.action {
            case .activate: step = machine.activated(CardActivation(), now: now)
            case .transmit(let command):
                if let response = answer(command) {
                    step = machine.received(response, now: now)
                } else {
                    step = machine.cardLost(now: now)
                }
            case .finished(let outcome): return (outcome, shown)
            }
        }
        return (nil, shown)
    }

    private func answer(_ command: CommandAPDU) -> ResponseAPDU {
        switch command.ins {
        case 0xA4 where command.data == Array("2PAY.SYS.DDF01".utf8):
            ResponseAPDU(data: OutsideKernelTests.directory, status: .success)
        case 0xA4:
            ResponseAPDU(
                data: [0x6F, 0x09, 0x84, 0x07, 0xA0, 0x00, 0x00, 0x00, 0x04, 0x10, 0x10], status: .success)
        case 0xA8: ResponseAPDU(data: [0xCA, 0xFE], status: .success)
        default: ResponseAPDU(status: 0x6D00)
        }
    }

    @Test func `a kernel of somebody else stands in for ours and its outcome is the final one`() throws {
        let (final, shown) = run { answer($0) }
        let outcome = try #require(final).outcome
        #expect(outcome.status == .onlineRequest)
        #expect(outcome.dataRecord?.value(of: 0x9F10) == [0xCA, 0xFE])
        #expect(outcome.dataRecord?.value(of: 0x9F37) == [0x01, 0x02, 0x03, 0x04])
        #expect(final?.application?.kernel == .mastercard)
        #expect(shown == [.presentCard, .processing, .cardReadOK, .authorising])
    }

    @Test func `its Try Again and Select Next are processed as ours are`() throws {
        var attempts = 0
        let (torn, shown) = run { command in
            guard command.ins == 0xA8 else { return answer(command) }
            attempts += 1
            return attempts == 1 ? nil : answer(command)
        }
        #expect(torn?.outcome.status == .onlineRequest)
        #expect(shown.contains(.presentCardAgain))
        let (next, _) = run { $0.ins == 0xA8 ? ResponseAPDU(status: 0x6985) : answer($0) }
        #expect(next?.outcome.status == .endApplication)
        #expect(next?.outcome.error.l2 == .emptyCandidateList)
    }

    @Test func `a wish to stop reaches it`() {
        var machine = entryPoint()
        let now = TapInstant(nanoseconds: 0)
        var step = machine.start(now: now)
        for _ in 0..<4 {
            switch step.action {
            case .activate: step = machine.activated(CardActivation(), now: now)
            case .transmit(let command) where command.ins == 0xA4:
                step = machine.received(answer(command), now: now)
            case .transmit, .finished: break
            }
        }
        let final = machine.stop(now: now)
        #expect(final.outcome.error.l3 == .stop)
        #expect(final.application?.kernel == .mastercard)
    }
}
