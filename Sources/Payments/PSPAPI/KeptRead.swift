// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// What a card gave before it declined for want of a PIN: a link or another terminal goes on with it. No authorisation is asked for by it,
/// and its cryptogram says no.
public struct KeptRead: Codable, Equatable, Sendable {
    /// Compact JWE to the payment service's key; `txn` in it is the sale of `retryOf`.
    public var envelope: String
    public var card: MaskedCard
    public var entryMode: EntryMode
    /// Allow-listed data objects in hexadecimal, as of an authorisation.
    public var emv: String

    public init(_ request: AuthorizationRequest) {
        (envelope, card, entryMode, emv) = (request.envelope, request.card, request.entryMode, request.emv)
    }
}

extension KeptRead: CustomStringConvertible, CustomReflectable {
    public var description: String { "kept read" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
