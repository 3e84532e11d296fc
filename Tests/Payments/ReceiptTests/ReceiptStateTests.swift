// SPDX-License-Identifier: Apache-2.0
import Foundation
import POSAPI
import PaymentValues
import Printing
import Receipt
import Testing

@Suite("A receipt is the state now")
struct ReceiptStateTests {
    private static let euro = Currency("EUR")

    private static func account(
        _ state: PaymentAccount.State, capture: PaymentAccount.Capture = .manual, authorised: Int64 = 10_000,
        captured: Int64 = 0, released: Int64 = 0, refunded: Int64 = 0, pendingRefund: Int64 = 0
    ) throws -> PaymentAccount {
        PaymentAccount(
            currency: try #require(euro), capture: capture, state: state, authorised: authorised, captured: captured,
            released: released, refunded: refunded, pendingCapture: 0, pendingRefund: pendingRefund,
            remaining: max(0, authorised - captured - released), capturableUpTo: 0, refundable: 0)
    }

    private func held(_ account: PaymentAccount, tip: Int64? = nil, _ language: Language = .english) throws -> Receipt {
        let transaction = try ReceiptBench.transaction(.approved) { transaction in
            transaction.amount = Money(value: 10_000, currency: account.currency)
            transaction.details?.items = nil
            transaction.details?.amountStatus = .preauthorized
            transaction.details?.description = .preauthorization
            transaction.account = account
        }
        var operations: [PaymentOperation] = []
        if let tip {
            var capture = PaymentOperation(
                id: OperationID(), transaction: transaction.id, kind: .capture, state: .done,
                createdAt: transaction.createdAt)
            capture.tip = Money(value: tip, currency: account.currency)
            operations = [capture]
        }
        return try #require(Receipt(of: transaction, operations: operations, copy: .customer, language: language))
    }

    /// A line of two columns, its gap closed.
    private func lines(_ receipt: Receipt, width: Int = 42) -> [String] {
        receipt.text(width: width).split(separator: "\n").map { line in
            line.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
        }
    }

    @Test("P1: what is held, and not captured, stays a pre-authorisation of the sum that is held now")
    func heldStill() throws {
        let adjusted = try held(Self.account(.open, authorised: 15_000))
        #expect(adjusted.amount?.value == 15_000 && adjusted.amountStatus == .preauthorized)
        #expect(lines(adjusted).contains("PRE-AUTHORISATION") && lines(adjusted).contains("Total reserved 150.00 EUR"))
        let less = try held(Self.account(.open, released: 4_000))
        #expect(lines(less).contains("Total reserved 60.00 EUR") && lines(less).contains("Released 40.00 EUR"))
    }

    @Test(
        "P1: after a capture with a tip the receipt is of a payment: held, tip, total, released", arguments: [32, 48])
    func captured(width: Int) throws {
        let receipt = try held(Self.account(.captured, captured: 9_000, released: 2_000), tip: 1_000)
        let text = lines(receipt, width: width)
        for line in [
            "PAYMENT", "Was reserved 100.00 EUR", "Tip 10.00 EUR", "TOTAL 90.00 EUR", "Released 20.00 EUR", "APPROVED",
        ] { #expect(text.contains(line), "\(line)") }
        for word in ["PRE-AUTHORISATION", "reserved,", "Total reserved", "may differ", "Reserved"] {
            #expect(!text.contains { $0.contains(word) }, "\(word)")
        }
        #expect(receipt.amountStatus == nil && receipt.description == nil)
        #expect(receipt.account?.captured?.value == 9_000 && receipt.account?.tip?.value == 1_000)
        let german = try held(Self.account(.captured, captured: 9_000, released: 2_000), tip: 1_000, .german)
        for line in ["ZAHLUNG", "War reserviert 100,00 EUR", "Trinkgeld 10,00 EUR", "Freigegeben 20,00 EUR"] {
            #expect(lines(german).contains(line), "\(line)")
        }
    }

    @Test("P1: what was released or ran out was not charged", arguments: [PaymentAccount.State.released, .expired])
    func released(state: PaymentAccount.State) throws {
        let receipt = try held(Self.account(state, released: 10_000))
        #expect(receipt.status == .released)
        let text = lines(receipt)
        for line in ["PRE-AUTHORISATION", "Not charged 100.00 EUR", "RELEASED", "Nothing was charged"] {
            #expect(text.contains(line), "\(line)")
        }
        #expect(
            !text.contains("APPROVED") && !text.contains { $0.hasPrefix("Total reserved") || $0.hasPrefix("Reserved") })
        #expect(!receipt.text().contains("statement"))
    }

