// SPDX-License-Identifier: Apache-2.0
/// Whom a message is for: in which language it speaks, and where they find help.
public struct Audience: Hashable, Sendable {
    public var language: Language
    /// Put into every error.
    public var support: SupportReference?

    public init(language: Language = .english, support: SupportReference? = nil) {
        self.language = language
        self.support = support
    }

    /// Nobody in particular: what is written down.
    public static let nobody = Audience()
}

extension CodingUserInfoKey {
    /// `nil` never happens: the name is not empty.
    static let audience = CodingUserInfoKey(rawValue: "nfc-tap.audience")
}

extension Encoder {
    var audience: Audience {
        CodingUserInfoKey.audience.flatMap { userInfo[$0] as? Audience } ?? .nobody
    }
}
