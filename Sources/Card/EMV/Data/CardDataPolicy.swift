// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// What a kernel does with the odd objects of a card's answer. Unknown tags are stored.
public struct CardDataPolicy: Sendable {
    public enum Duplicates: Sendable {
        /// A primitive object that the card sent before ends the reading, save these tags.
        case reject(except: [Tag])
        /// As `reject`, and an object that came empty before may be filled.
        case rejectUnlessEmpty
        /// A repetition has to have the same value.
        case rejectUnlessIdentical
        /// The first one counts.
        case keepFirst
    }

    public var duplicates: Duplicates
    /// Objects that the terminal or the kernel sets: refused, or else left out.
    public var rejectsReservedTags: Bool
    /// Known objects of a wrong length are refused.
    public var checksLengths: Bool
    /// Where a card's object may stand and how long it may be, for a kernel that says so; `nil` of the closure for an
    /// object that the kernel does not know. Of those the first is kept, and no rule is broken by more of them.
    var rules: (@Sendable (Tag) -> CardObjectRule?)?

    public init(duplicates: Duplicates, rejectsReservedTags: Bool = false, checksLengths: Bool = false) {
        self.duplicates = duplicates
        self.rejectsReservedTags = rejectsReservedTags
        self.checksLengths = checksLengths
    }
}

/// The templates and the lengths in which a kernel takes an object of a card.
struct CardObjectRule: Sendable {
    struct Templates: OptionSet, Sendable {
        let rawValue: UInt8

        /// 6F.
        static let fci = Templates(rawValue: 1 << 0)
        /// A5.
        static let proprietary = Templates(rawValue: 1 << 1)
        /// BF0C.
        static let discretionary = Templates(rawValue: 1 << 2)
        /// 77, and the values of an answer in 80.
        static let answer = Templates(rawValue: 1 << 3)
        /// 70.
        static let record = Templates(rawValue: 1 << 4)
    }

    let templates: Templates
    let lengths: ClosedRange<Int>
}