    @Test("P1: a sale that was given back says how much, and what is still being found out")
    func refunded() throws {
        let books = try Self.account(
            .partiallyRefunded, capture: .automatic, authorised: 1_250, captured: 1_250, refunded: 500,
            pendingRefund: 250)
        let receipt = try ReceiptBench.receipt(.approved) { $0.account = books }
        let text = lines(receipt)
        for line in ["TOTAL 12.50 EUR", "Total refunded 5.00 EUR", "Being refunded 2.50 EUR"] {
            #expect(text.contains(line), "\(line)")
        }
        // Charged at once, and nothing since: there is nothing to add.
        let plain = try ReceiptBench.receipt(.approved) {
            $0.account = try? Self.account(.captured, capture: .automatic, authorised: 1_250, captured: 1_250)
        }
        #expect(plain.account == nil && lines(plain).contains("TOTAL 12.50 EUR"))
    }

    @Test("P1: a refund names its sale and the sale's card; P3: its approval code and reference are printed")
    func ofSale() throws {
        let sale = try ReceiptBench.transaction(.approved)
        let refund = try ReceiptBench.transaction(.approved) { transaction in
            transaction.id = TransactionID()
            transaction.type = .refund
            transaction.of = sale.id
            transaction.order = nil
            transaction.amount.value = 500
            (transaction.card, transaction.chip) = (nil, nil)
            transaction.details?.items = nil
        }
        let receipt = try #require(Receipt(of: refund, refunding: sale, copy: .customer, language: .english))
        #expect(receipt.sale?.transaction == sale.id && receipt.card == sale.card)
        let text = receipt.text(width: 48)
        #expect(text.contains(sale.id.text) && text.contains("A-17") && text.contains("************0010"))
        #expect(lines(receipt, width: 48).contains("Total refunded 5.00 EUR"))
        #expect(text.contains("123456") && text.contains("SANDBOX-1"))
        let read = try WireJSON.decode(Receipt.self, from: WireJSON.encode(receipt))
        #expect(read == receipt)
    }

    @Test(
        "P3: what has no chip, a link, a charge, keeps approval code and reference on paper",
        arguments: [TransactionType.link, .charge])
    func withoutChip(type: TransactionType) throws {
        let receipt = try ReceiptBench.receipt(.approved) { transaction in
            transaction.type = type
            (transaction.card, transaction.chip) = (nil, nil)
        }
        #expect(receipt.approvalCode == "123456")
        #expect(lines(receipt).contains("Approval code 123456") && lines(receipt).contains("Reference SANDBOX-1"))
    }

    @Test("P2: nothing asks to scan a code that is not there: the address stands there")
    func address() throws {
        for language in Language.allCases {
            let scan = language.text(.receipt(.digital))
            let receipt = try ReceiptBench.receipt(.approved, .customer, language)
            let plain = receipt.text()
            #expect(!plain.contains(scan) && plain.contains("https://receipts.example/1"))
            #expect(receipt.text(withCode: true).contains(scan) && receipt.text(withCode: true).contains("█"))
            #expect(!receipt.text(withCode: true).contains("https://"))
            let printer = String(decoding: receipt.escPOS().filter { $0 < 0x80 }, as: UTF8.self)
            let hasPage = ![.arabic, .japanese].contains(language)
            let printed = (hasPage ? language : .english).text(.receipt(.digital)).replacing("’", with: "'")
            #expect(printer.contains(printed.filter(\.isASCII)), "\(language)")
            // No room for the code, and so no word of it.
            let long = try ReceiptBench.receipt(.approved, .customer, language) {
                $0.result?.receiptURL = "https://receipts.example/" + String(repeating: "a7", count: 200)
            }
            #expect(!long.text(width: 32, withCode: true).contains(scan))
        }
    }

    @Test(
        "P5: letters that a receipt printer lacks are written by the table, in columns that still fit",
        arguments: [32, 42])
    func letters(width: Int) throws {
        let receipt = try ReceiptBench.receipt(.approved) { transaction in
            transaction.details?.merchant = Merchant(
                displayName: "Łódź – „Żółw”", statementDescriptor: "X",
                address: ["Œuvre d’art…", "Καφές Ωμέγα", "1\u{202F}000"])
            transaction.details?.items?[0].label = "Æble \u{201C}Œ\u{201D} …………… Žižkov"
        }
        let bytes = receipt.escPOS(width: width)
        let text = bytes.prefix { $0 != 0x1D }.split(separator: 0x0A)
        #expect(text.allSatisfy { $0.count <= width + 5 })
        for word in ["L\u{A2}dz", "OEuvre", "d'art...", "Kafes Omega", "1 000", "Zizkov"] {
            let code = word.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
            #expect(bytes.firstRange(of: code) != nil, "\(word)")
        }
        #expect(!bytes.prefix { $0 != 0x1D }.contains(0x3F))
    }
}
