// SPDX-License-Identifier: Apache-2.0
public import Codes

/// What a till asks for, whatever its protocol.
public struct TillOrder: Hashable, Codable, Sendable {
    public enum Kind: String, Hashable, Codable, Sendable, CaseIterable {
        case sale, refund
        /// The sum is held; a booking takes it, or a part of it, or gives it up.
        case reservation
        /// A card is read before its till has asked for a reservation. It becomes one when the till does, else it is given up.
        case read
    }

    public var kind: Kind
    /// In minor units.
    public var amount: Int64
    public var currency: CurrencyCode
    /// The till's own name for this sale; `nil` if its protocol has none that is certain. Two orders with one identity are
    /// one sale asked for twice. Two orders without one are two sales, however equal they are.
    public var identity: String?

    public init(kind: Kind, amount: Int64, currency: CurrencyCode, identity: String? = nil) {
        self.kind = kind
        self.amount = amount
        self.currency = currency
        self.identity = identity
    }

    /// The same sale, asked for again.
    func isRepeat(of other: TillOrder) -> Bool { identity != nil && self == other }

    private enum CodingKeys: String, CodingKey {
        case kind, amount, currency, identity
    }

    /// - Throws: `DecodingError` for a currency that is on no list.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        kind = try members.decode(Kind.self, forKey: .kind)
        amount = try members.decode(Int64.self, forKey: .amount)
        guard let currency = CurrencyCode(try members.decode(String.self, forKey: .currency)) else {
            throw DecodingError.dataCorruptedError(forKey: .currency, in: members, debugDescription: "no currency")
        }
        self.currency = currency
        identity = try members.decodeIfPresent(String.self, forKey: .identity)
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(kind, forKey: .kind)
        try members.encode(amount, forKey: .amount)
        try members.encode(currency.letters, forKey: .currency)
        try members.encodeIfPresent(identity, forKey: .identity)
    }
}

/// A payment that was approved, with what a till may know of it. The card number is masked before it comes here.
public struct TillApproval: Codable, Equatable, Sendable {
    public var amount: Int64
    /// Digits, with `*` for each that is hidden.
    public var maskedCard: String?
    public var authorisation: String?
    /// Hexadecimal.
    public var aid: String?
    public var network: TillNetwork?
    public var reference: String
    /// The date and time on the terminal's receipt.
    public var time: TillTime?
    /// Receipts for the till's printer, line by line; the merchant's first.
    public var receipts: [TillReceipt]
    /// Milliseconds since the approval, when it was heard of.
    public var age: Int64 = 0

    /// Not what holds for one moment only.
    private enum CodingKeys: String, CodingKey {
        case amount, maskedCard, authorisation, aid, network, reference, time, receipts
    }

    public init(
        amount: Int64, maskedCard: String? = nil, authorisation: String? = nil, aid: String? = nil,
        network: TillNetwork? = nil, reference: String, time: TillTime? = nil, receipts: [TillReceipt] = []
    ) {
        self.amount = amount
        self.maskedCard = maskedCard
        self.authorisation = authorisation
        self.aid = aid
        self.network = network
        self.reference = reference
        self.time = time
        self.receipts = receipts
    }
}

public struct TillReceipt: Codable, Equatable, Sendable {
    public enum Copy: UInt8, Codable, Sendable {
        case merchant = 1
        case customer = 2
    }

    public var copy: Copy
    public var lines: [String]

    public init(copy: Copy, lines: [String]) {
        self.copy = copy
        self.lines = lines
    }
}

/// Local time, since that is what stands on a receipt.
public struct TillTime: Codable, Equatable, Sendable {
    public var month: UInt8
    public var day: UInt8
    public var hour: UInt8
    public var minute: UInt8
    public var second: UInt8

    public init(month: UInt8, day: UInt8, hour: UInt8, minute: UInt8, second: UInt8) {
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
    }
}

/// The value is the name that stands on receipts.
public enum TillNetwork: String, Codable, Sendable, CaseIterable {
    case girocard
    case mastercard = "Mastercard"
    case amex = "American Express"
    case visa = "Visa"
    case diners = "Diners Club"
    case vPay = "V PAY"
    case jcb = "JCB"
    case maestro = "Maestro"
    case unionPay = "UnionPay"
    case discover = "Discover"
    case cartesBancaires = "CB"
}

/// Why a till gets no money.
public struct TillRefusal: Codable, Equatable, Sendable {
    public enum Reason: String, Codable, Sendable, CaseIterable {
        case declined, callIssuer, notPermitted, notAccepted, expiredCard, limitExceeded, otherInterface
        case cancelledByCustomer, cancelledByOperator, deadline
        case busy, readerGone, serviceAway, hostTimeout, currency, amount, failed
        /// It may have been approved, and is being taken back.
        case takenBack
    }

    public var reason: Reason
    /// The issuer's own code, 1 to 99, where it may be told.
    public var hostCode: UInt8?
    /// A line for people, in the till's language.
    public var text: String?
    /// Of the card that was read, hexadecimal.
    public var aid: String?

    public init(_ reason: Reason, hostCode: UInt8? = nil, text: String? = nil, aid: String? = nil) {
        self.reason = reason
        self.hostCode = hostCode
        self.text = text
        self.aid = aid
    }
}

/// How a payment ended. There is no outcome "unknown": until it is settled, nothing is told.
public enum TillOutcome: Equatable, Sendable {
    case approved(TillApproval)
    /// Certainly not paid, or its reversal has begun.
    case notPaid(TillRefusal)
}
