// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// What a kernel does with the odd objects of a card's answer. Unknown tags are always stored.
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

    public init(duplicates: Duplicates, rejectsReservedTags: Bool = false, checksLengths: Bool = false) {
        self.duplicates = duplicates
        self.rejectsReservedTags = rejectsReservedTags
        self.checksLengths = checksLengths
    }
}
