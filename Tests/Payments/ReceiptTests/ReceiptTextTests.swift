// SPDX-License-Identifier: Apache-2.0
import Codes
import POSAPI
import PaymentValues
import Printing
import Receipt
import Testing

@Suite("A receipt on paper")
struct ReceiptTextTests {
    @Test("A whole receipt in English on narrow paper")
    func golden() throws {
        let text = try ReceiptBench.receipt(.approved).text(width: 32, secondsFromUTC: 3_600)
        #expect(
            text == """
                 *** TEST - NO MONEY MOVES ***
                          Example Shop
                         Main Street 1
                             Berlin

                            PAYMENT
                         Customer copy

                Date            2026-03-01 09:31
                Terminal                00000001
                Order                       A-17
                No.
                019ca883-3e40-7000-8000-00000000
                                            0001
                --------------------------------
                Coat hire              15.00 EUR
                Voucher                -2.50 EUR
                TOTAL                  12.50 EUR
                --------------------------------
                Visa            ************0010
                Application          VISA CREDIT
                AID               A0000000031010
                Entry           contactless chip
                Verification              no CVM
                Account                  default
                Approval code             123456
                ARC                           00
                ARQC            0102030405060708
                TVR                   0000000000
                TSI                         0000
                ATC                         0001
                Card seq. no.                 01
                Reference              SANDBOX-1
                --------------------------------
                            APPROVED
                On your statement as EXAMPLE
                SHOP
                         Your receipt:
                https://receipts.example/1
                 *** TEST - NO MONEY MOVES ***

                """)
    }

    @Test("German amounts and dates are written as in Germany")
    func german() throws {
        let text = try ReceiptBench.receipt(.approved, .merchant, .german).text(width: 42)
        #expect(text.contains("12,50 EUR") && text.contains("01.03.2026 08:31") && text.contains("GENEHMIGT"))
        #expect(text.contains("Händlerbeleg") && !text.contains("12.50"))
    }

    @Test(
        "P9: no line takes more columns than the paper has, in any width, copy, language or state",
        arguments: Language.allCases)
    func width(language: Language) throws {
        let states: [TransactionState] = [
            .approved, .declined, .stored, .unknown, .reversing, .reversed, .cancelled, .failed,
        ]
        for state in states {
            for copy in Receipt.Copy.allCases {
                let receipt = try ReceiptBench.receipt(state, copy, language) { transaction in
                    transaction.details?.merchant?.displayName = "Ein sehr langer Name eines Geschäftes GmbH"
                    transaction.result?.receiptLines = [String(repeating: "Z", count: 130), "a b c"]
                    transaction.details?.description = .surchargePercent(hundredths: 235)
                    transaction.details?.items?[0].label = String(repeating: "W", count: 32)
                }
                for width in [0, 32, 40, 42, 48, 500] {
                    let limit = min(max(width, 32), 48)
                    for line in receipt.text(width: width).split(separator: "\n") {
                        #expect(Columns.count(line) <= limit, "\(line)")
                    }
                }
            }
        }
    }

    @Test("What would make a printer or a terminal obey is not printed")
    func control() throws {
        let receipt = try ReceiptBench.receipt(.approved) { transaction in
            transaction.details?.merchant?.displayName = "Shop\u{1B}@\u{7}\u{202E}"
            transaction.result?.receiptLines = ["\u{1B}p\u{0}", "line\nfeed"]
        }
        let text = receipt.text()
        let isPlain = text.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control }
        #expect(isPlain && !text.contains("\u{202E}"))
    }

    @Test("A runaway payment service does not empty the roll")
    func runaway() throws {
        let receipt = try ReceiptBench.receipt(.approved) {
            $0.result?.receiptLines = Array(repeating: "x", count: 5_000)
        }
        #expect(receipt.text().split(separator: "\n").count < 100)
    }

    static let descriptions: [(AmountDescription, english: String, german: String)] = [
        (.membership(cycle: .yearly), "Membership, yearly", "Mitgliedschaft, jährlich"),
        (.surchargePercent(hundredths: 235), "at most 2.35 %", "höchstens 2,35 %"),
        (.surchargePercent(hundredths: 250), "at most 2.5 %", "höchstens 2,5 %"),
        (.surchargePercent(hundredths: 205), "at most 2.05 %", "höchstens 2,05 %"),
        (.preauthorization, "Reserved, not charged", "Reserviert, nicht belastet"),
        (.preauthorizationRelease, "Reservation released", "Reservierung aufgehoben"),
    ]

    @Test("Requirements 45 and 51: what is reserved, repeated or added is said", arguments: descriptions)
    func describes(description: AmountDescription, english: String, german: String) throws {
        for (language, words) in [(Language.english, english), (.german, german)] {
            let receipt = try ReceiptBench.receipt(.approved, .customer, language) {
                $0.details?.description = description
            }
            #expect(receipt.text(width: 48).contains(words))
        }
    }

    @Test(
        "M10: the largest amount stands whole on narrow paper", arguments: ["EUR", "IDR", "IRR", "KWD", "CLF", "JPY"])
    func largestAmount(code: String) throws {
        let currency = try #require(Currency(code))
        let most = Money(value: Limits.amount, currency: currency)
        let text = try ReceiptBench.receipt(.approved) { transaction in
            transaction.amount = most
            transaction.details?.items = nil
        }.text(width: 32, secondsFromUTC: 0)
        let lines = text.split(separator: "\n").filter { $0.contains(most.description) }
        #expect(!lines.isEmpty && lines.allSatisfy { $0.count <= 32 })
    }
}
