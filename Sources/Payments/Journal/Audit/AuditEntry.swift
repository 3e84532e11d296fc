// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// One thing that happened and must be provable later. Never holds card data: who writes one has states, names and
/// numbers only.
public struct AuditEntry: Equatable, Sendable {
    public enum Kind: String, CaseIterable, Codable, Sendable {
        /// A transaction's state: `subject` is the transaction.
        case state
        /// An attempt at a reversal: `subject` is the transaction.
        case reversal
        /// Terms accepted, or an acceptance refused: `subject` is the merchant.
        case terms
        /// A profile applied or refused: `subject` is the merchant, or the member that is wrong.
        case profile
        /// A reload of the configuration, taken or refused: `subject` is the setting that is wrong.
        case configuration
        /// What an administrator did to the queue, a batch or another user's transaction, which is the `subject`.
        case administration
        /// What a gateway has refused, counted, with an empty `subject`; or a till's reversal that came too late: `subject` is
        /// the transaction.
        case refusal
        /// An order of a backend far away that has begun a transaction, which is the `subject`: who has signed it, with which key.
        case remote
        /// A payment that a person has to look after, or has settled: `subject` is the transaction.
        case openItem
        /// A stored payment's record that does not hold: `subject` is the transaction.
        case queue
        /// A capture, adjustment or release: `subject` is the operation, or the payment whose hold has expired.
        case paymentOperation
        /// What a machine has done with a tap on a lane that stands alone, or with the lane: `subject` is the session or the lane.
        case session
        /// A refund that names a payment: `subject` is the refund.
        case refund
        /// What a card's holder has agreed to, with the text's hash, or that it has ended: `subject` is the agreement.
        case agreement
        /// A card was stored or deleted: `subject` is the stored card.
        case credential
        /// What a person has said of something open: `subject` is the operation, transaction or day.
        case resolution
        /// A business day was closed, or its figures came: `subject` is the day.
        case dayEnd
        /// Records erased because their time was over.
        case retention
        /// The daemon started or stopped.
        case operation
    }

    public var at: Timestamp
    public var kind: Kind
    /// What it is about: a transaction's id, a merchant, a file; empty where it is the installation as a whole.
    public var subject: String
    public var detail: String

    /// Line breaks are replaced by blanks: in the hash each part is a line.
    public init(_ kind: Kind, subject: String = "", detail: String, at: Timestamp = .now) {
        self.at = at
        self.kind = kind
        self.subject = AuditEntry.oneLine(subject)
        self.detail = AuditEntry.oneLine(detail)
    }

    private static func oneLine(_ text: String) -> String {
        String(decoding: text.utf8.map { $0 < 0x20 ? 0x20 : $0 }, as: UTF8.self)
    }
}
