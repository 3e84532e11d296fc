// SPDX-License-Identifier: Apache-2.0
import Codes
import Testing

struct CodeTests {
    /// Counts of ISO 4217 list one and ISO 3166-1 as the Debian project's iso-codes (read through pycountry 26.2.16) has
    /// them; each code of both tables was compared with it.
    @Test func `the tables are whole and say each code once`() {
        #expect(CurrencyCode.all.count == 178)
        #expect(CurrencyCode.all.filter(\.isPayable).count == 157)
        #expect(Set(CurrencyCode.all.map(\.numeric)).count == 178)
        #expect(CountryCode.all.count == 249)
        #expect(Set(CountryCode.all.map(\.numeric)).count == 249)
        for code in CurrencyCode.all {
            #expect(code.letters.utf8.count == 3 && code.letters.utf8.allSatisfy { (0x41...0x5A).contains($0) })
            #expect(CurrencyCode(numeric: UInt64(code.numeric)) == code)
        }
        for code in CountryCode.all {
            #expect(code.letters.utf8.count == 2 && code.letters.utf8.allSatisfy { (0x41...0x5A).contains($0) })
            #expect(CountryCode(numeric: UInt64(code.numeric)) == code)
        }
    }

    /// The exceptions from two decimals of ISO 4217, list one. Unverified against the list itself: two tables that this
    /// project had before, made apart, agree on them.
    @Test func `all currencies that can be paid in have two decimals but these`() {
        let whole = ["BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV"]
        let exceptions: [(exponent: Int, letters: [String])] = [
            (0, whole + ["XAF", "XOF", "XPF"]), (3, ["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"]),
            (4, ["CLF", "UYW"]),
        ]
        let payable = CurrencyCode.all.filter(\.isPayable)
        for (exponent, letters) in exceptions {
            #expect(payable.filter { $0.exponent == exponent }.map(\.letters) == letters)
        }
        #expect(payable.count { $0.exponent == 2 } == 157 - 16 - 7 - 2)
    }

    @Test(arguments: [("EUR", 978), ("USD", 840), ("GBP", 826), ("JPY", 392), ("CHF", 756), ("XCG", 532), ("ZWG", 924)])
    func `a currency has its number`(letters: String, numeric: UInt16) {
        #expect(CurrencyCode(letters)?.numeric == numeric)
    }

    /// Withdrawn: the kuna, the lev (Bulgaria pays in euros since 2026), the guilder of the Antilles, the Zimbabwe dollar.
    @Test(arguments: ["HRK", "BGN", "ANG", "ZWL", "eur", ""])
    func `what has been withdrawn is no currency`(letters: String) {
        #expect(CurrencyCode(letters) == nil)
    }

    @Test(arguments: ["XAU", "XTS", "XXX", "XDR", "CHE", "UYI", "BOV", "XAD"])
    func `nobody pays in metals, funds and codes for tests`(letters: String) throws {
        #expect(try !#require(CurrencyCode(letters)).isPayable)
    }

    @Test(arguments: [("DE", 276), ("US", 840), ("GB", 826), ("CH", 756), ("AF", 4), ("SS", 728)])
    func `a country has its number`(letters: String, numeric: UInt16) {
        #expect(CountryCode(letters)?.numeric == numeric)
    }
}
