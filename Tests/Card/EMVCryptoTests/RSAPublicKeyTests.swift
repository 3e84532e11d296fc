// SPDX-License-Identifier: Apache-2.0
import EMVCrypto
import Testing

@Suite struct RSAPublicKeyTests {
    @Test func `the public operation equals an independent modular power`() throws {
        #expect(try Vectors.publicOperations().count == 123)
        for vector in try Vectors.publicOperations() {
            let key = try #require(RSAPublicKey(modulus: hex(vector.modulus), exponent: vector.exponent))
            #expect(try key.recover(hex(vector.signature)) == hex(vector.result), "\(vector.id)")
        }
    }

    @Test func `a signature of another length than the modulus is refused`() throws {
        let key = try #require(RSAPublicKey(modulus: [0xFF] + [UInt8](repeating: 1, count: 63), exponent: 3))
        #expect(key.recover([UInt8](repeating: 1, count: 63)) == nil)
        #expect(key.recover([UInt8](repeating: 0, count: 65)) == nil)
        #expect(key.recover([]) == nil)
    }

    @Test func `a signature that is not below the modulus is refused`() throws {
        let modulus = [UInt8](repeating: 0xA5, count: 64)
        let key = try #require(RSAPublicKey(modulus: modulus, exponent: 3))
        #expect(key.recover(modulus) == nil)
        #expect(key.recover([UInt8](repeating: 0xFF, count: 64)) == nil)
        #expect(key.recover([UInt8](repeating: 0xA5, count: 63) + [0xA4]) != nil)
    }

    @Test(arguments: [[], [0], [1], [2], [0, 0, 0], [0x80, 0x00], [UInt8](repeating: 0xFF, count: 257)] as [[UInt8]])
    func `what is no odd number of at most 2048 bits is no modulus`(_ modulus: [UInt8]) {
        #expect(RSAPublicKey(modulus: modulus, exponent: 3) == nil)
    }

    @Test func `an exponent below two is no exponent`() {
        #expect(RSAPublicKey(modulus: [0x23], exponent: 0) == nil)
        #expect(RSAPublicKey(modulus: [0x23], exponent: 1) == nil)
        #expect(RSAPublicKey(modulus: [0x23], exponent: 2)?.recover([0x07]) == [14])
    }

    @Test func `exponent fields are numbers with leading zeros allowed`() {
        #expect(RSAPublicKey.exponent([0x03]) == 3)
        #expect(RSAPublicKey.exponent([0x01, 0x00, 0x01]) == 65537)
        #expect(RSAPublicKey.exponent([0, 0, 0, 0, 0, 3]) == 3)
        #expect(RSAPublicKey.exponent([0xFF, 0xFF, 0xFF, 0xFF]) == .max)
        #expect(RSAPublicKey.exponent([0x01, 0, 0, 0, 0]) == nil)
        #expect(RSAPublicKey.exponent([]) == nil)
        #expect(RSAPublicKey.exponent([1]) == nil)
    }
}
