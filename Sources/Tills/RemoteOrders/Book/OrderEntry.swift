// SPDX-License-Identifier: Apache-2.0
package import PaymentValues

/// What is known of one order, as it stands on the disk.
///
/// It has a stored property for each thing that must survive the end of the program.
package struct OrderEntry: Codable, Equatable, Sendable {
    package enum Kind: String, Codable, CaseIterable, Sendable {
        case start, cancel, report
        /// An order that was cancelled before it came: it never begins.
        case tomb
    }

    /// How an order ended that the daemon has no transaction for, and what a cancel or a report came to.
    package struct Outcome: Codable, Equatable, Sendable {
        /// An error's code; the others are `nil` then.
        package var code: String?
        package var isRetryable: Bool?
        /// `cancelled`, `tooLate`, `nothingToCancel`, `unknown`.
        package var outcome: String?
        package var neverBegan: Bool?
        package var state: TransactionState?
        package var becomesReversal: Bool?

        package static func refused(_ code: String, isRetryable: Bool = false) -> Outcome {
            Outcome(code: code, isRetryable: isRetryable)
        }

        package static let neverBegan = Outcome(outcome: "cancelled", neverBegan: true)
    }

    package var key: OrderKey
    package var kind: Kind
    package var digest: String
    package var keyID: String
    /// Seconds since 1970.
    package var takenAt: Int64
    package var expires: Int64
    package var life: Int64
    /// With a start.
    package var start: Order.Start?
    /// With a cancel and a report: the other order's id.
    package var of: String?
    /// The daemon's name for it.
    package var transaction: String?
    /// A cancel has come for it.
    package var isWithdrawn = false
    package var outcome: Outcome?
    /// As it was read last.
    package var state: TransactionState?
    /// Of the last result that was sent, or was about to be.
    package var seq = 0
    /// What that result says.
    package var said: String?
    /// The backend has taken it.
    package var isHeard = false

    package init(_ order: Order, takenAt: Int64) {
        key = order.key
        digest = order.digest
        keyID = order.keyID
        self.takenAt = takenAt
        expires = order.expires
        life = order.life
        switch order.purpose {
        case .start(let start):
            kind = .start
            self.start = start
        case .cancel(let other):
            kind = .cancel
            of = other
        case .report(let other):
            kind = .report
            of = other
        }
    }

    /// An order that was cancelled before it came.
    init(tombOf key: OrderKey, by cancel: Order, at now: Int64) {
        self.init(cancel, takenAt: now)
        self.key = key
        kind = .tomb
        digest = ""
        of = nil
        isHeard = true
    }

    /// Money may have been asked for by it: it counts for the day.
    var counts: Bool {
        guard kind == .start, outcome == nil else { return false }
        switch state {
        case .declined, .cancelled, .failed, .reversed, .completed: return false
        case nil, .created, .preparing, .armed, .reading, .sealed, .sent, .approved, .stored, .unknown, .reversing,
            .delivered:
            return true
        }
    }
}

extension TransactionState {
    /// A backend hears of it: the reader waits for the card, or it has ended.
    var isToldOf: Bool { self == .armed || isSettled }

    /// A state that has ended, and may yet become something else.
    var mayChange: Bool {
        switch self {
        case .approved, .stored, .reversing: true
        case .created, .preparing, .armed, .reading, .sealed, .sent, .unknown, .declined, .cancelled, .failed,
            .reversed,
            .delivered, .completed:
            false
        }
    }
}
