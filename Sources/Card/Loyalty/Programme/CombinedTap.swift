// SPDX-License-Identifier: Apache-2.0
/// What to do with loyalty and payment in one tap. The five cases:
///
/// | `stopOnPass` | presented | result |
/// |---|---|---|
/// | true | a pass comes first | pass only |
/// | true | a card comes first | payment only |
/// | false | phone with pass and card | both |
/// | false | phone with only a pass | pass only |
/// | false | plain card | payment only |
public struct CombinedTap: Equatable, Sendable {
    /// The first of pass and card ends the tap.
    public let stopOnPass: Bool

    public init(stopOnPass: Bool) { self.stopOnPass = stopOnPass }

    /// What the phone is told. The pairing is inferred, not verified.
    public var mode: CapabilityMode { stopOnPass ? .passOrPayment : .passAndPayment }

    public enum Next: Equatable, Sendable {
        case end(Result)
        case pay(PaymentReadiness)
    }

    public enum Result: Equatable, Sendable {
        case passOnly, paymentOnly, both, nothing
    }

    /// After the loyalty part.
    public func next(after outcome: LoyaltyOutcome) -> Next {
        switch outcome.ending {
        case .stopped: .end(result(hasPass: outcome.hasPass, hasPayment: false))
        case .completed: outcome.hasPass && stopOnPass ? .end(.passOnly) : .pay(outcome.payment)
        }
    }

    /// After the payment part, too. `hasPayment`: a payment card was read. A phone with only a pass has no payment
    /// application, which with a pass at hand is no failure.
    public func result(hasPass: Bool, hasPayment: Bool) -> Result {
        switch (hasPass, hasPayment) {
        case (true, true): .both
        case (true, false): .passOnly
        case (false, true): .paymentOnly
        case (false, false): .nothing
        }
    }
}
