// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// How an application cryptogram is computed. The issuer tells the versions apart by the CVN inside 9F10.
///
/// Checked against an independent implementation, except `visa17`, which is unverified.
enum CryptogramVersion: UInt8, Sendable {
    /// Visa CVN 10: no session key, card verification results instead of the whole 9F10, padding with zeros.
    case visa10 = 0x0A
    /// Visa CVN 17 (short, for fDDA): 9F02, 9F37, 9F36 and byte 5 of 9F10; no session key.
    case visa17 = 0x11
    /// Visa CVN 18: common session key, whole 9F10.
    case visa18 = 0x12
    /// Mastercard CVN 14 (hexadecimal): common session key, six bytes of card verification results.
    case mastercard20 = 0x14

    /// What the cryptogram is taken over, in this order, with the lengths in bytes.
    private static let common: [(tag: Tag, count: Int)] = [
        (0x9F02, 6), (0x9F03, 6), (0x9F1A, 2), (0x95, 5), (0x5F2A, 2), (0x9A, 3), (0x9C, 1), (0x9F37, 4), (0x82, 2),
        (0x9F36, 2),
    ]

    /// The eight bytes of the cryptogram.
    ///
    /// - Parameters:
    ///   - master: the card's master key.
    ///   - value: the value of a tag, `nil` where it is not known. 9F03 may be absent: no other amount.
    func cryptogram(_ master: TripleDES, _ value: (Tag) -> [UInt8]?) throws(MissingObject) -> [UInt8] {
        let counter = try CryptogramVersion.object(0x9F36, 2, value)
        let session = self == .visa10 || self == .visa17 ? master : CardKey.session(master, counter: counter)
        guard let session else { throw MissingObject(tag: 0x9F36) }
        let padding: MACPadding = self == .visa10 || self == .visa17 ? .zeros : .markedZeros
        return session.mac(padding.padded(try input(value)))
    }

    private func input(_ value: (Tag) -> [UInt8]?) throws(MissingObject) -> [UInt8] {
        guard let issuerData = value(0x9F10), issuerData.count >= 7 else { throw MissingObject(tag: 0x9F10) }
        if self == .visa17 {
            return try CryptogramVersion.object(0x9F02, 6, value) + CryptogramVersion.object(0x9F37, 4, value)
                + CryptogramVersion.object(0x9F36, 2, value) + [issuerData[4]]
        }
        var input: [UInt8] = []
        for (tag, count) in CryptogramVersion.common { input += try CryptogramVersion.object(tag, count, value) }
        switch self {
        case .visa10, .visa17: input += issuerData[3..<7]
        case .visa18: input += issuerData
        case .mastercard20:
            guard issuerData.count >= 8 else { throw MissingObject(tag: 0x9F10) }
            input += issuerData[2..<8]
        }
        return input
    }

    private static func object(
        _ tag: Tag, _ count: Int, _ value: (Tag) -> [UInt8]?
    ) throws(MissingObject) -> [UInt8] {
        guard let bytes = value(tag) else {
            guard tag == 0x9F03 else { throw MissingObject(tag: tag) }
            return [UInt8](repeating: 0, count: count)
        }
        guard bytes.count == count else { throw MissingObject(tag: tag) }
        return bytes
    }
}

/// A data object that a cryptogram needs is absent or has another length.
struct MissingObject: Error, Equatable {
    let tag: Tag
}
