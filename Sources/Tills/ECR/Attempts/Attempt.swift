// SPDX-License-Identifier: Apache-2.0

/// The `Idempotency-Key` of an attempt: `ecr-<lane>-<installation>-<counter>`. It comes from a counter that never goes back and
/// from nothing in the request: two coffees at one price are the same bytes as one coffee asked for twice, so that a key made
/// of the content would turn the second customer's coffee into a repeat of the first.
public struct AttemptKey: Hashable, Codable, Sendable, CustomStringConvertible {
    public let text: String

    public init(lane: String, installation: String, counter: UInt64) {
        text = "ecr-\(AttemptKey.visible(lane))-\(AttemptKey.visible(installation))-\(counter)"
    }

    /// As a ledger keeps it.
    public init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    public var description: String { text }

    /// A header takes visible ASCII characters; whatever else stands in a lane's name is written as its number.
    private static func visible(_ name: String) -> String {
        name.unicodeScalars.reduce(into: "") { text, scalar in
            let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
            text += isPlain || scalar == "." ? String(scalar) : "_\(scalar.value)_"
        }
    }
}

/// One payment that a till has asked for, as the ledger keeps it.
public struct Attempt: Codable, Equatable, Sendable {
    public enum Phase: String, Codable, Sendable, CaseIterable {
        /// The daemon was asked, or is about to be.
        case running
        /// Nobody waits for it any more, or the till was told "not paid": an approval is taken back.
        case givenUp
        case approved
        /// The till is being told of the approval. Whether it knows is not certain.
        case telling
        /// The till knows of the approval; the daemon has to hear of it.
        case told
        case confirmed
        /// The daemon has to take the approval back.
        case takingBack
        case takenBack
        case notPaid
        /// The till has asked for a reversal of what was confirmed.
        case reversing
        case reversed

        /// The lane is not free for another one.
        var isOpen: Bool {
            switch self {
            case .running, .givenUp, .approved, .telling: true
            case .told, .confirmed, .takingBack, .takenBack, .notPaid, .reversing, .reversed: false
            }
        }

        /// The till has been told "paid", and it is.
        public var isPaid: Bool { self == .told || self == .confirmed }
    }

    public let key: AttemptKey
    public let number: UInt64
    public internal(set) var order: TillOrder
    /// The till's address, as far as its protocol has one: only the same one can reverse it.
    public let peer: String
    /// Of a refund: the day on which it was asked for, as `TillInput.day` says it.
    public let day: UInt32?
    public internal(set) var phase: Phase
    public internal(set) var approval: TillApproval?
    public internal(set) var refusal: TillRefusal?
    /// Of a reservation.
    public internal(set) var booking: Booking?
    /// The number of the reversal that was asked for last.
    public internal(set) var reversal: UInt64?
    /// On the machine's clock, in milliseconds.
    public internal(set) var settledAt: Int64?

    /// Not the moment on a clock that starts anew with the machine.
    private enum CodingKeys: String, CodingKey {
        case key, number, order, peer, day, phase, approval, refusal, booking, reversal
    }

    public init(
        key: AttemptKey, number: UInt64, order: TillOrder, peer: String, day: UInt32? = nil, phase: Phase = .running
    ) {
        self.key = key
        self.number = number
        self.order = order
        self.peer = peer
        self.day = day
        self.phase = phase
    }

    /// 1 to 9999, then again from 1.
    public var receipt: UInt64 { Attempt.receipt(of: number) }
    /// 1 to 999999, then again from 1.
    public var trace: UInt64 { Attempt.trace(of: number) }

    /// Of its own number and those of what followed it.
    public var highest: UInt64 { max(number, booking?.number ?? 0, reversal ?? 0) }

    /// Receipts are printed again for the last payment only.
    public mutating func dropReceipts() { approval?.receipts = [] }

    /// Those of an earlier state of the same attempt, where this one has none.
    public mutating func keepReceipts(of earlier: Attempt?) {
        if approval?.receipts.isEmpty == true { approval?.receipts = earlier?.approval?.receipts ?? [] }
    }

    /// The till holds a sum with it that nobody has booked yet.
    public var isHeld: Bool { order.kind == .reservation && phase.isPaid && booking?.phase != .done }

    static func receipt(of number: UInt64) -> UInt64 { (max(number, 1) - 1) % 9_999 + 1 }
    static func trace(of number: UInt64) -> UInt64 { (max(number, 1) - 1) % 999_999 + 1 }
}

/// What a till has made of a reservation: an operation of its own, with a key, a receipt and a trace of its own.
public struct Booking: Codable, Equatable, Sendable {
    public enum Phase: String, Codable, Sendable, CaseIterable {
        case asked, done
        /// The reservation stands as it was.
        case refused
    }

    public let key: AttemptKey
    public let number: UInt64
    /// What the shop gets, in minor units; the rest goes back to the holder. 0 gives all of it back.
    public let amount: Int64
    public internal(set) var phase: Phase
    /// When it was done.
    public internal(set) var time: TillTime?

    public init(key: AttemptKey, number: UInt64, amount: Int64, phase: Phase = .asked) {
        self.key = key
        self.number = number
        self.amount = amount
        self.phase = phase
    }
}
