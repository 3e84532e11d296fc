// SPDX-License-Identifier: Apache-2.0
/// What a customer agrees to when a card is stored, or later: the text as it was shown, and its bounds. Never altered; it
/// ends.
public struct AgreementTerms: Equatable, Sendable {
    /// For what the card may be charged.
    public enum Kind: String, Codable, CaseIterable, Sendable {
        /// At a regular interval, until it ends.
        case recurring
        /// Parts of one price.
        case instalment
        /// Without a regular interval.
        case unscheduled
        /// What a stay or a rental has cost beyond what was paid.
        case delayedCharge
        /// For a guest who did not come.
        case noShow
    }

    /// How often at most a recurring agreement is charged: for the customer to read, and kept as a part of the terms.
    public enum Cycle: String, Codable, CaseIterable, Sendable {
        case daily, weekly, monthly, quarterly, yearly
    }

    public var kind: Kind
    /// As it was shown.
    public var text: String
    /// Of the text, BCP 47.
    public var language: String
    /// A charge is at most this.
    public var maximum: Money?
    /// No charge from then on.
    public var until: Timestamp?
    public var cycle: Cycle?
    /// The first charge that is approved ends it: a tab. Has `maximum` and `until`.
    public var once: Bool?

    public init(
        _ kind: Kind, text: String, language: String, maximum: Money? = nil, until: Timestamp? = nil,
        cycle: Cycle? = nil, once: Bool? = nil
    ) {
        self.kind = kind
        self.text = text
        self.language = language
        self.maximum = maximum
        self.until = until
        self.cycle = cycle
        self.once = once
    }
}

extension AgreementTerms: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case kind, text, language, maximum, until, cycle, once
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.strictContainer(keyedBy: CodingKeys.self)
        kind = try members.decode(Kind.self, forKey: .kind)
        text = try members.decode(String.self, forKey: .text)
        language = try members.decode(String.self, forKey: .language)
        maximum = members.contains(.maximum) ? try members.decode(Money.self, forKey: .maximum) : nil
        until = members.contains(.until) ? try members.decode(Timestamp.self, forKey: .until) : nil
        cycle = members.contains(.cycle) ? try members.decode(Cycle.self, forKey: .cycle) : nil
        once = members.contains(.once) ? try members.decode(Bool.self, forKey: .once) : nil
        guard text.isAgreementText else { throw decoder.refusal(.requestInvalidField, at: CodingKeys.text) }
        guard language.isReference(upTo: Limits.languageLength) else {
            throw decoder.refusal(.requestInvalidField, at: CodingKeys.language)
        }
        if let maximum, let code = maximum.refusalAsTotal {
            throw decoder.refusal(code, at: CodingKeys.maximum)
        }
        if cycle != nil, kind != .recurring {
            throw decoder.refusal(.requestFieldNotApplicable, at: CodingKeys.cycle)
        }
        guard once == true else { return }
        // What comes again and again does not end with the first time.
        guard kind != .recurring, kind != .instalment else {
            throw decoder.refusal(.requestFieldNotApplicable, at: CodingKeys.once)
        }
        for (isThere, key) in [(maximum != nil, CodingKeys.maximum), (until != nil, .until)] where !isThere {
            throw decoder.refusal(.requestMissingField, at: key)
        }
    }
}

extension String {
    /// Something that a person can read: not blank, and without control characters but line breaks and tabs.
    fileprivate var isAgreementText: Bool {
        (1...Limits.agreementLength).contains(unicodeScalars.count)
            && unicodeScalars.contains { !$0.properties.isWhitespace }
            && unicodeScalars.allSatisfy {
                $0.value >= 0x20 && $0.value != 0x7F || [0x09, 0x0A, 0x0D].contains($0.value)
            }
    }
}
