// SPDX-License-Identifier: Apache-2.0
import CardBytes
public import EMV

/// A certification authority's public key (EMV Book 2 §5.2 and §6.2), checked when it is made.
public struct CAPublicKey: Sendable {
    /// Test keys sign cards whose secrets are published; they must never open a live transaction.
    public enum Environment: String, Sendable {
        case test, live
    }

    /// Registered application provider identifier, five bytes.
    public let rid: [UInt8]
    /// The card names the key by it in 8F.
    public let index: UInt8
    public let key: RSAPublicKey
    /// SHA-1 over RID, index, modulus and exponent, 20 bytes.
    public let checksum: [UInt8]
    /// Last day of use, or `nil` where the configuration sets none. Published dates differ by decades: this is
    /// configuration, never a property of the key.
    public let expiry: EMVDate?
    public let environment: Environment

    /// - Parameters:
    ///   - modulus: big-endian, 64 to 256 bytes.
    ///   - exponent: big-endian, 1 to 4 bytes.
    ///   - checksum: the published SHA-1 over RID, index, modulus and exponent.
    /// - Throws: what is wrong with the fields; see `CAPublicKeyError`.
    public init(
        rid: [UInt8], index: UInt8, modulus: [UInt8], exponent: [UInt8], checksum: [UInt8], expiry: EMVDate? = nil,
        environment: Environment
    ) throws(CAPublicKeyError) {
        guard rid.count == 5 else { throw .badRID }
        guard (64...256).contains(modulus.count) else { throw .badModulus }
        guard let number = RSAPublicKey.exponent(exponent) else { throw .badExponent }
        guard CAPublicKey.checksum(rid: rid, index: index, modulus: modulus, exponent: exponent) == checksum
        else { throw .wrongChecksum }
        guard let key = RSAPublicKey(modulus: modulus, exponent: number) else { throw .badModulus }
        self.rid = rid
        self.index = index
        self.key = key
        self.checksum = checksum
        self.expiry = expiry
        self.environment = environment
    }

    /// A row of a key list, every field in hexadecimal; `expiry` is YYYYMMDD, or empty for none.
    ///
    /// - Throws: `.notHexadecimal` or `.badExpiry` for text that cannot be read, else as the other initialiser.
    public init(
        rid: String, index: String, modulus: String, exponent: String, checksum: String, expiry: String = "",
        environment: Environment
    ) throws(CAPublicKeyError) {
        let fields: [[UInt8]]
        do throws(HexError) {
            fields = try [
                Hex.bytes(rid), Hex.bytes(index), Hex.bytes(modulus), Hex.bytes(exponent), Hex.bytes(checksum),
            ]
        } catch {
            throw .notHexadecimal
        }
        guard fields[1].count == 1, let number = fields[1].first else { throw .badIndex }
        try self.init(
            rid: fields[0], index: number, modulus: fields[2], exponent: fields[3], checksum: fields[4],
            expiry: CAPublicKey.date(expiry), environment: environment)
    }

    /// Whether the key may be used on `date`.
    public func isValid(on date: EMVDate) -> Bool {
        guard let expiry else { return true }
        return date <= expiry
    }

    /// SHA-1 over RID, index, modulus and exponent: the checksum that schemes publish with a key.
    public static func checksum(rid: [UInt8], index: UInt8, modulus: [UInt8], exponent: [UInt8]) -> [UInt8] {
        sha1(rid, [index], modulus, exponent)
    }

    private static func date(_ text: String) throws(CAPublicKeyError) -> EMVDate? {
        if text.isEmpty { return nil }
        guard text.utf8.count == 8, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt32(text)
        else { throw .badExpiry }
        let date = EMVDate(
            year: Int(number / 10_000), month: Int(number / 100 % 100), day: Int(number % 100))
        guard (1...12).contains(date.month), (1...31).contains(date.day) else { throw .badExpiry }
        return date
    }
}
