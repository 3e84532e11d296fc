// SPDX-License-Identifier: Apache-2.0
package import PaymentValues

/// What of a pass may leave for an output, and what never does.
///
/// The daemon is asked for passes only, and gives no UID of a card that can pay. What it gives is judged once more, because a
/// card number typed into a tag, or a programme that takes 4-byte identifiers, is the shop's doing and not the daemon's.
package struct HubRule: Equatable, Sendable {
    /// A kind of thing that carries a pass.
    package enum Kind: String, CaseIterable, Sendable {
        case apple, google, ndef, uid
    }

    /// Why something stays. It is counted by this word, and never told with the value.
    package enum Refusal: String, CaseIterable, Equatable, Sendable {
        /// Not among the output's programmes or kinds.
        case notWanted
        /// Sealed, without a number, or longer than a member number.
        case noNumber
        /// Read again within the programme's delay, too old, or from a clock that is off.
        case notFresh
        /// 13 to 19 digits with a check digit that fits: perhaps a card's number.
        case looksLikeCard
        /// 4 bytes, which may be on another card too.
        case mayRepeat
        /// 4 bytes that change with each presentation, or a part of a longer identifier.
        case random
    }

    package enum Verdict: Equatable, Sendable {
        case leaves(HubTap)
        case stays(Refusal)
    }

    /// Ids of programmes; empty for all.
    package var programmes: Set<String> = []
    package var kinds = Set(Kind.allCases)
    /// 4-byte UIDs leave too.
    package var takesRepeating = false

    package init() {}

    /// - Parameters:
    ///   - id: the transaction; each of its passes has the programme's id behind it.
    ///   - time: when the daemon ended it.
    package func judge(
        _ entry: LoyaltyResult.Entry, id: String, lane: String, time: Timestamp
    ) -> Verdict {
        guard let pass = entry.pass else { return .stays(entry.status == .repeated ? .notFresh : .noNumber) }
        let kind = Kind(pass.carrier)
        guard programmes.isEmpty || programmes.contains(entry.id), kinds.contains(kind) else {
            return .stays(.notWanted)
        }
        guard entry.status == .delivered else { return .stays(.notFresh) }
        guard let member = pass.member, (1...HubRule.longest).contains(member.utf8.count),
            !member.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) })
        else { return .stays(.noNumber) }
        guard !HubRule.holdsCardNumber(member) else { return .stays(.looksLikeCard) }
        if kind == .uid {
            switch HubRule.shortIdentifier(member) {
            case .some(0x08), .some(0x88): return .stays(.random)
            case .some: if !takesRepeating { return .stays(.mayRepeat) }
            case nil: break
            }
        }
        return .leaves(
            HubTap(
                id: "\(id)-\(entry.id)", lane: lane, programme: entry.id, kind: kind, member: member,
                isAuthentic: pass.isAuthentic, time: time))
    }

    /// Bytes of a member number, an address or a text.
    static let longest = 1_024

    /// Whether digits stand in a text that may be a card's number (ISO/IEC 7812-1): 13 to 19 that pass its check, in one group or in
    /// several with blanks, dots or dashes between. In a longer group each part that begins as a card's number does is looked at.
    package static func holdsCardNumber(_ text: String) -> Bool {
        var groups: [[UInt8]] = [[]]
        var gap = 0
        for scalar in text.unicodeScalars {
            if let digit = digit(scalar) {
                if gap > 0 { groups.append([]) }
                groups[groups.count - 1].append(digit)
                gap = 0
            } else if separators.contains(scalar), gap < 2 {
                gap += 1
            } else {
                if holdsCardNumber(groups) { return true }
                (groups, gap) = ([[]], 0)
            }
        }
        return holdsCardNumber(groups)
    }

    private static func holdsCardNumber(_ groups: [[UInt8]]) -> Bool {
        for first in groups.indices {
            var digits: [UInt8] = []
            for group in groups[first...] {
                digits += group
                if digits.count > 19 { break }
                if digits.count >= 13, passesLuhn(digits[...]) { return true }
            }
        }
        return groups.contains { $0.count > 19 && hidesCardNumber($0) }
    }

    private static func hidesCardNumber(_ digits: [UInt8]) -> Bool {
        digits.indices.contains { start in
            (2...6).contains(digits[start])
                && [15, 16, 19].contains { length in
                    start + length <= digits.count && passesLuhn(digits[start..<(start + length)])
                }
        }
    }

    private static let separators: Set<Unicode.Scalar> = [" ", "-", ".", "\u{A0}", "\u{2010}", "\u{2011}", "\u{2013}"]

    /// Decimal digits of any script: a receiver may take them for what they mean.
    private static func digit(_ scalar: Unicode.Scalar) -> UInt8? {
        guard scalar.properties.numericType == .decimal, let value = scalar.properties.numericValue else { return nil }
        return UInt8(exactly: value)
    }

    private static func passesLuhn(_ digits: ArraySlice<UInt8>) -> Bool {
        var sum = 0
        for (position, digit) in digits.reversed().enumerated() {
            let value = Int(digit) * (position.isMultiple(of: 2) ? 1 : 2)
            sum += value > 9 ? value - 9 : value
        }
        return sum.isMultiple(of: 10)
    }

    /// The first byte of an identifier of no more than four bytes, in whichever way it is written; `nil` for a longer one.
    private static func shortIdentifier(_ member: String) -> UInt8? {
        let significant = member.drop { $0 == "0" }
        if let number = UInt32(significant.isEmpty ? "0" : significant, radix: 16) {
            return UInt8(truncatingIfNeeded: number >> 24)
        }
        guard let number = UInt32(significant) else { return nil }
        return UInt8(truncatingIfNeeded: number >> 24)
    }
}

extension HubRule.Kind {
    init(_ carrier: LoyaltyResult.Pass.Carrier) {
        switch carrier {
        case .apple: self = .apple
        case .google: self = .google
        case .tag: self = .ndef
        case .uid: self = .uid
        }
    }
}
