// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues

/// What a customer reads, as `GET /v1/display` sends it: nothing of the card, no reason, no id. It has a stored property for
/// each member.
struct CustomerView: Codable, Equatable, Sendable {
    enum Phase: String, Codable, CaseIterable, Sendable {
        case idle, ready, again, reading, processing, approved, partial, declined, unknown, reversing, stored, cancelled
        case failed, notReady, offline
        /// The customer pays by a link, whose QR code is shown.
        case link

        /// An end, which stays for a while.
        var isResult: Bool {
            switch self {
            case .approved, .partial, .declined, .unknown, .reversing, .stored, .cancelled, .failed: true
            case .idle, .ready, .again, .reading, .processing, .notReady, .offline, .link: false
            }
        }
    }

    struct Line: Codable, Equatable, Sendable {
        var label: String
        var amount: Money
        var kind: Item.Kind?
        var frequency: Item.Frequency?
        var begins: String?
    }

    /// The event that it follows from; 0 before the first.
    var cursor: UInt64 = 0
    var lane: String
    var phase = Phase.idle
    /// Which sentence to show.
    var key: String? = "welcome"
    /// What the card is asked for.
    var type: TransactionType?
    /// What is to be paid; with `approved` and `stored` what was, or goes back, or is held, as `type` and `held` say.
    var amount: Money?
    /// The amount is only held, to be captured later.
    var held: Bool?
    var paid: Money?
    var open: Money?
    var items: [Line]?
    /// The amount is not final.
    var pending: Bool?
    /// Whom the customer deals with.
    var payee: String?
    /// Who collects the money for `payee`, where that is another.
    var through: String?
    /// The QR code of the receipt or, with `link`, of where to pay, as an address of a picture that holds it: `data:image/svg+xml,…`.
    var qr: String?
    /// With an approval: the word, for one use, with which this display has the receipt sent to an address (`POST /v1/display/receipt`).
    var receiptWord: String?
    /// Networks whose cards are taken, by name.
    var networks: [String]?
    /// BCP 47
    var language: String?
    /// No money moves.
    var test: Bool?
}
