// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// One payment system's rules, as a machine without I/O. Entry Point activates it once an application is selected and
/// hands it every answer until it finishes.
///
/// Whatever a card sends ends in an outcome; a kernel never traps and never reads a clock or a random number by itself.
public protocol Kernel: Sendable {
    /// The application is selected: first command or outcome.
    mutating func start(_ activation: KernelActivation, now: TapInstant) -> KernelStep
    /// The answer to the command of the last step.
    mutating func received(_ response: ResponseAPDU, now: TapInstant) -> KernelStep
    /// The command of the last step got no complete answer.
    mutating func cardLost(now: TapInstant) -> KernelStep
    /// Somebody outside wants an end.
    mutating func stop(now: TapInstant) -> Outcome
}
