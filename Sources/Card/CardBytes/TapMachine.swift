// SPDX-License-Identifier: Apache-2.0
/// What a machine asks of the loop that drives it.
public struct TapStep<Signal: Sendable, Outcome: Sendable>: Sendable {
    /// What comes next; every case but `finished` is answered with exactly one input.
    public enum Action: Sendable {
        /// Switch the field off for `fieldOffMilliseconds` (0: leave it as it is), then wait for a card.
        /// Answered by `activated` or `collided`.
        case activate(fieldOffMilliseconds: UInt64)
        /// Answered by `received` or `cardLost`.
        case transmit(CommandAPDU)
        /// Apart from the step, which is handed on at every command and would be as large as an outcome otherwise.
        indirect case finished(Outcome)
    }

    /// Shown before the action is taken, in this order.
    public var signals: [Signal]
    public var action: Action

    public init(_ action: Action, signals: [Signal] = []) {
        self.action = action
        self.signals = signals
    }
}

/// A card protocol without I/O. A torn card, a collision and a wish to stop are inputs, not exceptions.
///
/// The caller alternates: `start`, then for each action the input it names, until `finished`. An input that does not
/// belong to the last action ends the machine with an outcome; nothing a card sends may trap.
public protocol TapMachine: ~Copyable {
    associatedtype Signal: Sendable
    associatedtype Outcome: Sendable
    typealias Step = TapStep<Signal, Outcome>

    mutating func start(now: TapInstant) -> Step
    /// One card is in the field and answers.
    mutating func activated(_ card: CardActivation, now: TapInstant) -> Step
    /// More than one card is in the field.
    mutating func collided(now: TapInstant) -> Step
    mutating func received(_ response: ResponseAPDU, now: TapInstant) -> Step
    /// The command sent last got no complete answer: card gone, transmission or protocol error, time-out.
    mutating func cardLost(now: TapInstant) -> Step
    /// As `cardLost(now:)`, with the reason where the transport knows it.
    mutating func cardLost(_ loss: CardLoss, now: TapInstant) -> Step
    /// No card is in the field any more after more than one was. Answers an `activate`, which it leaves standing.
    mutating func fieldEmptied(now: TapInstant) -> Step
    /// Somebody outside wants an end. The machine finishes at once.
    mutating func stop(now: TapInstant) -> Outcome
}

extension TapMachine where Self: ~Copyable {
    /// For a machine to which every loss is the same.
    public mutating func cardLost(_ loss: CardLoss, now: TapInstant) -> Step { cardLost(now: now) }

    /// For a machine that tells nobody of a collision's end: it goes on waiting.
    public mutating func fieldEmptied(now: TapInstant) -> Step { Step(.activate(fieldOffMilliseconds: 0)) }
}
