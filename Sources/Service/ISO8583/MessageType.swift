// SPDX-License-Identifier: Apache-2.0
/// The message type indicator: version, class, function and origin, a decimal digit each.
public struct MessageType: Hashable, Sendable {
    public enum Version: UInt8, Sendable, CaseIterable {
        case iso1987 = 0
        case iso1993 = 1
        case iso2003 = 2
    }

    /// 0…9999, as the four digits spell it.
    public let number: UInt16

    /// `nil` for more than four digits.
    public init?(_ number: UInt16) {
        guard number <= 9999 else { return nil }
        self.number = number
    }

    /// `nil` unless these are four ASCII digits.
    public init?(digits: some Collection<UInt8>) {
        guard digits.count == 4, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        self.init(digits.reduce(UInt16(0)) { $0 * 10 + UInt16($1 - 0x30) })
    }

    init(version: UInt8, kind: UInt8, function: UInt8, origin: UInt8) {
        number = [version, kind, function, origin].reduce(UInt16(0)) { $0 * 10 + UInt16($1 % 10) }
    }

    public var version: UInt8 { UInt8(number / 1000) }
    /// 1 authorisation, 2 financial, 4 reversal, 5 reconciliation, 8 network management.
    public var kind: UInt8 { UInt8(number / 100 % 10) }
    /// 0 request, 1 its response, 2 advice, 3 its response, 4 notification.
    public var function: UInt8 { UInt8(number / 10 % 10) }
    /// 0 acquirer, 1 acquirer's repeat, 2 issuer, 3 issuer's repeat, 4 other, 5 other's repeat.
    public var origin: UInt8 { UInt8(number % 10) }

    public var isRequestOrAdvice: Bool { function == 0 || function == 2 }

    /// What answers this: a repeat is answered as its original (0421 by 0430). `nil` for what is itself an answer.
    public var answer: MessageType? {
        guard isRequestOrAdvice else { return nil }
        return MessageType(version: version, kind: kind, function: function + 1, origin: first.origin)
    }

    /// The same message sent again.
    public var again: MessageType {
        MessageType(version: version, kind: kind, function: function, origin: origin | 1)
    }

    /// The same message sent for the first time.
    public var first: MessageType {
        MessageType(version: version, kind: kind, function: function, origin: origin & ~1)
    }

    public var digits: [UInt8] { [version, kind, function, origin].map { $0 + 0x30 } }
}

extension MessageType: CustomStringConvertible {
    public var description: String { String(decoding: digits, as: UTF8.self) }
}
