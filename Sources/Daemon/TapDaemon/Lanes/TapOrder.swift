// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Configuration
import EMV
import Envelope
import Linux
import Loyalty
import PaymentValues
import ReaderCore
import TapSession
import TerminalFile

/// What a lane needs to know to run one tap.
struct TapOrder: Sendable {
    let id: TransactionID
    let type: PaymentValues.TransactionType
    let amount: Money
    let terminal: Terminal
    /// Transaction Sequence Counter (9F41).
    let sequence: UInt32
    /// Seconds for the card to be presented.
    var deadline: Int
    /// When the wait ends whatever `deadline` says; `nil` for no such time.
    let latest: TapInstant?
    /// The passes wanted in the same tap.
    let loyalty: LoyaltyRequest?
    /// AIDs or RIDs that the shop prefers on a co-badged card.
    let preferredApplications: [[UInt8]]
    let marker: CardFingerprinter?
    /// What has to be sealed for the PIN device of each lane that has one.
    let pinAccounts: [String: PaymentTap.PINAccount]
    /// Signalled when the adapter has the result, or will not get it.
    let delivered: WakeSignal
    /// The card that lies there has just come to a lane that stands alone, and is meant.
    var takesPresentCard = false
    /// How long the reader's thread waits for that at most: longer than it takes to connect.
    static let deliveryMilliseconds: UInt64 = 5_000

    /// `nil` where no passes are wanted.
    func combinedTap(reader: String) -> PassAndPaymentTap? {
        guard let loyalty else { return nil }
        let payment = tap(reader: reader)
        return PassAndPaymentTap(
            loyalty: LoyaltyTap(request: loyalty, deadlines: payment.deadlines), payment: payment)
    }

    func tap(reader: String) -> PaymentTap {
        let now = Timestamp.now
        // The time of day at the terminal.
        let local = LocalTime(at: Int(now.milliseconds / 1_000))
        let magnitude = UInt64(max(0, amount.value))
        let transaction = EMV.Transaction(
            amount: magnitude, currency: amount.currency.numeric,
            exponent: UInt8(truncatingIfNeeded: amount.currency.exponent), country: terminal.country,
            type: type == .refund ? .refund : .purchase,
            date: EMVDate(year: local.year, month: local.month, day: local.day),
            time: EMVTime(hour: local.hour, minute: local.minute, second: min(local.second, 59)),
            sequenceCounter: sequence)
        let binding = CardRecord.Binding(
            transaction: id.text, reader: reader, amount: magnitude, currency: amount.currency.code,
            issuedAt: UInt64(max(0, now.milliseconds / 1_000)))
        var configuration = terminal.file.configuration
        // This transaction's wishes come before those of the terminal.
        configuration.preferredApplications = preferredApplications + configuration.preferredApplications
        var tap = PaymentTap(
            configuration: configuration, authentication: terminal.file.authentication,
            transaction: transaction, binding: binding, recipient: terminal.recipient,
            deadlines: TapDeadlines(card: .end(of: deadline, latest)))
        tap.marker = marker
        tap.pinAccount = pinAccounts[reader]
        tap.denied = terminal.denied
        return tap
    }
}

/// What a lane needs to know to read passes and nothing else.
struct LoyaltyOrder: Sendable {
    let request: LoyaltyRequest
    /// Seconds for the phone or member card to be presented.
    var deadline: Int
    /// When the wait ends whatever `deadline` says; `nil` for no such time.
    let latest: TapInstant?
    /// What lies on the reader has been seen to come: it need not leave before.
    var takesPresentCard = false

    var tap: LoyaltyTap {
        LoyaltyTap(request: request, deadlines: TapDeadlines(card: .end(of: deadline, latest)))
    }
}

extension TapInstant {
    /// When a wait of so many seconds ends that begins now, and at `latest` in any case.
    static func end(of seconds: Int, _ latest: TapInstant?) -> TapInstant {
        let end = monotonicNow().advanced(byMilliseconds: UInt64(max(0, seconds)) * 1_000)
        return latest.map { min($0, end) } ?? end
    }
}

/// What happens on a lane while it taps, in order.
indirect enum TapProgress: Sendable {
    /// `signal` or `loyaltySignal` of a lane on which no card has answered yet.
    case waiting(String, TapProgress)
    /// A lane's wait has ended without a card; others may go on.
    case left(String, PaymentTapError)
    /// The first card is on this lane: all that follows comes from it.
    case won(String)
    /// A card lies on the reader from before; nothing is read until it has left.
    case cardLeft
    case signal(TapSignal)
    case loyaltySignal(LoyaltyTapSignal)
    /// What the loyalty part found; a payment may follow.
    case passes(LoyaltyOutcome)
    /// Nothing follows the passes.
    case endedWithPasses
    case result(PaymentTapResult)
    /// Without a result.
    case ended(PaymentTapError)
}
