// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// A tap on a lane that stands alone, as its machine sees it. Its id is that of its transaction.
public struct Session: Codable, Equatable, Sendable {
    public enum State: String, Codable, CaseIterable, Sendable {
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

    public var id: TransactionID
    public var lane: String
    /// Number of the tap on its lane.
    public var tap: Int64
    public var mode: StandingMode
    public var state: State
    /// What is held, or was paid; what was asked for where nothing was approved.
    public var amount: Money
    /// What was taken.
    public var captured: Money?
    /// What a commit wanted beyond the hold, with `upTo`.
    public var shortfall: Money?
    /// The machine's own name for it.
    public var reference: String?
    /// With `offered`: until when it has to be claimed.
    public var claimBy: Timestamp?
    /// With `open`: when the hold goes back unless it is committed or kept.
    public var releaseAt: Timestamp?
    public var card: MaskedCard?

    public init(id: TransactionID, lane: String, tap: Int64, mode: StandingMode, state: State, amount: Money) {
        (self.id, self.lane, self.tap, self.mode) = (id, lane, tap, mode)
        (self.state, self.amount) = (state, amount)
    }
}

public struct SessionList: Codable, Equatable, Sendable {
    public var sessions: [Session]

    public init(sessions: [Session]) { self.sessions = sessions }
}

/// A lane that stands alone, as it is now.
public struct StandingLane: Codable, Equatable, Sendable {
    public var lane: String
    public var mode: StandingMode
    /// Whether it takes taps.
    public var armed: Bool
    /// What a tap asks for; `nil` where passes are read.
    public var amount: Money?
    /// The most that a machine may ask for; `nil` where passes are read.
    public var maximum: Money?
    /// Number of the latest tap; 0 for none.
    public var tap: Int64
    /// Sessions whose money may still move.
    public var open: [TransactionID]

    public init(lane: String, mode: StandingMode, armed: Bool, tap: Int64, open: [TransactionID]) {
        (self.lane, self.mode, self.armed, self.tap, self.open) = (lane, mode, armed, tap, open)
    }
}
