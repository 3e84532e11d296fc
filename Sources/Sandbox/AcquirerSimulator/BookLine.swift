// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// One line of the host's book: something that was decided, before anybody was told. The book is the sum of its lines. A stored property
/// for each member of the line of JSON.
public struct BookLine: Codable, Equatable, Sendable {
    public enum Event: String, Codable, Sendable {
        /// 0100: held, until an advice takes it.
        case authorization
        /// 0200, debit or credit.
        case sale
        /// 0220: takes what was held, or tells of what the card has approved.
        case advice
        case reversal
        case reconciliation
        /// Sign-on, sign-off or echo, by the code in `code`.
        case network
        /// Came again, and was answered as before.
        case again
        /// No message, or one that this host does not serve.
        case refused
    }

    /// From 1, without gaps.
    public var number = 0
    /// RFC 3339, in UTC.
    public var at: String
    public var event: Event
    /// As the message has it, four digits.
    public var type: String
    /// Fields 11, 7 (1993: 12) and 32.
    public var trace: String?
    public var time: String?
    public var acquirer: String?
    /// Fields 41, 42 and 37 without blanks.
    public var terminal: String?
    public var merchant: String?
    public var reference: String?
    public var lastFour: String?
    /// Minor units: what was asked, and what was booked.
    public var amount: UInt64?
    public var booked: UInt64?
    /// ISO 4217, numeric.
    public var currency: String?
    public var isCredit: Bool?
    /// Field 39 as in 1987.
    public var code: String?
    public var approval: String?
    /// What became of 9F26.
    public var cryptogram: String?
    /// What was done wrong on purpose.
    public var fault: String?
    /// Of a reversal or an advice: the line that it is about.
    public var original: Int?
    /// Of a reversal whose original is not there: four digits of its type, trace, time and acquirer.
    public var stopped: String?
    /// Of a reversal: what stays booked.
    public var remains: UInt64?
    /// Of a reconciliation: whether its sums are those of this book.
    public var isInBalance: Bool?

    init(at: String, event: Event, type: String) {
        self.at = at
        self.event = event
        self.type = type
    }

    /// One line of JSON without its end.
    public var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Numbers and texts are all there is.
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    /// `nil` for a line that is none.
    public init?(json: some Sequence<UInt8>) {
        guard let line = try? JSONDecoder().decode(BookLine.self, from: Data(json)) else { return nil }
        self = line
    }
}
