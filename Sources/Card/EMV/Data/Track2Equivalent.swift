// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Track 2 Equivalent Data (57, or 9F6B in mag-stripe mode): PAN, separator D, YYMM, service code, discretionary data,
/// filler F (EMV Book 3 Annex A). All parts as digits, one value 0…9 a digit.
public struct Track2Equivalent: Equatable, Sendable {
    /// Up to 19 digits.
    public let pan: [UInt8]
    /// YYMM.
    public let expiry: [UInt8]
    /// Three digits; `nil` where the card has none.
    public let serviceCode: [UInt8]?
    /// What follows, as nibbles, without the filler at the end.
    public let discretionary: [UInt8]

    /// - Parameter bytes: the value as sent; `nil` where there is no separator after at most 19 digits, or no expiry
    ///   of four digits after it.
    public init?(_ bytes: some Collection<UInt8>) {
        var nibbles: [UInt8] = []
        nibbles.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            nibbles.append(byte >> 4)
            nibbles.append(byte & 0x0F)
        }
        guard let separator = nibbles.prefix(20).firstIndex(of: 0x0D) else { return nil }
        guard separator > 0, nibbles[..<separator].allSatisfy({ $0 < 10 }) else { return nil }
        let rest = nibbles[(separator + 1)...]
        guard rest.count >= 4, rest.prefix(4).allSatisfy({ $0 < 10 }) else { return nil }
        pan = Array(nibbles[..<separator])
        expiry = Array(rest.prefix(4))
        let code = rest.dropFirst(4).prefix(3)
        serviceCode = code.count == 3 && code.allSatisfy { $0 < 10 } ? Array(code) : nil
        var tail = Array(rest.dropFirst(7))
        while tail.last == 0x0F { tail.removeLast() }
        discretionary = tail
    }

    /// The PAN packed as format cn in `count` bytes, as 5A holds it.
    public func packedPAN(count: Int) -> [UInt8]? { BCD.pack(pan, count: count) }
}

extension Track2Equivalent: CustomStringConvertible, CustomReflectable {
    public var description: String { "track 2 of \(pan.count) PAN digits" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
