// SPDX-License-Identifier: Apache-2.0
import PaymentValues

/// A tap on a lane that stands alone, as its machine sees it. Its id is that of its transaction.
struct Session: Codable, Equatable, Sendable {
    enum State: String, Codable, CaseIterable, Sendable {
        /// The card is read, or the payment service is asked.
        case tapping
        /// Approved, and taken back unless a machine claims it.
        case offered
        /// A machine has it, and the sum is held.
        case open
        /// A capture is on its way, and nobody knows yet how it ends.
        case settling
        case committed
        /// Nothing was taken, and nothing will be.
        case released
    }

    var id: TransactionID
    var lane: String
    /// Number of the tap on its lane.
    var tap: Int64
    var mode: StandingMode
    var state: State
    /// What is held, or was paid; what was asked for where nothing was approved.
    var amount: Money
    /// What was taken.
    var captured: Money?
    /// What a commit wanted beyond the hold, with `upTo`.
    var shortfall: Money?
    /// The machine's own name for it.
    var reference: String?
    /// With `offered`: until when it has to be claimed.
    var claimBy: Timestamp?
    /// With `open`: when the hold goes back unless it is committed or kept.
    var releaseAt: Timestamp?
    var card: MaskedCard?
}

struct SessionList: Codable, Equatable, Sendable {
    var sessions: [Session]
}

/// A lane that stands alone, as it is now.
struct StandingLane: Codable, Equatable, Sendable {
    var lane: String
    var mode: StandingMode
    /// Whether it takes taps.
    var armed: Bool
    /// What a tap asks for.
    var amount: Money
    /// The most that a machine may ask for.
    var maximum: Money
    /// Number of the latest tap; 0 for none.
    var tap: Int64
    /// Sessions whose money may still move.
    var open: [TransactionID]
}
