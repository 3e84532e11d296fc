// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV

/// The one list of data objects that say whose card it is, or what is in the account: reports, decoding, explanations and replays hide
/// them, and recordings replace them. Lengths belong to it, for kernels use one tag for different things.
///
/// Not in it, because masked forms and receipts show as much: the issuer's number (42, 9F0C), the last four digits (9F25), the sequence number (5F34).
enum AccountData {
    enum Kind: Equatable {
        /// The card number, or what has it inside.
        case number
        /// The holder's name.
        case holder
        /// Another name of the account or of the bank that keeps it.
        case account
        /// What there is in the account, or how much may be spent.
        case balance
        /// What proves the card, and what a number can be recovered from.
        case proof
        /// Room for whatever issuers and merchants put into it.
        case free
        /// When the card ends: hidden beside a number; recordings keep it, because decisions depend on it.
        case expiry
        /// No row of the dictionary: it may be any of these.
        case unknown
    }

    /// - Parameter count: of the value's bytes.
    /// - Returns: `nil` for a value that names neither account nor holder.
    static func kind(_ tag: Tag, count: Int) -> Kind? {
        guard let row = rows[tag] else { return DataDictionary.elements(tag).isEmpty ? .unknown : nil }
        return row.lengths.contains(count) ? row.kind : nil
    }

    typealias Row = (kind: Kind, lengths: ClosedRange<Int>)

    private static let any = 0...Int.max

    /// "Book" is EMV 4.4, "C-2" and so on EMV Contactless 2.11.
    static let rows: [Tag: Row] = {
        var rows = others
        for tag in Tag.ofCardNumber { rows[tag] = (.number, any) }
        for tag in Tag.ofHolder { rows[tag] = (.holder, any) }
        return rows
    }()

    private static let others: [Tag: Row] = [
        // Book 3 Annex A: IBAN and BIC, which German cards carry in BF0C; Payment Account Reference.
        0x5F53: (.account, any), 0x5F54: (.account, any), 0x9F24: (.account, any),
        // C-2 A.1: Offline Accumulator Balance, before and after; of one byte 9F50 is JCB's.
        0x9F50: (.balance, 6...6), 0xDF8104: (.balance, any), 0xDF8105: (.balance, any),
        // C-3 and C-7: Available Offline Spending Amount; of three bytes kernel 2's capabilities. UnionPay's electronic cash.
        0x9F5D: (.balance, 6...6), 0x9F79: (.balance, any),
        // Book 2, 6.3 and 6.4: a certificate of the card has its number; signatures and remainders lead to it.
        0x90: (.proof, any), 0x92: (.proof, any), 0x93: (.proof, any), 0x9F46: (.proof, any), 0x9F48: (.proof, any),
        0x9F4B: (.proof, any),
        // Book 2, 7.1: so has the certificate for the PIN.
        0x9F2D: (.proof, any), 0x9F2F: (.proof, any),
        // C-8: keys of this card alone.
        0x9F8103: (.proof, any), 0x9F810B: (.proof, any),
        // Book 3 Annex A: PIN data. C-2, C-6: codes of one tap that pay without a chip; of one byte 9F60 and 9F7E are others'.
        0x99: (.proof, any), 0x9F60: (.proof, 2...2), 0x9F61: (.proof, any), 0x9F7E: (.proof, 2...Int.max),
        // Book 3 Annex A: Application Discretionary Data. C-3: Customer Exclusive Data. C-7: product information.
        0x9F05: (.free, any), 0x9F7C: (.free, any), 0x9F63: (.free, 16...16),
        // C-2 A.1: storage of operators and envelopes of merchants, tickets and loyalty numbers; shorter ones are other kernels'.
        0x9F54: (.free, any), 0x9F70: (.free, 4...Int.max), 0x9F71: (.free, 4...Int.max), 0x9F72: (.free, any),
        0x9F73: (.free, any), 0x9F74: (.free, any), 0x9F75: (.free, any), 0x9F76: (.free, any), 0x9F77: (.free, any),
        0x9F78: (.free, any), 0x9F8110: (.free, any),
        // C-2 A.1: behind country, identifier and device type, Third Party Data are that party's own.
        0x9F6E: (.free, 8...Int.max),
        // C-2 A.1: what the lists of the card asked for, a number among it if they did.
        0xDF8107: (.free, any), 0xDF8111: (.free, any), 0xDF8113: (.free, any),
        // Book 3 Annex A.
        0x5F24: (.expiry, any),
    ]
}
