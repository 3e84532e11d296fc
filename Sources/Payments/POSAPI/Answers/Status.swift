// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// Answer of `GET /v1/status`. It has a stored property for each member.
public struct Status: Codable, Equatable, Sendable {
    public enum Terms: String, Codable, CaseIterable, Sendable {
        /// Test mode needs no acceptance.
        case notRequired
        case notAccepted, accepted, revoked
    }

    public struct AdapterLink: Codable, Equatable, Sendable {
        public enum State: String, Codable, CaseIterable, Sendable {
            /// Not asked yet.
            case unknown
            case up, down
        }

        public var state: State
        /// When the adapter was last asked.
        public var checkedAt: Timestamp?

        public init(state: State, checkedAt: Timestamp? = nil) {
            self.state = state
            self.checkedAt = checkedAt
        }
    }

    public struct Queue: Codable, Equatable, Sendable {
        /// Transactions that wait to be forwarded; `nil` where that cannot be read, for which `error` has the reason. It
        /// is never 0 for want of knowledge.
        public var stored: Int?
        /// When the oldest of them was stored.
        public var oldest: Timestamp?
        /// The oldest waits for longer than it should.
        public var overdue: Bool?
        /// Reversals that the adapter has not acknowledged.
        public var reversals: Int
        /// What keeps the queue from being read, in part or as a whole: nothing of it may be forwarded.
        public var error: ErrorDetail?

        public init(stored: Int?, reversals: Int) {
            self.stored = stored
            self.reversals = reversals
        }
    }

    public struct Journal: Codable, Equatable, Sendable {
        /// A sale could be written down now: tried a few seconds ago at most.
        public var writable: Bool
        /// Payments that are not as they were written, and are left alone: their ids, or `row N` where that is unreadable.
        public var damaged: [String]
        /// What is wrong with the file or its disk.
        public var error: ErrorDetail?
        /// What that is, and what to do, in words for an administrator: the same as in the log.
        public var cause: String?
        /// When the whole file was last looked at.
        public var examinedAt: Timestamp?
        /// The first things that the last verification of the audit chain found, in words; empty where it holds, missing before the
        /// first one.
        public var auditFaults: [String]?

        public init(writable: Bool, damaged: [String]) {
            self.writable = writable
            self.damaged = damaged
        }
    }

    /// What backends far away have begun, and were refused, since the daemon started.
    public struct Remote: Codable, Equatable, Sendable {
        public var started = 0
        public var refused = 0
        public var lastStart: Timestamp?
        public var lastRefusal: Timestamp?
        /// Of the last refusal.
        public var lastCode: String?

        public init() {}
    }

    public var mode: Mode
    public var version: String
    /// At least one lane can take a transaction now, and it could be written down.
    public var ready: Bool
    /// Requests are accepted, be it to wait.
    public var accepting: Bool
    public var terms: Terms
    /// Where an administrator can accept them on any device; missing where nothing is to be accepted, or the payment service has no
    /// page for it.
    public var termsPage: String?
    /// The profile in force; missing where there is none.
    public var profile: ProfileStatus?
    /// Networks whose cards are taken, by name: what the profile declares, else those of the terminal's applications. Missing
    /// from daemons that do not say it.
    public var networks: [String]?
    /// Terminals of the payment service that a payment can be handed to; missing where there is none.
    public var terminals: [String]?
    /// The payment service sends receipts to an address that a customer gives; missing where it does not.
    public var sendsReceipts: Bool?
    /// Why the latest profile that was fetched is not used. The one before it stays in force.
    public var profileError: ErrorDetail?
    /// Keys of the payment service that card data is not sealed to; missing where there is none.
    public var refusedKeys: [RefusedKey]?
    /// What keeps every payment from being taken, with what to do about it; only in live mode.
    public var blocked: ErrorDetail?
    public var lanes: [LaneStatus]
    public var queue: Queue
    /// Payments that a person has to look after; missing where the journal cannot say.
    public var openItems: OpenItemExtent?
    public var psp: AdapterLink
    /// Whether the machine's clock is believed.
    public var clock: ClockStatus?
    /// Name of this installation for support, stable over restarts.
    public var support: String
    /// The books; missing from daemons that do not look.
    public var journal: Journal?
    /// Missing where no backend may start anything.
    public var remote: Remote?
    /// Which configuration is in force.
    public var configuration: ConfigurationStatus?

    public init(
        mode: Mode, version: String, ready: Bool, accepting: Bool, terms: Terms, lanes: [LaneStatus], queue: Queue,
        psp: AdapterLink, support: String
    ) {
        self.mode = mode
        self.version = version
        self.ready = ready
        self.accepting = accepting
        self.terms = terms
        self.lanes = lanes
        self.queue = queue
        self.psp = psp
        self.support = support
    }
}
