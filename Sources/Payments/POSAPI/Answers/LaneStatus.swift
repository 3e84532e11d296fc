// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// A lane: one reader, one transaction at a time.
public struct LaneStatus: Codable, Equatable, Sendable {
    public enum State: String, Codable, CaseIterable, Sendable {
        case preparing, ready, busy, detached, faulty
    }

    public struct Reader: Codable, Equatable, Sendable {
        public var name: String
        public var model: String
        /// `pcsc`, `libnfc`, `virtual` or `replay`.
        public var driver: String
        public var firmware: String?
        public var serial: String?
        /// The oldest firmware that the payment service accepts, where that of this reader is older.
        public var minimumFirmware: String?

        public init(name: String, model: String, driver: String, firmware: String? = nil, serial: String? = nil) {
            self.name = name
            self.model = model
            self.driver = driver
            self.firmware = firmware
            self.serial = serial
        }
    }

    /// Who holds the lane, and since when.
    public struct Holder: Codable, Equatable, Sendable {
        public var transaction: TransactionID
        public var uid: UInt32
        /// With a till that a gateway speaks for.
        public var till: TillName?
        public var since: Timestamp
        /// When the card has to be there at the latest; missing until the lane is armed.
        public var until: Timestamp?

        public init(transaction: TransactionID, of owner: Principal, since: Timestamp) {
            self.transaction = transaction
            (uid, till) = (owner.uid, owner.till)
            self.since = since
        }

        public var owner: Principal { Principal(uid: uid, till: till) }
    }

    /// Where the time of a tap went, each part in microseconds and from the end of the one before.
    public struct Tap: Codable, Equatable, Sendable {
        public var transaction: TransactionID
        public var uid: UInt32
        /// With a till that a gateway speaks for.
        public var till: TillName?
        /// When the card had been read.
        public var at: Timestamp
        /// From the card's first answer until what it gave was read and sealed: card, air and terminal.
        public var card: UInt64
        /// The least that the bytes of commands and answers take on the air at 106 kbit/s. It is a part of `card`, but of a card that
        /// agreed on a faster rate, or is simulated.
        public var air: UInt64
        /// Until the request left for the payment service; missing where none did.
        public var sending: UInt64?
        /// Until the payment service's answer; missing where none came.
        public var service: UInt64?

        public init(transaction: TransactionID, of owner: Principal, at: Timestamp, card: UInt64, air: UInt64) {
            self.transaction = transaction
            (uid, till) = (owner.uid, owner.till)
            self.at = at
            self.card = card
            self.air = air
        }

        public var owner: Principal { Principal(uid: uid, till: till) }
    }

    public var name: String
    public var state: State
    /// Missing while the reader is detached.
    public var reader: Reader?
    public var holder: Holder?
    /// Since the daemon started.
    public var lastTap: Tap?
    /// Groups that the lane belongs to.
    public var groups: [String]?
    /// Types of transaction that the lane can do.
    public var features: [TransactionType]
    /// A phone shows the right pass by itself on this reader, because the reader asks for it while it polls.
    public var passAutoSelect = false
    /// Why it is not ready.
    public var error: ErrorDetail?
    /// What is to be done about the reader, though it is ready.
    public var notice: ErrorDetail?

    public init(name: String, state: State, features: [TransactionType]) {
        self.name = name
        self.state = state
        self.features = features
    }
}

/// Answer of `GET /v1/lanes`.
public struct LaneList: Codable, Equatable, Sendable {
    public var lanes: [LaneStatus]

    public init(lanes: [LaneStatus]) { self.lanes = lanes }
}
