// SPDX-License-Identifier: Apache-2.0
public import CardBytes
import Glibc

/// Runs a machine on scripted answers. It has to finish within a bounded number of steps, whatever it is sent.
///
/// - Parameter observe: gets every command that it sends.
@discardableResult
public func play<Machine: TapMachine & ~Copyable>(
    _ machine: inout Machine, _ script: inout AnswerScript, card: CardActivation = CardActivation(),
    observe: (CommandAPDU) -> Void = { _ in }
) -> Machine.Outcome {
    var now = TapInstant(nanoseconds: 0)
    var step = machine.start(now: now)
    var presentations = 0
    for _ in 0..<4_000 {
        now = now.advanced(byMilliseconds: 1)
        switch step.action {
        case .finished(let outcome): return outcome
        case .activate:
            presentations += 1
            // A card that never comes to an end is taken away for good by the person at the reader.
            if presentations > 6 { return machine.stop(now: now) }
            step = presentations == 5 ? machine.collided(now: now) : machine.activated(card, now: now)
        case .transmit(let command):
            observe(command)
            if let answer = script.next() {
                step = machine.received(answer, now: now)
            } else {
                step = machine.cardLost(now: now)
            }
        }
    }
    abort()
}
