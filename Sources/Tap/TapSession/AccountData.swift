// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV

/// The account data of a read as the envelope holds them, and a check that nothing else holds them. Never text.
struct AccountData {
    /// Digits of the PAN, 0…9 each; empty where the record has none that is valid.
    let digits: [UInt8]
    /// Year and month, two digits each; `nil` where the record has none.
    let expiry: [UInt8]?
    /// Nibbles of Track 2 Equivalent Data without the filler: digits, and 13 for the separator.
    let track2: [UInt8]?

    init(_ record: [DataObject]) {
        let account = CardAccount(record: record)
        digits = account?.pan ?? []
        expiry = account?.expiry.map { Array(AccountData.nibbles($0.yymmdd).prefix(4)) }
        track2 = (record.value(of: 0x57) ?? record.value(of: 0x9F6B)).map(AccountData.nibbles)
    }

    /// Whether the digits are a PAN by ISO/IEC 7812-1: 8 to 19 of them.
    var hasPAN: Bool { (8...19).contains(digits.count) }

    /// Whether `value` holds the PAN as packed digits, at either nibble, or as ASCII.
    func isSpelled(in value: [UInt8]) -> Bool {
        // Two digits a byte at most: what is shorter holds none.
        guard hasPAN, value.count * 2 >= digits.count else { return false }
        let nibbles = value.flatMap { [$0 >> 4, $0 & 0x0F] }
        return AccountData.contains(nibbles, digits) || AccountData.contains(value, digits.map { $0 | 0x30 })
    }

    private static func nibbles(_ bytes: [UInt8]) -> [UInt8] {
        var nibbles = bytes.flatMap { [$0 >> 4, $0 & 0x0F] }
        while nibbles.last == 0x0F { nibbles.removeLast() }
        return nibbles
    }

    private static func contains(_ haystack: [UInt8], _ needle: [UInt8]) -> Bool {
        guard !needle.isEmpty, haystack.count >= needle.count else { return false }
        return (0...(haystack.count - needle.count)).contains { haystack[$0...].starts(with: needle) }
    }
}

extension AccountData: CustomStringConvertible, CustomReflectable {
    var description: String { "account data" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
