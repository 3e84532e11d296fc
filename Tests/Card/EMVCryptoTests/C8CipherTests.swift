// SPDX-License-Identifier: Apache-2.0
import EMV
import Testing

@testable import EMVCrypto

/// AES, its modes and the keys of kernel 8's secure channel against independent results.
@Suite struct C8CipherTests {
    private func rows(_ kind: String, count: Int) throws -> [C8Vector] {
        let rows = try C8Vector.rows(kind)
        try #require(rows.count == count)
        return rows
    }

    @Test func `AES encrypts and decrypts a block`() throws {
        for row in try rows("aes", count: 21) {
            let cipher = try #require(AES128(key: row["key"]))
            #expect(cipher.encrypt(AES128.Block(row["plain"])).bytes == row["cipher"])
            #expect(cipher.decrypt(AES128.Block(row["cipher"])).bytes == row["plain"])
        }
    }

    @Test func `only keys of 16 bytes are keys`() {
        for count in [0, 15, 17, 24, 32] { #expect(AES128(key: [UInt8](repeating: 1, count: count)) == nil) }
    }

    @Test func `CMAC over messages of any length`() throws {
        for row in try rows("cmac", count: 11) {
            #expect(try #require(AES128(key: row["key"])).mac(row["message"]) == row["mac"])
        }
    }

    @Test func `CMAC+ is the CMAC decrypted with itself as the start value`() throws {
        for row in try rows("cmac-plus", count: 4) {
            #expect(try #require(AES128(key: row["key"])).macPlus(row["message"]) == row["mac"])
        }
    }

    @Test func `counter mode starts with the message counter and is its own inverse`() throws {
        for row in try rows("counter", count: 4) {
            let counter = row["counter"].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
            let cipher = try #require(AES128(key: row["key"]))
            let start = AES128.Block(high: counter << 48, low: 0)
            #expect(cipher.apply(row["plain"], start: start) == row["cipher"])
            #expect(cipher.apply(row["cipher"], start: start) == row["plain"])
        }
        #expect(try #require(AES128(key: [UInt8](repeating: 0, count: 16))).apply([], start: .zero) == [])
    }

    @Test func `both sides' keys make the same channel`() throws {
        let cryptography = SecureChannelCryptography.using(.none(.test))
        for row in try rows("channel", count: 4) {
            #expect(cryptography.publicKey(row["kernelPrivate"]) == row["kernelPublic"])
            let keys = try #require(cryptography.sessionKeys(row["kernelPrivate"], row["blindedKey"]))
            #expect(keys.apply(0x8000, row["encryptedFactor"]) == row["blindingFactor"])
            #expect(keys.apply(0x8001, row["cipher8001"]) == row["plain"])
            #expect(keys.mac(row["plain"]) == row["mac"])
            let card = try #require(CurvePoint(x: row["cardKey"]))
            #expect(card.x(times: row["blindingFactor"]) == row["blindedKey"])
            #expect(!"\(keys)".contains("["))
        }
    }

    @Test func `what is no key opens no channel`() throws {
        let cryptography = SecureChannelCryptography.using(.none(.test))
        let row = try #require(C8Vector.rows("channel").first)
        let zero = [UInt8](repeating: 0, count: 32)
        let highest = [UInt8](repeating: 0xFF, count: 32)
        for key in [zero, highest, CurvePoint.order, [], Array(row["kernelPrivate"].dropLast())] {
            #expect(cryptography.publicKey(key) == nil)
            #expect(cryptography.sessionKeys(key, row["blindedKey"]) == nil)
        }
        for point in [highest, [], Array(row["blindedKey"].dropLast()), row["kernelPublic"]] {
            #expect(cryptography.sessionKeys(row["kernelPrivate"], point) == nil)
        }
    }
}
