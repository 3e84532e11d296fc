// SPDX-License-Identifier: Apache-2.0
import EMVCrypto

/// Two-key triple DES: encrypt with the left half, decrypt with the right, encrypt with the left (ISO/IEC 18033-3).
struct TripleDES: Sendable {
    /// 16 bytes.
    let key: [UInt8]
    private let left: DES
    private let right: DES

    /// - Returns: `nil` for a key of other than 16 bytes.
    init?(key: [UInt8]) {
        guard key.count == 16 else { return nil }
        self.key = key
        left = DES(key: TripleDES.block(key[..<8]))
        right = DES(key: TripleDES.block(key[8...]))
    }

    func encrypted(_ block: UInt64) -> UInt64 { left.encrypted(right.decrypted(left.encrypted(block))) }

    func decrypted(_ block: UInt64) -> UInt64 { left.decrypted(right.encrypted(left.decrypted(block))) }

    /// MAC algorithm 3 of ISO/IEC 9797-1 (the retail MAC) over data of whole blocks: eight bytes.
    func mac(_ data: [UInt8]) -> [UInt8] {
        var chained: UInt64 = 0
        for start in stride(from: 0, to: data.count - data.count % 8, by: 8) {
            chained = left.encrypted(chained ^ TripleDES.block(data[start..<(start + 8)]))
        }
        return TripleDES.bytes(left.encrypted(right.decrypted(chained)))
    }

    /// The cryptogram of an issuer's answer by method 1 (EMV Book 2 §8.2.1): the request's cryptogram, exclusive-or the
    /// response code that is filled with zeros, enciphered.
    func responseCryptogram(request: [UInt8], responseCode: [UInt8]) -> [UInt8] {
        let code = TripleDES.block(responseCode.prefix(2) + [0, 0, 0, 0, 0, 0])
        return TripleDES.bytes(encrypted(TripleDES.block(request.prefix(8)) ^ code))
    }

    /// Up to eight bytes, big-endian.
    static func block(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    static func bytes(_ block: UInt64) -> [UInt8] {
        (0..<8).reversed().map { UInt8(truncatingIfNeeded: block >> (UInt64($0) * 8)) }
    }
}
