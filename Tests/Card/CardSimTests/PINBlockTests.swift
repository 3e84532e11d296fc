// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMVCrypto
import Testing

@testable import CardSim

/// Against the examples of the standards, and against blocks that another hand has made.
@Suite struct PINBlockTests {
    private func digits(_ text: String) -> [UInt8] { text.utf8.map { $0 - 0x30 } }

    @Test func `an AES device's first PIN key is the one of X9·24-3's own example`() throws {
        let key = DUKPT.pinKey(
            aes128: try hex("FEDCBA9876543210F1F1F1F1F1F1F1F1"), serial: try hex("123456789012345600000001"))
        #expect(key == (try hex("AF8CB133A78F8DC2D1359F18527593FB")))
        #expect(key == TestPINKeys.KeySet.aes.pinKey(TestPINKeys.KeySet.aes.serial(1)))
    }

    /// The first of X9.24-1 Annex A.4: key serial number FFFF9876543210E00001, PIN 1234, card 4012345678909.
    @Test func `a triple DES device's first block is the one of X9·24-1's own example`() throws {
        let key = try #require(
            DUKPT.pinKey(
                tripleDES: try hex("0123456789ABCDEFFEDCBA9876543210"), serial: try hex("FFFF9876543210E00001")))
        // Its key 042666B49184CFA368DE9628D0397BC9 with the variant for PINs.
        #expect(key == (try hex("042666B49184CF5C68DE9628D0397B36")))
        let block = PINBlock.sealed(pin: [1, 2, 3, 4], account: digits("401234567890"), format: .zero, key: key)
        #expect(block == (try hex("1B9C1845EB993A7A")))
        #expect(TestPINKeys.KeySet.tripleDES.serial(1) == (try hex("FFFF9876543210E00001")))
    }

    /// The block and what is in it were made with `cryptography` (Apache-2.0 or BSD), from the facts of ISO 9564-1.
    @Test func `a block of format 4 binds the whole number, as another implementation makes it`() throws {
        let random = try hex("2F69ADDE2E9E7ACE")
        var next = random.makeIterator()
        let key = try hex("AF8CB133A78F8DC2D1359F18527593FB")
        let number = digits("4111111111111111")
        let block = PINBlock.sealed(pin: [1, 2, 3, 4], account: number, format: .four, key: key) { next.next() ?? 0 }
        #expect(block == (try hex("A912150391AB65A67E52883D81CE2D15")))
        #expect(PINBlock.opened(block ?? [], account: number, format: .four, key: key) == [1, 2, 3, 4])
    }

    @Test func `blocks and keys that others have made open here, and format 0 is made as they make it`() throws {
        #expect(ForeignPINBlocks.tripleDES.count == 14 && ForeignPINBlocks.aes.count == 6)
        for (serial, pin, number, zero, three) in ForeignPINBlocks.tripleDES {
            let (serial, number, pin) = (try hex(serial), digits(number), digits(pin))
            let keySet = TestPINKeys.KeySet.tripleDES
            let key = try #require(keySet.pinKey(serial))
            let account = Array(number.dropLast().suffix(12))
            #expect(PINBlock.sealed(pin: pin, account: account, format: .zero, key: key) == (try hex(zero)))
            for (format, block) in [(PINBlock.Format.zero, zero), (.three, three)] {
                let opened = TestPINKeys.pin(
                    in: try hex(block), serial: serial, of: keySet, format: format, number: number)
                #expect(opened == pin, "\(format) of \(serial)")
            }
        }
        for (key, pin, number, block) in ForeignPINBlocks.aes {
            let opened = PINBlock.opened(
                try hex(block), account: digits(number), format: .four, key: try hex(key))
            #expect(opened == digits(pin), "\(number)")
        }
    }

    @Test func `what psec takes for the clear of formats 0 and 3 is what is enciphered`() throws {
        let key = try hex("042666B49184CFA368DE9628D0397BC9")
        let cipher = try #require(TripleDES(key: key))
        let account = digits("433221100996")
        let zero = try #require(PINBlock.sealed(pin: [1, 2, 3, 4], account: account, format: .zero, key: key))
        #expect(TripleDES.bytes(cipher.decrypted(TripleDES.block(zero))) == (try hex("041277CDDEEFF669")))
        // Filled with CDEFABCDEF.
        var next: IndexingIterator<[UInt8]> = [2, 3, 4, 5, 0, 1, 2, 3, 4, 5].makeIterator()
        let three = try #require(
            PINBlock.sealed(pin: [1, 2, 3, 4], account: account, format: .three, key: key) { next.next() ?? 0 })
        #expect(TripleDES.bytes(cipher.decrypted(TripleDES.block(three))) == (try hex("341277FFCEBBC479")))
    }

    @Test func `every format and length opens with its own card and key, and with no other`() throws {
        for keySet in TestPINKeys.KeySet.allCases {
            for (counter, format) in keySet.formats.enumerated() {
                let serial = keySet.serial(UInt32(counter) + 0x1234)
                let key = try #require(keySet.pinKey(serial))
                for length in 4...12 {
                    for number in ["5413330089010012", "4012345678909", "6799998900000000018"] {
                        let pin = (0..<length).map { UInt8($0 * 7 % 10) }
                        let account =
                            format.takesWholeNumber ? digits(number) : Array(digits(number).dropLast().suffix(12))
                        let block = try #require(
                            PINBlock.sealed(pin: pin, account: account, format: format, key: key))
                        func opened(_ serial: [UInt8], _ number: String) -> [UInt8]? {
                            TestPINKeys.pin(
                                in: block, serial: serial, of: keySet, format: format, number: digits(number))
                        }
                        #expect(opened(serial, number) == pin)
                        #expect(opened(serial, "5413330089010095") != pin)
                        #expect(opened(keySet.serial(77), number) != pin)
                    }
                }
            }
        }
    }

    @Test func `what is no PIN, no account or no key makes no block`() throws {
        let key = try hex("042666B49184CFA368DE9628D0397BC9")
        let account = digits("433221100996")
        for pin in [[1, 2, 3], [UInt8](repeating: 1, count: 13), [1, 2, 3, 10]] as [[UInt8]] {
            #expect(PINBlock.sealed(pin: pin, account: account, format: .zero, key: key) == nil)
        }
        #expect(PINBlock.sealed(pin: [1, 2, 3, 4], account: digits("1234"), format: .zero, key: key) == nil)
        #expect(PINBlock.sealed(pin: [1, 2, 3, 4], account: digits("1234"), format: .four, key: key) == nil)
        #expect(PINBlock.sealed(pin: [1, 2, 3, 4], account: account, format: .three, key: [1]) == nil)
        #expect(PINBlock.opened([1, 2], account: account, format: .zero, key: key) == nil)
        #expect(DUKPT.pinKey(tripleDES: key, serial: [1]) == nil)
        #expect(DUKPT.pinKey(aes128: key, serial: [1]) == nil)
    }
}
