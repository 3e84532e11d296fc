// SPDX-License-Identifier: Apache-2.0
import Crypto
import CryptoExtras

/// AES with a key of 16 bytes (FIPS 197), one block at a time: the modes of kernel 8 (CMAC, CMAC+, counter) are made of it.
package struct AES128: Sendable {
    /// 16 bytes of the cipher, the first eight in `high`, in order.
    package struct Block: Equatable, Sendable {
        var high: UInt64
        var low: UInt64

        static let zero = Block(high: 0, low: 0)

        package static func ^ (left: Block, right: Block) -> Block {
            Block(high: left.high ^ right.high, low: left.low ^ right.low)
        }
    }

    private let key: SymmetricKey

    /// - Parameter key: `nil` unless 16 bytes.
    package init?(key: [UInt8]) {
        guard key.count == 16 else { return nil }
        self.key = SymmetricKey(data: key)
    }

    /// FIPS 197 §5.1.
    package func encrypt(_ block: Block) -> Block {
        apply(block) { (bytes) throws in try AES.permute(&bytes, key: key) }
    }

    /// FIPS 197 §5.3.
    package func decrypt(_ block: Block) -> Block {
        apply(block) { (bytes) throws in try AES.inversePermute(&bytes, key: key) }
    }

    /// The cipher refuses other sizes only, which do not occur; a zero block would authenticate nothing.
    private func apply(_ block: Block, _ cipher: (inout [UInt8]) throws -> Void) -> Block {
        var bytes = block.bytes
        do { try cipher(&bytes) } catch { return .zero }
        return Block(bytes)
    }
}
