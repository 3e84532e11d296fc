// SPDX-License-Identifier: Apache-2.0
import Codes
import Foundation
import Testing

@Suite("What is written for letters that a device lacks")
struct LettersTests {
    private func ascii(_ text: String) -> String { Letters.replaced(in: text) { $0.isASCII } }

    @Test(
        "P5: signs and letters of python-escpos #312 and escpos-php #796, of Polish and of Greek are written in ASCII")
    func reported() {
        #expect(ascii("’–„“…œŽŁ") == "'-\"\"...oeZL")
        #expect(ascii("1\u{202F}234,56\u{A0}€") == "1 234,56 EUR")
        #expect(ascii("Zażółć gęślą jaźń") == "Zazolc gesla jazn")
        // ISO 843, type 2, without its pairs.
        #expect(ascii("Ευχαριστώ, Θεσσαλονίκη") == "Eycharisto, Thessaloniki")
        #expect(ascii("Шостакович") == "Shostakovich")
        #expect(ascii("漢") == "?")
    }

    @Test(
        "P5: every letter of Latin Extended-A has letters of its own, that of Foundation's decomposition where there is one"
    )
    func latin() throws {
        for value in UInt32(0xC0)...0x17F where value != 0xD7 && value != 0xF7 {
            let letter = String(Character(try #require(Unicode.Scalar(value))))
            let written = ascii(letter)
            #expect(!written.contains("?") && !written.isEmpty, "\(letter)")
            let base = letter.decomposedStringWithCanonicalMapping.unicodeScalars.first.map { String($0) } ?? ""
            if base != letter, base.first?.isASCII == true { #expect(written.hasPrefix(base), "\(letter)") }
        }
    }

    @Test("P5: what the device has is left as it is")
    func known() { #expect(Letters.replaced(in: "Grüße €") { $0 == "ü" || $0 == "ß" || $0.isASCII } == "Grüße EUR") }
}
