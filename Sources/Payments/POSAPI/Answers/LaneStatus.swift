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

    public var name: String
    public var state: State
    /// Missing while the reader is detached.
    public var reader: Reader?
    public var holder: Holder?
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
