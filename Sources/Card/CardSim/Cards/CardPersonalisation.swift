// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// What is printed on and stored in a card: public test numbers, no real person's.
public struct CardPersonalisation: Sendable {
    /// PAN, digits 0…9 each.
    public var pan: [UInt8]
    /// PAN sequence number (5F34), BCD.
    public var sequence: UInt8 = 0x01
    /// Application expiration date (5F24), YYMMDD.
    public var expiry: [UInt8] = [0x49, 0x12, 0x31]
    /// Application effective date (5F25), YYMMDD.
    public var effective: [UInt8] = [0x20, 0x01, 0x01]
    /// Cardholder name (5F20) in ASCII.
    public var name = "TEST/CARD"
    /// Issuer country (5F28), numeric; 0276 is Germany.
    public var country: [UInt8] = [0x02, 0x76]
    /// Service code, three digits.
    public var serviceCode: [UInt8] = [2, 0, 1]
    /// Digits after the service code in track 2.
    public var discretionary: [UInt8] = [0, 0, 0, 0, 0, 1, 2, 3, 4]

    /// Last month of the card's own certificate, MMYY.
    var certificateExpiry = TestIssuerIdentity.certificateExpiry
    /// CA public key index (8F) that the card names.
    var caIndex = TestIssuerIdentity.caIndex

    /// - Parameter pan: decimal digits; others are left out.
    public init(pan: String) {
        self.pan = pan.utf8.filter { (0x30...0x39).contains($0) }.map { $0 - 0x30 }
    }

    /// 5A: the PAN in format cn.
    public var panField: [UInt8] { BCD.pack(pan, count: (pan.count + 1) / 2) ?? [] }

    /// 57: PAN, D, YYMM, service code, discretionary data, filled with F.
    public var track2: [UInt8] {
        var nibbles = pan + [0x0D]
        for byte in expiry.prefix(2) { nibbles += [byte >> 4, byte & 0x0F] }
        nibbles += serviceCode + discretionary
        if !nibbles.count.isMultiple(of: 2) { nibbles.append(0x0F) }
        return stride(from: 0, to: nibbles.count, by: 2).map { nibbles[$0] << 4 | nibbles[$0 + 1] }
    }

    public var nameField: [UInt8] { Array(name.utf8) }
}
