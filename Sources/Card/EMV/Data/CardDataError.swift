// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Why a card's answer cannot be taken into the data store.
public enum CardDataError: Error, Equatable, Sendable {
    case malformed(TLVError)
    /// A primitive object is there already.
    case duplicate(Tag)
    /// The card sent an object that is the terminal's to set.
    case reservedTag(Tag)
    /// The value of a known object has a length that its dictionary row does not allow.
    case wrongLength(Tag)
    /// A known object stands in a template where it does not belong.
    case misplaced(Tag)
    /// The answer is none of the templates that the command may return.
    case wrongTemplate
    /// More objects than any card has: a card that never ends.
    case tooManyObjects
}
