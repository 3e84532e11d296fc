// SPDX-License-Identifier: Apache-2.0
/// A code of ISO 4217, list one.
public struct CurrencyCode: Hashable, Sendable {
    /// Three upper-case letters.
    public let letters: String
    /// 1…999, as EMV tag 5F2A holds it in BCD.
    public let numeric: UInt16
    /// Decimals of the minor unit: 0, 2, 3 or 4. 0 as well for what has no minor unit, such as gold.
    public let exponent: Int
    /// Whether a payment can be made in it: no fund, no metal, no unit of account between banks, no code for tests.
    public let isPayable: Bool

    /// The largest amount of a payment in minor units, in any currency: twelve digits, as EMV tag 9F02 and field 4 of ISO 8583
    /// have them.
    public static let largestAmount: Int64 = 999_999_999_999

    /// - Returns: `nil` for what is not on the list; case matters.
    public init?(_ letters: String) {
        guard let code = CurrencyCode.byLetters[letters] else { return nil }
        self = code
    }

    /// - Returns: `nil` for a number that is not on the list.
    public init?(numeric: UInt64) {
        guard let code = CurrencyCode.byNumber[numeric] else { return nil }
        self = code
    }

    /// The whole list in the order of the letters.
    public static var all: [CurrencyCode] { byLetters.values.sorted { $0.letters < $1.letters } }

    private static let byLetters = Dictionary(uniqueKeysWithValues: table.map { ($0.letters, $0) })
    private static let byNumber = Dictionary(uniqueKeysWithValues: table.map { (UInt64($0.numeric), $0) })

    private static let table: [CurrencyCode] =
        codes(payable, exponent: 2) + codes(payableWhole, exponent: 0) + codes(payableThousandths, exponent: 3)
        + codes(payableTenThousandths, exponent: 4) + codes(others, exponent: 2, isPayable: false)
        + codes(othersWhole, exponent: 0, isPayable: false)

    private static func codes(_ words: String, exponent: Int, isPayable: Bool = true) -> [CurrencyCode] {
        NumberedCode.list(words).map { code in
            CurrencyCode(letters: code.letters, numeric: code.numeric, exponent: exponent, isPayable: isPayable)
        }
    }

    private init(letters: String, numeric: UInt16, exponent: Int, isPayable: Bool) {
        self.letters = letters
        self.numeric = numeric
        self.exponent = exponent
        self.isPayable = isPayable
    }

    /// Hundredths.
    private static let payable = """
        784AED 971AFN 008ALL 051AMD 973AOA 032ARS 036AUD 533AWG 944AZN 977BAM 052BBD 050BDT 060BMD 096BND 068BOB
        986BRL 044BSD 064BTN 072BWP 933BYN 084BZD 124CAD 976CDF 756CHF 156CNY 170COP 188CRC 192CUP 132CVE 203CZK
        208DKK 214DOP 012DZD 818EGP 232ERN 230ETB 978EUR 242FJD 238FKP 826GBP 981GEL 936GHS 292GIP 270GMD 320GTQ
        328GYD 344HKD 340HNL 332HTG 348HUF 360IDR 376ILS 356INR 364IRR 388JMD 404KES 417KGS 116KHR 408KPW 136KYD
        398KZT 418LAK 422LBP 144LKR 430LRD 426LSL 504MAD 498MDL 969MGA 807MKD 104MMK 496MNT 446MOP 929MRU 480MUR
        462MVR 454MWK 484MXN 458MYR 943MZN 516NAD 566NGN 558NIO 578NOK 524NPR 554NZD 590PAB 604PEN 598PGK 608PHP
        586PKR 985PLN 634QAR 946RON 941RSD 643RUB 682SAR 090SBD 690SCR 938SDG 752SEK 702SGD 654SHP 925SLE 706SOS
        968SRD 728SSP 930STN 222SVC 760SYP 748SZL 764THB 972TJS 934TMT 776TOP 949TRY 780TTD 901TWD 834TZS 980UAH
        840USD 858UYU 860UZS 926VED 928VES 882WST 951XCD 532XCG 886YER 710ZAR 967ZMW 924ZWG
        """

    /// No minor unit in use.
    private static let payableWhole = """
        108BIF 152CLP 262DJF 324GNF 352ISK 392JPY 174KMF 410KRW 600PYG 646RWF 800UGX 704VND 548VUV 950XAF 952XOF
        953XPF
        """

    /// Thousandths.
    private static let payableThousandths = """
        048BHD 368IQD 400JOD 414KWD 434LYD 512OMR 788TND
        """

    /// The unit of account of Chile and the pension unit of Uruguay: prices are written in both.
    private static let payableTenThousandths = """
        990CLF 927UYW
        """

    /// Funds, and the Arab accounting dinar.
    private static let others = """
        984BOV 947CHE 948CHW 970COU 979MXV 997USN 396XAD
        """

    /// A fund without a minor unit, metals, units between banks, XTS for tests and XXX for no currency.
    private static let othersWhole = """
        940UYI 961XAG 959XAU 955XBA 956XBB 957XBC 958XBD 960XDR 964XPD 962XPT 994XSU 963XTS 965XUA 999XXX
        """
}
