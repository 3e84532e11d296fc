// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Crypto
import Envelope

/// RSAES-OAEP with SHA-256, an empty label and a message of 32 bytes (RFC 8017 §7.1.2), where the token does the RSA and no more.
enum OAEP {
    /// SHA-256 of nothing.
    private static let label = Array(SHA256.hash(data: [UInt8]()))

    /// The content key under the padding, or `instead` where there is no such padding: nobody can tell from the time or from the answer
    /// which byte was wrong (Manger, CRYPTO 2001). With a message of 32 bytes each byte has one place only, so that nothing has to be
    /// looked for.
    ///
    /// - Parameters:
    ///   - block: what RSA gives, with or without the leading zeros.
    ///   - size: bytes of the modulus, at least 128.
    ///   - instead: 32 bytes.
    static func contentKey(_ block: SecretBytes, size: Int, instead: SecretBytes) -> SecretBytes {
        guard block.count <= size, size >= 128, instead.count == 32 else { return instead }
        var bytes = [UInt8](repeating: 0, count: size)
        defer { JWE.wipe(&bytes) }
        block.withSpan { span in
            for index in span.indices { bytes[size - span.count + index] = span[index] }
        }
        var seed = Array(bytes[1..<33])
        defer { JWE.wipe(&seed) }
        var data = Array(bytes[33...])
        defer { JWE.wipe(&data) }
        mask(&seed, with: data)
        mask(&data, with: seed)

        var fault = bytes[0]
        for index in 0..<32 { fault |= data[index] ^ label[index] }
        let separator = data.count - 33
        for index in 32..<separator { fault |= data[index] }
        fault |= data[separator] ^ 1
        // FF where nothing is wrong, else 00.
        let isRight = UInt8(truncatingIfNeeded: (UInt16(fault) &- 1) >> 8)
        return SecretBytes(capacity: 32) { writer in
            instead.withSpan { other in
                for index in 0..<32 {
                    writer.append(data[separator + 1 + index] & isRight | other[index] & ~isRight)
                }
            }
        }
    }

    /// MGF1 of SHA-256 (RFC 8017 §B.2.1).
    private static func mask(_ bytes: inout [UInt8], with seed: [UInt8]) {
        var counter: UInt32 = 0
        var index = 0
        while index < bytes.count {
            var hash = SHA256()
            hash.update(data: seed)
            hash.update(data: [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: counter >> $0) })
            for byte in hash.finalize() where index < bytes.count {
                bytes[index] ^= byte
                index += 1
            }
            counter += 1
        }
    }
}
