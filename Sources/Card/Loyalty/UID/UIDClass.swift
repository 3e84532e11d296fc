// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// What a type A UID is good for (ISO/IEC 14443-3 §6.5.4).
public enum UIDClass: Equatable, Sendable {
    /// 7 bytes, given by the chip's maker (first byte; 04 is NXP).
    case fixed(manufacturer: UInt8)
    /// 10 bytes.
    case triple
    /// 4 bytes that may occur on more than one card.
    case mayRepeat
    /// 4 bytes, the first 08: another one in every field session, as every phone does.
    case random
    /// No complete UID: another length, or a cascade tag in front.
    case invalid

    public init(_ uid: [UInt8]) {
        switch uid.count {
        case 4 where uid[0] == 0x08: self = .random
        case 4 where uid[0] == 0x88: self = .invalid
        case 4: self = .mayRepeat
        case 7 where uid[0] == 0x88: self = .invalid
        case 7: self = .fixed(manufacturer: uid[0])
        case 10: self = .triple
        default: self = .invalid
        }
    }
}

/// Why a card's identifier is refused as a member number.
public enum UIDRefusal: Equatable, Sendable {
    /// The reader does not tell it.
    case unknown
    /// Changes with each presentation.
    case random
    /// Other cards may have the same, and the programme does not accept that.
    case mayRepeat
    /// Type B cards and anything that is no UID.
    case notAnIdentifier
    /// The card can pay, or does not say clearly that it cannot: whoever keeps its UID could follow a payment card.
    case paymentCard
}

/// How a programme turns a UID into a member number.
public struct UIDMembership: Equatable, Sendable {
    public enum Format: Equatable, Sendable {
        /// Upper-case digits.
        case hexadecimal
        /// Of the whole UID as one big-endian number.
        case decimal
    }

    public var format: Format
    /// Last byte first.
    public var isReversed: Bool
    /// Padded on the left with zeros to this many digits.
    public var minimumDigits: Int
    /// 4-byte UIDs count as well.
    public var acceptsRepeating: Bool

    public init(
        format: Format = .hexadecimal, isReversed: Bool = false, minimumDigits: Int = 0, acceptsRepeating: Bool = false
    ) {
        self.format = format
        self.isReversed = isReversed
        self.minimumDigits = minimumDigits
        self.acceptsRepeating = acceptsRepeating
    }

    /// The member number, ASCII digits, or why there is none.
    public func memberNumber(of card: CardActivation) -> UIDMemberNumber {
        guard card.technology != .typeB else { return .refused(.notAnIdentifier) }
        guard !card.uid.isEmpty else { return .refused(.unknown) }
        switch UIDClass(card.uid) {
        case .random: return .refused(.random)
        case .invalid: return .refused(.notAnIdentifier)
        case .mayRepeat where !acceptsRepeating: return .refused(.mayRepeat)
        case .mayRepeat, .fixed, .triple: return .number(SecretBytes(digits(card.uid)))
        }
    }

    private func digits(_ uid: [UInt8]) -> [UInt8] {
        let bytes = isReversed ? uid.reversed() : uid
        let text =
            switch format {
            case .hexadecimal: Hex.string(bytes)
            case .decimal: String(bytes.reduce(UInt128(0)) { $0 << 8 | UInt128($1) })
            }
        let missing = max(0, min(minimumDigits, 64) - text.utf8.count)
        return [UInt8](repeating: UInt8(ascii: "0"), count: missing) + Array(text.utf8)
    }
}

/// What `UIDMembership` makes of a card.
public enum UIDMemberNumber: Sendable {
    case number(SecretBytes)
    case refused(UIDRefusal)
}
