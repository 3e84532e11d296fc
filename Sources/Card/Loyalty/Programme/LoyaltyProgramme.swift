// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// A shop's loyalty programme: what to ask for on each kind of card or phone.
public struct LoyaltyProgramme: Sendable {
    /// Longest display name in characters.
    public static let maximumDisplayNameLength = 22

    /// The caller's own name for it; results carry it.
    public let id: String
    /// What the customer reads; free of any word about payment is the caller's duty.
    public let displayName: String
    /// Lower numbers are asked first.
    public let priority: Int
    /// The same pass read again within this time counts as repeated; 0 never does.
    public let rereadDelayMilliseconds: UInt64
    public let apple: VASMerchant?
    public let google: SmartTapCollector?
    public let tag: NDEFMembership?
    public let uid: UIDMembership?

    /// - Throws: `.displayNameInvalid` for an empty name or one of more than 22 characters, `.noProgramme` where
    ///   nothing is given that a card could answer for.
    public init(
        id: String, displayName: String, priority: Int = 0, rereadDelayMilliseconds: UInt64 = 0,
        apple: VASMerchant? = nil, google: SmartTapCollector? = nil, tag: NDEFMembership? = nil,
        uid: UIDMembership? = nil
    ) throws(LoyaltyConfigurationError) {
        guard !displayName.isEmpty, displayName.count <= LoyaltyProgramme.maximumDisplayNameLength else {
            throw .displayNameInvalid(programme: id)
        }
        guard apple != nil || google != nil || tag != nil || uid != nil else { throw .noProgramme }
        self.id = id
        self.displayName = displayName
        self.priority = priority
        self.rereadDelayMilliseconds = rereadDelayMilliseconds
        self.apple = apple
        self.google = google
        self.tag = tag
        self.uid = uid
    }
}

/// Which record of an NDEF tag holds a programme's member number.
public enum NDEFMembership: Equatable, Sendable {
    /// An address that begins with this text; what follows is the number.
    case uri(prefix: String)
    /// A text that begins with this one; what follows is the number.
    case text(prefix: String)
    /// A record of this external type; all of it is the number.
    case external(type: String)
    case media(type: String)

    /// The number out of the first record that fits and is not empty.
    public func memberNumber(in contents: [NDEFContent]) -> SecretBytes? {
        for content in contents {
            let number: SecretBytes? =
                switch (self, content.kind) {
                case (.uri(let prefix), .uri): rest(of: content.value, after: prefix)
                case (.text(let prefix), .text): rest(of: content.value, after: prefix)
                case (.external(let wanted), .external(let type)): wanted == type ? content.value : nil
                case (.media(let wanted), .media(let type)): wanted == type ? content.value : nil
                case (.uri, _), (.text, _), (.external, _), (.media, _): nil
                }
            if let number, number.count > 0 { return number }
        }
        return nil
    }

    private func rest(of value: SecretBytes, after prefix: String) -> SecretBytes? {
        let expected = Array(prefix.utf8)
        return value.withSpan { bytes in
            guard bytes.count > expected.count else { return nil }
            for index in expected.indices where bytes[index] != expected[index] { return nil }
            return SecretText.copy(bytes, expected.count..<bytes.count)
        }
    }
}
