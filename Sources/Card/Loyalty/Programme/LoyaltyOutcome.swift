// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// How a wish for passes ended.
public struct LoyaltyOutcome: Sendable {
    public enum Wallet: String, Sendable, CaseIterable {
        case apple, google
    }

    public enum Ending: Sendable {
        /// Everything that could be asked was.
        case completed
        case stopped
    }

    /// What one programme's wish came to.
    public struct Entry: Sendable {
        /// The programme's id.
        public let programme: String
        public var status: PassStatus
        public var pass: LoyaltyPass?
    }

    /// One for each programme, by priority.
    public var entries: [Entry]
    /// Of the phone that answered last; `nil` for anything else.
    public var wallet: Wallet?
    /// The card that was activated last.
    public var card: CardActivation?
    /// How a payment may follow in the same tap.
    public var payment: PaymentReadiness
    public var ending: Ending

    /// Whether at least one pass was delivered.
    public var hasPass: Bool { entries.contains { $0.status == .delivered } }

    /// What the customer should do: of the first programme that asks for something.
    public var customerAction: CustomerAction {
        if hasPass { return .nothing }
        return entries.lazy.map(\.status.customerAction).first { $0 != .nothing } ?? .nothing
    }
}

/// A pass, by what carried it.
public enum LoyaltyPass: Sendable {
    case apple(VASPass)
    /// Passes and customer record; `isAuthentic` where the session proved that a wallet sent them.
    case google([SmartTapObject], isAuthentic: Bool)
    /// The member number of an NDEF tag. Anybody can write such a tag.
    case tag(SecretBytes)
    /// The member number made from a card's identifier. Anybody can copy it.
    case uid(SecretBytes)

    /// The member number or message; `nil` for a pass that is sealed or has none.
    public var member: SecretBytes? {
        switch self {
        case .apple(let pass):
            switch pass.content {
            case .sealed: nil
            case .opened(let opened): opened.message
            }
        case .google(let objects, _): objects.lazy.filter(\.isPass).compactMap { $0[.number] }.first
        case .tag(let number), .uid(let number): number
        }
    }

    /// The cryptogram for whoever holds the merchant's key; `nil` for what came without one.
    public var cryptogram: VASCryptogram? {
        switch self {
        case .apple(let pass): pass.cryptogram
        case .google, .tag, .uid: nil
        }
    }

    /// When the phone says that it made the pass.
    public var timestamp: PassTimestamp? {
        switch self {
        case .apple(let pass):
            switch pass.content {
            case .sealed: nil
            case .opened(let opened): opened.timestamp
            }
        case .google, .tag, .uid: nil
        }
    }
}
