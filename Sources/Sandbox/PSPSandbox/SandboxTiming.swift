// SPDX-License-Identifier: Apache-2.0
import PaymentValues

/// How long things take.
public struct SandboxTiming: Equatable, Sendable {
    /// Amounts ending in 97.
    public var slow: Duration
    /// Amounts ending in 99: later than the daemon waits.
    public var late: Duration
    /// How long what is preauthorised is held.
    public var hold: Duration
    /// After which whoever works on a request is taken for dead, and another sandbox on the same store takes it over.
    public var lease: Duration
    /// After a day was told, until its figures are there.
    public var figures: Duration

    public init(
        slow: Duration = .seconds(20), late: Duration = .seconds(35), hold: Duration = .seconds(7 * 86_400),
        lease: Duration = .seconds(60), figures: Duration = .zero
    ) {
        self.figures = figures
        self.slow = slow
        self.late = late
        self.hold = hold
        self.lease = lease
    }

    /// How long an approval waits before it is answered.
    func delay(of fault: AmountRule.Fault) -> Duration? {
        switch fault {
        case .slow: slow
        case .late: late
        case .serverError, .answersTwice, .closesMidBody, .garbage, .neverAnswers: nil
        }
    }
}

extension Timestamp {
    func advanced(by duration: Duration) -> Timestamp {
        let parts = duration.components
        let milliseconds = parts.seconds * 1_000 + parts.attoseconds / 1_000_000_000_000_000
        return Timestamp(milliseconds: self.milliseconds + milliseconds)
    }
}
