// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// One command that goes wrong, once, counted from the moment the fault is armed.
public struct VirtualFault: Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        /// The card leaves the field instead of answering. `fault card-gone after N`: N commands are still answered.
        case cardGone
        /// The answer is this status word alone; the card does not see the command. `fault status SW at N`.
        case status(StatusWord)
        /// No answer until the deadline. `fault mute at N`.
        case mute
        /// Bytes that are no TLV, with status 9000; the card does not see the command. `fault garbage at N`.
        case garbage
    }

    /// Largest number of commands that a fault can be away.
    public static let furthest: UInt64 = 10_000
    /// Most faults that can be armed at a time.
    public static let most = 64

    public let kind: Kind
    /// Which command, 1 being the next one that reaches an active card.
    public let at: UInt64

    public init(_ kind: Kind, at: UInt64) {
        self.kind = kind
        self.at = at
    }

    /// An answer that no parser accepts: a tag that never ends, then lengths beyond the end.
    static let garbage: [UInt8] =
        [UInt8](repeating: 0xBF, count: 20) + [UInt8](repeating: 0xFE, count: 20) + [0x90, 0x00]
}
