// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// The name of a certification authority's public key, as a card gives it.
public struct CAKeyName: Equatable, Hashable, Sendable {
    /// Registered application provider identifier, five bytes.
    public let rid: [UInt8]
    /// 8F.
    public let index: UInt8

    public init(rid: [UInt8], index: UInt8) {
        self.rid = rid
        self.index = index
    }
}

extension CAKeyName: CustomStringConvertible {
    /// `A000000004 index FA`
    public var description: String { "\(Hex.string(rid)) index \(Hex.string([index]))" }
}

/// Whether a terminal can use a CA public key. To a kernel an expired one and an absent one are the same; to people who
/// look for the reason they are not.
public enum CAKeyState: Sendable {
    case usable, expired, absent
}

/// A card that was not authenticated because no CA public key of the terminal matches.
public struct UnmatchedCAKey: Equatable, Sendable {
    public let name: CAKeyName
    /// The terminal has the key, but its last day is over.
    public let isExpired: Bool

    public init(_ name: CAKeyName, isExpired: Bool) {
        self.name = name
        self.isExpired = isExpired
    }
}

extension UnmatchedCAKey: CustomStringConvertible {
    public var description: String { "CA key \(name) \(isExpired ? "has expired" : "is missing")" }
}
