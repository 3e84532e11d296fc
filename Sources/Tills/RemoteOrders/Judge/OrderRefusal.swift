// SPDX-License-Identifier: Apache-2.0
/// Why an order is not taken, as its backend is told under `setErrs`.
package enum OrderRefusal: String, Error, CaseIterable, Codable, Sendable {
    case tooLarge = "order.too_large"
    case malformed = "order.malformed"
    case header = "order.header"
    case issuerUnknown = "order.issuer_unknown"
    case keyUnknown = "order.key_unknown"
    case signature = "order.signature"
    case unknownMember = "order.unknown_member"
    case notForHere = "order.not_for_here"
    case lifetime = "order.lifetime"
    case fromTheFuture = "order.from_the_future"
    case expired = "order.expired"
    case clock = "order.clock"
    /// Another order had this id. What became of that one is not said by this.
    case idUsed = "order.id_used"
    case cancelled = "order.cancelled"
    case lane = "order.lane"
    case type = "order.type"
    case currency = "order.currency"
    case amount = "order.amount"
    case dayLimit = "order.day_limit"

    /// What is wrong, and what to do.
    ///
    /// - Parameter members: what is not known or not allowed, by name.
    package func words(about members: [String]) -> String {
        guard self == .unknownMember, !members.isEmpty else { return words }
        return
            "\(members.joined(separator: ", ")): not known or not allowed here: leave \(members.count == 1 ? "it" : "them") out"
    }

    /// What is wrong, and what to do.
    package var words: String {
        switch self {
        case .tooLarge: "Order longer than 8 KiB: leave out what the payment does not need"
        case .malformed: "Not a compact JWS with the claims of an order: see docs/integrating/remote.md"
        case .header: "Header is not exactly alg ES256, kid and typ nfc-tap-order+jws: write these three"
        case .issuerUnknown:
            "Sender not configured for this backend: add [[sender]], or write its name as it stands there"
        case .keyUnknown: "Key not configured: add the public key to the sender's file of keys"
        case .signature: "Signature does not verify: sign with the private half of the key that kid names"
        case .unknownMember: "Member that is not known or not allowed here: leave it out"
        case .notForHere: "Addressed to another installation: write this one's name as aud"
        case .lifetime: "Life is not 5 to 120 seconds: choose iat and exp accordingly"
        case .fromTheFuture: "Issued in the future: set the clocks of backend and shop"
        case .expired: "Too late to begin: make a new order"
        case .clock: "Clock of the shop is not believed: set the clocks of backend and shop"
        case .idUsed: "Another order had this id: ask for a report on it, and choose a new id for every order"
        case .cancelled: "Cancelled before it came: make a new order"
        case .lane: "Lane missing or not this sender's: name one of its lanes"
        case .type: "Type of payment not allowed: add it to the sender's types"
        case .currency: "Currency without a limit: add one to the sender's limits"
        case .amount: "Amount is zero or beyond the sender's limit"
        case .dayLimit: "Sender's limit for 24 hours reached"
        }
    }
}
