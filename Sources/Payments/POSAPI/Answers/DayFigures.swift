// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// What the payment service says of a day that was closed.
public struct ServiceFigures: Codable, Equatable, Sendable {
    /// How often it was asked.
    public var attempts: Int
    /// When it is asked again; missing once it has given its figures, or is asked no more.
    public var next: Timestamp?
    /// Its own name for the reconciliation.
    public var reference: String?
    /// As it gave them; missing as long as it has given none.
    public var lines: [FigureLine]?
    /// Its word disagrees with its own figures, or its figures with what they are of.
    public var contradiction: Bool?
    /// How many movements of money of the day belong to another payment service, which was not asked.
    public var elsewhere: Int?

    public init(
        attempts: Int = 0, next: Timestamp? = nil, reference: String? = nil, lines: [FigureLine]? = nil,
        contradiction: Bool? = nil, elsewhere: Int? = nil
    ) {
        self.attempts = attempts
        self.next = next
        self.reference = reference
        self.lines = lines
        self.contradiction = contradiction
        self.elsewhere = elsewhere
    }
}

/// A line in which the payment service's figures are not the journal's.
public struct DayDifference: Codable, Equatable, Sendable {
    public var mode: Mode
    public var currency: Currency
    public var scheme: String?
    public var kind: FigureLine.Kind
    public var ours: Figure
    public var theirs: Figure
    /// What the sums differ by, at most `Limits.differenceItems`; missing where the payment service has not named what its
    /// figures are of.
    public var items: [DifferenceItem]?
    /// How many those are in all.
    public var itemCount: Int?

    public init(
        mode: Mode, currency: Currency, scheme: String?, kind: FigureLine.Kind, ours: Figure, theirs: Figure,
        items: [DifferenceItem]? = nil, itemCount: Int? = nil
    ) {
        self.mode = mode
        self.currency = currency
        self.scheme = scheme
        self.kind = kind
        self.ours = ours
        self.theirs = theirs
        self.items = items
        self.itemCount = itemCount
    }
}

/// What only one side has, or both with another value.
public struct DifferenceItem: Codable, Equatable, Sendable {
    /// What is known here of what is missing in one of the books.
    public enum Explanation: String, Codable, CaseIterable, Sendable {
        /// No answer yet.
        case sent, unknown, unknownRefund, unknownOperation
        /// Being taken back.
        case reversing
        /// Not forwarded yet, or handed over in a batch.
        case stored, handedOver
        /// Booked here on another day, or in another line of this one.
        case otherDay, otherLine
        /// No transaction and no operation of this journal.
        case notHere
    }

    /// Of the capture or the transaction, as the side has it that knows it.
    public var id: String
    /// The payment or refund that it belongs to, where it is one of this journal.
    public var transaction: TransactionID?
    /// Minor units.
    public var ours: Int64?
    public var theirs: Int64?
    public var explanation: Explanation?

    public init(
        id: String, transaction: TransactionID? = nil, ours: Int64? = nil, theirs: Int64? = nil,
        explanation: Explanation? = nil
    ) {
        self.id = id
        self.transaction = transaction
        self.ours = ours
        self.theirs = theirs
        self.explanation = explanation
    }
}

/// What an administrator has found out about a day whose figures differ, or were never given.
public struct DayResolution: Codable, Equatable, Sendable {
    public var at: Timestamp
    public var uid: UInt32
    public var note: String

    public init(at: Timestamp, uid: UInt32, note: String) {
        self.at = at
        self.uid = uid
        self.note = note
    }
}

/// Body of `POST /v1/days/{day}/resolution`.
public struct DayResolutionRequest: Equatable, Sendable {
    /// From where that is known, for whoever asks later.
    public var note: String

    public init(note: String) { self.note = note }
}

extension DayResolutionRequest: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case note
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.strictContainer(keyedBy: CodingKeys.self)
        note = try members.decode(String.self, forKey: .note)
        guard note.isNote else { throw decoder.refusal(.requestInvalidField, at: CodingKeys.note) }
    }
}
