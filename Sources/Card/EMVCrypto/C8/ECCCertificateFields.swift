// SPDX-License-Identifier: Apache-2.0
import EMV

/// Takes the fields of a certificate one after the other.
struct ECCCertificateFields {
    private var rest: ArraySlice<UInt8>
    /// Everything before the signature: what it is made over.
    let signed: [UInt8]
    let signature: SchnorrSignature

    /// - Parameter count: length of the certificate in bytes; `nil` for any other.
    init?(_ certificate: [UInt8], count: Int) {
        guard certificate.count == count, let signature = SchnorrSignature(certificate.suffix(64)) else { return nil }
        self.signature = signature
        signed = Array(certificate.dropLast(64))
        rest = signed[...]
    }

    mutating func take(_ count: Int) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    mutating func takes(_ expected: [UInt8]) -> Bool { take(expected.count) == expected }

    /// YYYYMMDD in BCD, four bytes.
    mutating func date() -> EMVDate? {
        let digits = take(4).flatMap { [Int($0 >> 4), Int($0 & 0x0F)] }
        guard digits.count == 8, digits.allSatisfy({ $0 < 10 }) else { return nil }
        func number(_ range: Range<Int>) -> Int { digits[range].reduce(0) { $0 * 10 + $1 } }
        let date = EMVDate(year: number(0..<4), month: number(4..<6), day: number(6..<8))
        return date.isPlausible ? date : nil
    }
}
