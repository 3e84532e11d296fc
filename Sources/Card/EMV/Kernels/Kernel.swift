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
    /// As `cardLost(now:)`, with the reason where the transport knows it.
    mutating func cardLost(_ loss: CardLoss, now: TapInstant) -> KernelStep
    /// Somebody outside wants an end.
    mutating func stop(now: TapInstant) -> Outcome
    /// Whether a wish to stop comes too late: the card may have counted the transaction, its answer has to be awaited.
    var ignoresStop: Bool { get }
    /// What the terminal answers to `KernelStep.Action.askTerminal`.
    mutating func terminalAnswered(_ answer: TerminalAnswer, now: TapInstant) -> KernelStep
}

extension Kernel {
    /// For a kernel to which every loss is the same.
    public mutating func cardLost(_ loss: CardLoss, now: TapInstant) -> KernelStep { cardLost(now: now) }

    public var ignoresStop: Bool { false }

    /// For a kernel that asks nothing.
    public mutating func terminalAnswered(_ answer: TerminalAnswer, now: TapInstant) -> KernelStep {
        KernelStep(.finished(Outcome(.endApplication, error: ErrorIndication(l2: .terminalDataError))))
    }
}
