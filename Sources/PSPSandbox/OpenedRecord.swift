// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Envelope
import StrictJSON
import Wire

/// What the sandbox takes out of an opened envelope.
struct OpenedRecord: Sendable {
    let id: String
    let transaction: String
    /// Seconds since 1970.
    let expires: UInt64
    let amount: UInt64
    let currency: String
    /// 0…9 each.
    let digits: [UInt8]
    /// YYMM.
    let expiry: String?
    /// All data objects of the read.
    let objects: [(Tag, [UInt8])]

    /// - Throws: `.unreadable` for what is no record of version 1.
    init(_ plaintext: SecretBytes) throws(EnvelopeFault) {
        self = try plaintext.withSpan { (bytes) throws(EnvelopeFault) in try OpenedRecord(bytes) }
    }

    private init(_ bytes: borrowing Span<UInt8>) throws(EnvelopeFault) {
        guard let index = try? JSONIndex(bytes) else { throw .unreadable }
        func text(_ name: String, _ bytes: borrowing Span<UInt8>) throws(EnvelopeFault) -> String {
            guard let text = index.member(name, in: bytes).flatMap({ index.string($0, in: bytes) }) else {
                throw .unreadable
            }
            return text
        }
        func number(_ name: String, _ bytes: borrowing Span<UInt8>) throws(EnvelopeFault) -> UInt64 {
            guard let number = index.member(name, in: bytes).flatMap({ index.integer($0, in: bytes) }) else {
                throw .unreadable
            }
            return number
        }
        guard try number("v", bytes) == 1 else { throw .unreadable }
        id = try text("id", bytes)
        transaction = try text("txn", bytes)
        expires = try number("exp", bytes)
        amount = try number("amount", bytes)
        currency = try text("currency", bytes)
        expiry = index.member("expiry", in: bytes).flatMap { index.string($0, in: bytes) }
        guard let pan = index.member("pan", in: bytes), pan.kind == .string else { throw .unreadable }
        var digits: [UInt8] = []
        for offset in pan.value {
            guard (0x30...0x39).contains(bytes[offset]) else { throw .unreadable }
            digits.append(bytes[offset] & 0x0F)
        }
        self.digits = digits
        guard let data = try? Hex.bytes(try text("emv", bytes)), let nodes = try? TLV.children(data) else {
            throw .unreadable
        }
        objects = nodes.map { ($0.tag, Array(data[$0.value])) }
    }

    /// The check digit of ISO/IEC 7812-1 Annex B.
    var passesLuhn: Bool {
        var sum = 0
        for (position, digit) in digits.reversed().enumerated() {
            let value = Int(digit) * (position.isMultiple(of: 2) ? 1 : 2)
            sum += value > 9 ? value - 9 : value
        }
        return (8...19).contains(digits.count) && sum.isMultiple(of: 10)
    }

    /// Whether the card's last month is over at `now`, milliseconds since 1970 being UTC.
    func isExpired(at now: Timestamp) -> Bool {
        guard let expiry, expiry.utf8.count == 4, let number = Int(expiry) else { return true }
        let today = now.components
        return (number / 100 + 2000, number % 100) < (today.year, today.month)
    }
}

extension OpenedRecord: CustomStringConvertible, CustomReflectable {
    var description: String { "opened record" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
