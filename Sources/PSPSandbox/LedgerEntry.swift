// SPDX-License-Identifier: Apache-2.0
public import Wire

/// One transaction in the sandbox's books. Never more of a card than its mask.
public struct LedgerEntry: Codable, Equatable, Sendable {
    public enum State: String, Codable, Sendable {
        /// Not decided yet.
        case running
        case approved, declined
        /// Fully taken back.
        case reversed
    }

    public var id: TransactionID
    public var type: AuthorizationRequest.Kind
    public var amount: Money
    /// The card had approved by itself, with or without having been stored.
    public var offline: Bool
    public var card: MaskedCard
    public var state: State
    public var responseCode: String?
    /// Why it was declined before the amount table was looked at: the name of the check.
    public var failedCheck: String?
    /// What the test issuer says: `verified`, `wrongCryptogram`, `unknownCard`, `missing`.
    public var cryptogram: String?
    /// Minor units that are authorised, reversed or not.
    public var authorised: Int64
    public var reversed: Int64
    public var completed: Int64?
    public var refunded: Int64
    /// Whether a whole, proper answer was given to a client that was still there.
    public var answered: Bool

    init(_ request: AuthorizationRequest) {
        id = request.id
        type = request.type
        amount = request.amount
        card = request.card
        offline = request.offline
        state = .running
        authorised = 0
        reversed = 0
        refunded = 0
        answered = false
    }

    /// What the card holder would find on the account: authorised and not reversed.
    public var outstanding: Int64 { authorised - reversed }
}
