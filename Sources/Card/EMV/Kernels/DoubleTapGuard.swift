// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Cards that were read a moment ago, so that a card that lies on the reader or is presented twice by mistake is not
/// charged twice. No book has it; one vendor's kernel 3 does.
public struct DoubleTapGuard: Sendable {
    /// Whether the card with this number (0…9 each) was read within the guard's time before `now`; `nil` without a guard.
    public var wasRead: (@Sendable (_ pan: [UInt8], _ now: TapInstant) -> Bool)?

    public init(wasRead: (@Sendable (_ pan: [UInt8], _ now: TapInstant) -> Bool)?) { self.wasRead = wasRead }

    public static let none = DoubleTapGuard(wasRead: nil)
}
