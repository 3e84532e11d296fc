// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// The account that a data record names: PAN, sequence number, expiry. Never printed.
public struct CardAccount: Equatable, Sendable {
    /// 0…9 each, up to 19.
    public let pan: [UInt8]
    /// PAN Sequence Number (5F34).
    public let sequenceNumber: UInt8?
    /// Year of four digits and month; the day is 31 where the card gave none (57).
    public let expiry: EMVDate?
    /// 57 or, in mag-stripe mode, 9F6B.
    public let track2: Track2Equivalent?

    /// - Parameter record: a kernel's data record; `nil` where it names no PAN.
    public init?(record: [DataObject]) {
        let track = (record.value(of: .track2Equivalent) ?? record.value(of: .track2Data)).flatMap {
            Track2Equivalent($0)
        }
        let digits = record.value(of: .pan).flatMap { BCD.digits($0) } ?? track?.pan
        guard let digits, !digits.isEmpty, digits.count <= 19 else { return nil }
        pan = digits
        track2 = track
        sequenceNumber = record.value(of: .panSequenceNumber)?.first
        let month = track.flatMap { BCD.pack($0.expiry, count: 2) }
        expiry =
            record.value(of: .expirationDate).flatMap { EMVDate(yymmdd: $0) }
            ?? month.flatMap { EMVDate(mmyy: $0.reversed()) }
    }

    /// The last four digits.
    public var lastFour: String { CardAccount.text(pan.suffix(4)) }

    /// The PAN with stars between the first six and the last four digits.
    public var maskedPAN: String {
        guard pan.count > 10 else { return String(repeating: "*", count: max(0, pan.count - 4)) + lastFour }
        return CardAccount.text(pan.prefix(6)) + String(repeating: "*", count: pan.count - 10) + lastFour
    }

    private static func text(_ digits: some Sequence<UInt8>) -> String {
        String(decoding: digits.map { $0 + 0x30 }, as: UTF8.self)
    }
}

extension CardAccount: CustomStringConvertible, CustomReflectable {
    public var description: String { "account of \(pan.count) PAN digits" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
