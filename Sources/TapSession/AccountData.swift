import CardBytes
import EMV

/// Where the account data of a read stand in its data record. Holds slices of the record, never text.
struct AccountData {
    /// Digits of the PAN, 0…9 each; empty where the record has none that is valid.
    let digits: [UInt8]
    /// Year and month, two digits each; `nil` where the record has none.
    let expiry: [UInt8]?
    /// Nibbles of Track 2 Equivalent Data without the filler: digits, and 13 for the separator.
    let track2: [UInt8]?

    private static let separator: UInt8 = 0x0D

    /// PAN from 5A, else from track 2 (57; 9F6B in mag-stripe mode); expiry from 5F24, else from track 2.
    init(_ record: [DataObject]) {
        let track = (record.value(of: 0x57) ?? record.value(of: 0x9F6B)).map(AccountData.nibbles)
        let end = track?.firstIndex(of: AccountData.separator)
        if let pan = record.value(of: 0x5A).flatMap({ BCD.digits($0) }), !pan.isEmpty {
            digits = pan
        } else if let track, let end, track[..<end].allSatisfy({ $0 < 10 }) {
            digits = Array(track[..<end])
        } else {
            digits = []
        }
        if let date = record.value(of: 0x5F24), date.count == 3, BCD.decode(date) != nil {
            expiry = Array(AccountData.nibbles(date).prefix(4))
        } else if let track, let end, track.count >= end + 5, track[(end + 1)...(end + 4)].allSatisfy({ $0 < 10 }) {
            expiry = Array(track[(end + 1)...(end + 4)])
        } else {
            expiry = nil
        }
        track2 = track
    }

    /// Whether the digits are a PAN by ISO/IEC 7812-1: 8 to 19 of them.
    var hasPAN: Bool { (8...19).contains(digits.count) }

    /// Whether `value` holds the PAN as packed digits, at either nibble, or as ASCII.
    func isSpelled(in value: [UInt8]) -> Bool {
        guard hasPAN else { return false }
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
