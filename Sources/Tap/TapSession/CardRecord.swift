// SPDX-License-Identifier: Apache-2.0
public import CardBytes
public import EMV
public import Envelope

/// One read card on its way to the PSP: the plaintext of the envelope, and beside it what may be known in the clear.
///
/// The plaintext is written byte by byte into memory that is locked and wiped; no part of it is ever a `String`.
public struct CardRecord: Sendable {
    /// What binds the record to one payment.
    public struct Binding: Sendable {
        /// The transaction's id.
        public var transaction: String
        /// What read the card: lane or reader.
        public var reader: String
        /// Minor units.
        public var amount: UInt64
        /// ISO 4217 alphabetic code.
        public var currency: String
        /// Seconds since 1970. In a `PaymentTap` the moment it is armed: the record gets the moment it was read.
        public var issuedAt: UInt64

        public init(transaction: String, reader: String, amount: UInt64, currency: String, issuedAt: UInt64) {
            self.transaction = transaction
            self.reader = reader
            self.amount = amount
            self.currency = currency
            self.issuedAt = issuedAt
        }
    }

    /// How long a sealed record may be presented, in seconds.
    public static let lifetime: UInt64 = 300

    /// JSON: `v, id, txn, iat, exp, reader, amount, currency, pan, psn, expiry, track2, emv, kernel, outcome`.
    public let plaintext: SecretBytes
    public let clearTags: ClearDataObjects
    public let account: MaskedAccount
    /// Of the card's number; `nil` without a marker.
    public let mark: [UInt8]?

    /// Whether the outcome has a data record with a card number.
    static func isComplete(_ final: FinalOutcome) -> Bool {
        final.outcome.dataRecord.map { AccountData($0).hasPAN } ?? false
    }

    /// - Throws: `.incompleteRecord` where the outcome has no data record, or one without a card number.
    public init(
        _ final: FinalOutcome, _ binding: Binding, _ marker: CardFingerprinter? = nil
    ) throws(PaymentTapError) {
        guard let record = final.outcome.dataRecord else { throw .incompleteRecord }
        let data = AccountData(record)
        // The card's own name of the application: the reader's may be no longer than the provider's number.
        let aid = final.application?.adfName ?? record.value(of: 0x84) ?? []
        guard let account = MaskedAccount(data, aid: aid) else { throw .incompleteRecord }
        self.account = account
        mark = marker?.mark(of: data.digits)
        clearTags = ClearDataObjects(of: record)
        // Two calls of the system instead of sixteen.
        let identity = [UInt64.random(in: .min ... .max), .random(in: .min ... .max)]
            .flatMap { word in stride(from: 0, to: 64, by: 8).map { UInt8(truncatingIfNeeded: word >> $0) } }
        let encoded = record.encoded
        plaintext = SecretBytes(capacity: 1_024 + 2 * encoded.count) { writer in
            writer.append(text: #"{"v":1"#)
            writer.member(#","id":"#, hex: identity)
            writer.member(#","txn":"#, text: binding.transaction)
            writer.member(#","iat":"#, number: binding.issuedAt)
            writer.member(#","exp":"#, number: binding.issuedAt &+ CardRecord.lifetime)
            writer.member(#","reader":"#, text: binding.reader)
            writer.member(#","amount":"#, number: binding.amount)
            writer.member(#","currency":"#, text: binding.currency)
            writer.member(#","pan":"#, digits: data.digits)
            if let sequence = record.value(of: 0x5F34) { writer.member(#","psn":"#, hex: sequence) }
            if let expiry = data.expiry { writer.member(#","expiry":"#, digits: expiry) }
            if let track = data.track2 { writer.member(#","track2":"#, digits: track) }
            writer.member(#","emv":"#, hex: encoded)
            writer.member(#","kernel":"#, number: UInt64(final.application?.kernel.rawValue ?? 0))
            writer.member(#","outcome":"#, text: final.outcome.status.word)
            writer.append(text: "}")
        }
    }
}

extension CardRecord: CustomStringConvertible, CustomReflectable {
    public var description: String { "card record (\(plaintext), \(clearTags))" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
