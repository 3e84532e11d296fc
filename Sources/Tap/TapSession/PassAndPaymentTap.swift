// SPDX-License-Identifier: Apache-2.0
public import CardBytes
import Linux
public import Loyalty
public import ReaderCore

/// Passes and a payment in one tap: the pass first, then the payment on the same activation, after a field reset or
/// after the card was taken away, as the loyalty side allows.
public struct PassAndPaymentTap: Sendable {
    /// What came of the tap as a whole.
    public enum Ending: Equatable, Sendable {
        /// The first pass was to end the tap, and did.
        case stoppedOnPass
        /// The payment has a result, which `deliverPayment` got.
        case paid
        /// The payment part ended without a result; passes may have been delivered.
        case failed(PaymentTapError)
    }

    public var loyalty: LoyaltyTap
    public var payment: PaymentTap
    public var combination: CombinedTap

    /// - Parameter loyalty: its request's purpose says `stopOnPass`.
    /// - Returns: `nil` where that purpose knows of no payment.
    public init?(loyalty: LoyaltyTap, payment: PaymentTap) {
        guard case .passesAndPayment(let stopOnPass) = loyalty.request.purpose else { return nil }
        self.loyalty = loyalty
        self.payment = payment
        combination = CombinedTap(stopOnPass: stopOnPass)
    }

    /// Runs on the reader's own thread, which it blocks. Whatever comes of it, the reader is released at the end.
    ///
    /// - Parameters:
    ///   - onSignal: as `PaymentTap.run`, for the payment part.
    ///   - deliverPasses: takes what the loyalty part found, before any payment command is sent.
    ///   - deliverPayment: as `deliver` of `PaymentTap.run`.
    public func run(
        on reader: any CardReader, cancellation: TapCancellation,
        clock: @escaping () -> TapInstant = monotonicNow, onLoyaltySignal: @escaping (LoyaltyTapSignal) -> Void,
        onSignal: @escaping (TapSignal) -> Void, deliverPasses: (LoyaltyOutcome) -> Void,
        deliverPayment: (PaymentTapResult) -> Void
    ) -> Ending {
        defer { reader.release() }
        do throws(PaymentTapError) {
            let outcome = try passes(on: reader, cancellation, clock, onLoyaltySignal)
            deliverPasses(outcome)
            switch combination.next(after: outcome) {
            case .end:
                // Ended by a pass, or because the time was over with a phone that gave none.
                guard outcome.hasPass else { throw .reader(.timedOut) }
                reader.show(.read)
                return .stoppedOnPass
            case .pay(let readiness):
                let prepared = try prepare(reader, readiness, outcome.card, cancellation)
                // The phone has given its pass, or has none: what follows is a card.
                prepared.broadcast = ECPFrame(.paymentOnly).payload
                defer { prepared.broadcast = [] }
                try payment.run(
                    on: prepared, cancellation: cancellation, clock: clock, onSignal: onSignal, deliver: deliverPayment)
                return .paid
            }
        } catch {
            return .failed(error)
        }
    }

    /// Which of the five cases it was. A payment that found no payment application is none, with a pass at hand.
    public func result(passes: LoyaltyOutcome?, payment: PaymentTapResult?) -> CombinedTap.Result {
        combination.result(hasPass: passes?.hasPass ?? false, hasPayment: payment?.kernel != nil)
    }

    private func passes(
        on reader: any CardReader, _ cancellation: TapCancellation, _ clock: @escaping () -> TapInstant,
        _ onSignal: @escaping (LoyaltyTapSignal) -> Void
    ) throws(PaymentTapError) -> LoyaltyOutcome {
        do throws(ReaderError) {
            return try loyalty.read(on: reader, cancellation: cancellation, clock: clock, onSignal: onSignal)
        } catch {
            reader.show(error == .timedOut || error == .cancelled ? .idle : .error)
            throw .reader(error)
        }
    }

    private func prepare(
        _ reader: any CardReader, _ readiness: PaymentReadiness, _ card: CardActivation?,
        _ cancellation: TapCancellation
    ) throws(PaymentTapError) -> any CardReader {
        switch readiness {
        case .sameActivation:
            guard let card else { return reader }
            return ActivatedReader(reader, card: card)
        case .afterFieldReset:
            reader.release()
            sleep(milliseconds: PassAndPaymentTap.fieldOffMilliseconds)
            return reader
        case .afterRemoval:
            reader.release()
            reader.show(.tryAgain)
            do throws(ReaderError) {
                try reader.waitForRemoval(until: payment.deadlines.card, cancellation: cancellation)
            } catch {
                throw .reader(error)
            }
            return reader
        }
    }

    /// Field off between pass and payment: longer than the reset of EMV Contactless (Book D), 5.1 ms at least, and as
    /// long as between two looks at a phone. What phones need is unverified.
    static let fieldOffMilliseconds: UInt64 = 100
}
