// SPDX-License-Identifier: Apache-2.0
/// Who asks: a user of this machine by the kernel's word or, where a gateway speaks for it, one till of that user.
///
/// It owns transactions and what is done with them, and its idempotency keys are its own: two tills of one user are as far
/// apart as two users are, and from the user's programs without a till.
public struct Principal: Hashable, Sendable {
    public var uid: UInt32
    /// `nil` for a program that speaks for itself.
    public var till: TillName?

    public init(uid: UInt32, till: TillName? = nil) {
        self.uid = uid
        self.till = till
    }
}

extension Principal: CustomStringConvertible {
    /// As the audit chain names it: `uid 993 till bar-1`, or `uid 993` without a till. Part of the chain's format.
    public var description: String { "uid \(uid)" + (till.map { " till \($0)" } ?? "") }
}

/// What a gateway calls a till: 1 to 32 of `a-z`, `0-9` and `-`, a letter first.
public struct TillName: Hashable, Sendable {
    public let text: String

    /// - Returns: `nil` where `text` is no such name; case is not folded.
    public init?(_ text: String) {
        let isLetter = { (unit: UInt8) in (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(unit) }
        let units = text.utf8
        guard let first = units.first, isLetter(first), units.count <= 32,
            units.allSatisfy({ isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == 0x2D })
        else { return nil }
        self.text = text
    }
}

extension TillName {
    /// Names of tills begin so for which a backend far away asks.
    public static let remotePrefix = "remote-"

    public var isRemote: Bool { text.hasPrefix(TillName.remotePrefix) }
}

extension TillName: CustomStringConvertible {
    public var description: String { text }
}

extension TillName: Codable {
    public init(from decoder: any Decoder) throws {
        guard let name = TillName(try decoder.singleValueContainer().decode(String.self)) else {
            throw decoder.refusal(.requestInvalidField)
        }
        self = name
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
