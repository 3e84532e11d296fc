// SPDX-License-Identifier: Apache-2.0
package import CardBytes
import StrictJSON

/// What a payment service takes out of an opened envelope: card data in the clear. Only rooms that the test of the architecture names
/// may have one.
package struct OpenedRecord: Sendable {
    /// The bytes are no record of version 1.
    package struct Unreadable: Error, Equatable {}

    package let id: String
    package let transaction: String
    /// Seconds since 1970.
    package let expires: UInt64
    package let amount: UInt64
    package let currency: String
    /// 0…9 each.
    package let digits: [UInt8]
    /// YYMM.
    package let expiry: String?
    /// Card sequence number, two digits.
    package let sequence: String?
    /// As the card gave it, `D` between number and expiry.
    package let track2: String?
    /// All data objects of the read, and the same as BER-TLV.
    package let objects: [(Tag, [UInt8])]
    package let emv: [UInt8]

    package init(_ plaintext: SecretBytes) throws(Unreadable) {
        self = try plaintext.withSpan { (bytes) throws(Unreadable) in try OpenedRecord(bytes) }
    }

    private init(_ bytes: borrowing Span<UInt8>) throws(Unreadable) {
        guard let index = try? JSONIndex(bytes) else { throw Unreadable() }
        func optional(_ name: String, _ bytes: borrowing Span<UInt8>) -> String? {
            index.member(name, in: bytes).flatMap { index.string($0, in: bytes) }
        }
        func text(_ name: String, _ bytes: borrowing Span<UInt8>) throws(Unreadable) -> String {
            guard let text = optional(name, bytes) else { throw Unreadable() }
            return text
        }
        func number(_ name: String, _ bytes: borrowing Span<UInt8>) throws(Unreadable) -> UInt64 {
            guard let number = index.member(name, in: bytes).flatMap({ index.integer($0, in: bytes) }) else {
                throw Unreadable()
            }
            return number
        }
        guard try number("v", bytes) == 1 else { throw Unreadable() }
        id = try text("id", bytes)
        transaction = try text("txn", bytes)
        expires = try number("exp", bytes)
        amount = try number("amount", bytes)
        currency = try text("currency", bytes)
        expiry = optional("expiry", bytes)
        sequence = optional("psn", bytes)
        track2 = optional("track2", bytes)
        guard let pan = index.member("pan", in: bytes), pan.kind == .string else { throw Unreadable() }
        var digits: [UInt8] = []
        for offset in pan.value {
            guard (0x30...0x39).contains(bytes[offset]) else { throw Unreadable() }
            digits.append(bytes[offset] & 0x0F)
        }
        self.digits = digits
        guard let data = try? Hex.bytes(try text("emv", bytes)), let nodes = try? TLV.children(data) else {
            throw Unreadable()
        }
        emv = data
        objects = nodes.map { ($0.tag, Array(data[$0.value])) }
    }

    /// The check digit of ISO/IEC 7812-1 Annex B.
    package var passesLuhn: Bool {
        var sum = 0
        for (position, digit) in digits.reversed().enumerated() {
            let value = Int(digit) * (position.isMultiple(of: 2) ? 1 : 2)
            sum += value > 9 ? value - 9 : value
        }
        return (8...19).contains(digits.count) && sum.isMultiple(of: 10)
    }

    /// - Returns: the value of a data object, if the read has it.
    package func value(_ tag: Tag) -> [UInt8]? { objects.first { $0.0 == tag }?.1 }
}

extension OpenedRecord: CustomStringConvertible, CustomReflectable {
    package var description: String { "opened record" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
