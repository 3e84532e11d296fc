// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Synchronization

@testable import EMV

/// A kernel from outside the module: it ends at once with the next of the outcomes it was given, and keeps what Entry
/// Point handed to it.
struct OutsideKernel: Kernel {
    final class Log: Sendable {
        struct Activation: Sendable {
            let activation: KernelActivation
            let unpredictableNumber: UInt32
        }

        let outcomes: Mutex<[Outcome]>
        let activations = Mutex<[Activation]>([])

        init(_ outcomes: [Outcome]) { self.outcomes = Mutex(outcomes) }
    }

    let log: Log

    mutating func start(_ activation: KernelActivation, now: TapInstant) -> KernelStep {
        var numbers = activation.unpredictableNumbers
        let number = numbers.next()
        log.activations.withLock { $0.append(.init(activation: activation, unpredictableNumber: number)) }
        let outcome = log.outcomes.withLock { $0.isEmpty ? Outcome(.approved) : $0.removeFirst() }
        return KernelStep(.finished(outcome))
    }

    mutating func received(_ response: ResponseAPDU, now: TapInstant) -> KernelStep {
        KernelStep(.finished(Outcome(.endApplication)))
    }

    mutating func cardLost(now: TapInstant) -> KernelStep { KernelStep(.finished(Outcome(.tryAgain, start: .b))) }

    mutating func stop(now: TapInstant) -> Outcome { Outcome(.endApplication) }
}
