// SPDX-License-Identifier: Apache-2.0
/// How a terminal presents itself to a phone in Apple VAS (tag 9F26 and its optional companions).
public struct VASTerminal: Equatable, Sendable {
    /// Low nibble of the second byte of tag 9F26.
    public enum Kind: UInt8, Sendable, CaseIterable {
        case payment = 0
        case transit = 1
        case access = 2
        case wirelessHandoff = 3
        case appHandoff = 4
        case other = 0x0F
    }

    public var mode: CapabilityMode
    public var kind: Kind
    /// The user must authenticate before the pass is given.
    public var requiresUserAuthentication: Bool
    /// 9F28, 4 bytes of any value; `nil` leaves it out. No use of it is known.
    public var nonce: [UInt8]?
    /// 9F2B, 5 bytes, the first 01; `nil`, as usual, leaves it out.
    public var filter: [UInt8]?

    public init(
        mode: CapabilityMode = .passOnly, kind: Kind = .payment, requiresUserAuthentication: Bool = false,
        nonce: [UInt8]? = nil, filter: [UInt8]? = nil
    ) {
        self.mode = mode
        self.kind = kind
        self.requiresUserAuthentication = requiresUserAuthentication
        self.nonce = nonce
        self.filter = filter
    }

    /// Value of tag 9F26, 4 bytes.
    ///
    /// - Parameter more: another GET VAS DATA follows in this session.
    public func capabilities(more: Bool) -> [UInt8] {
        [
            0x00, 0x80 | (requiresUserAuthentication ? 0x40 : 0x00) | kind.rawValue, 0x00,
            (more ? 0x80 : 0x00) | mode.rawValue,
        ]
    }
}
