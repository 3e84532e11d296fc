// SPDX-License-Identifier: Apache-2.0
/// Why a lane is being prepared, and so why a tap has to wait.
public enum PrepareReason: String, Codable, CaseIterable, Sendable {
    /// The daemon has just started.
    case start
    /// The reader was connected.
    case readerAttached
    /// The machine was suspended meanwhile.
    case resume
    /// What was prepared is good for a short time only.
    case expiry
    /// Somebody asked for it, or wants to tap.
    case request
    /// It went wrong before.
    case retry
}

/// What a preparation consists of, in this order.
public enum PrepareStep: String, Codable, CaseIterable, Sendable {
    /// The reader is opened and looked at.
    case reader
    /// The adapter is asked how it is. A silent one keeps no lane from being ready: what follows from it depends on
    /// the payment.
    case adapter
    /// What the payment service allows is asked for again.
    case profile
    /// What the reader and the seal need is put together and tried.
    case terminal
}

/// Answer of `POST /v1/lanes/{lane}/prepare`; the fourth outcome is an error.
public struct PrepareAnswer: Codable, Equatable, Sendable {
    public enum Outcome: String, Codable, CaseIterable, Sendable {
        /// Nothing had to be done.
        case stillPrepared
        case prepared
        /// Goes on, whether or not anybody waits: `prepare.progress` tells how far it is.
        case configuring
    }

    public var outcome: Outcome
    /// 1…100, with `configuring` where it is known.
    public var percent: Int?
    public var lane: LaneStatus

    public init(outcome: Outcome, percent: Int? = nil, lane: LaneStatus) {
        self.outcome = outcome
        self.percent = percent
        self.lane = lane
    }
}
