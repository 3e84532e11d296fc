// SPDX-License-Identifier: Apache-2.0
public import CardBytes
public import Envelope
public import ReaderCore

/// Why a tap has no result. What a card can do by itself is an outcome, not an error.
public enum PaymentTapError: Error, Equatable, Sendable {
    /// No card in time, a wish to stop, or a reader that does not work.
    case reader(ReaderError)
    /// Told before any card is asked for: the PSP's key is not valid now.
    case recipient(RecipientKeyError)
    /// The recipient's key cannot be sealed to.
    case sealing(EnvelopeError)
    /// The kernel wants to go online, or approved, without a card number in its data record.
    case incompleteRecord
    /// The scheme's hosts refuse what was read without this object (`HostData`), so that it is not sent at all.
    case missingHostData(Tag)
}

extension PaymentTapError {
    /// Nobody came, or nobody is wanted any more: nothing is wrong.
    var isEndOfWaiting: Bool { self == .reader(.timedOut) || self == .reader(.cancelled) }
}

extension PaymentTapError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .reader(let error): error.description
        case .recipient(let error): "PSP key: \(error)"
        case .sealing(let error): "envelope: \(error)"
        case .incompleteRecord: "card gave no card number"
        case .missingHostData(let tag): "\(tag) is missing, without which the scheme's hosts refuse the payment"
        }
    }
}
