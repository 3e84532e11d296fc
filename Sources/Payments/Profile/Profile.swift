// SPDX-License-Identifier: Apache-2.0
import EMVCrypto
public import Envelope
public import PaymentValues
public import TerminalFile

/// What a payment service has laid down for one merchant: who it is, which terms it has to accept, which cards it takes
/// and up to what, and where card data is sealed to. `docs/operating/profile.md` has every member.
public struct Profile: Sendable {
    /// Grows with every profile that the payment service issues to this merchant.
    public let serial: UInt64
    /// Name of the payment service.
    public let serviceName: String
    public let issuedAt: Timestamp
    /// From then on no live payment is taken with it.
    public let expiresAt: Timestamp
    public let merchant: Merchant
    public let terms: Terms
    /// At least one.
    public let currencies: [Currency]
    /// By the names that `MaskedCard.scheme` uses; each has a combination in `terminal`, and no other one has.
    public let acceptedNetworks: [String]
    /// Applications and limits per kernel, terminal action codes, CA keys.
    public let terminal: TerminalFile
    /// In the payment service's order of preference.
    public let recipientKeys: RecipientKeySet
    /// `nil` where nothing may be stored and forwarded.
    public let offline: OfflineLimits?
    /// Whose signature says that a batch has been received. Present wherever `offline` is.
    public let receiptTokenKey: VerificationKey?
    public let software: Software
    /// Whether a stored card may be charged on the customer's wish, who is there without it.
    public let customerCharges: Bool

    /// What the payment service asks of this program.
    public struct Software: Equatable, Sendable {
        /// Older ones are not accepted any more.
        public let minimum: SoftwareVersion?
        /// When the version that is running now will not be accepted any more, where that is known.
        public let deprecatedFrom: Timestamp?
        /// Models whose firmware has a minimum, each once.
        public let readers: [ReaderMinimum]
    }
}

extension Profile {
    /// Whether it holds for real cards: by the environment of its CA keys.
    public var isLive: Bool { terminal.keys.environment == .live }

    /// - Throws: `.notYetValid` more than five minutes before `issuedAt`, `.expired` from `expiresAt` on.
    public func checkPeriod(at now: Timestamp) throws(ProfileError) {
        // Two clocks are never quite the same.
        guard issuedAt <= now.advanced(bySeconds: 300) else { throw .notYetValid(issuedAt) }
        guard now < expiresAt else { throw .expired(expiresAt) }
    }
}
