// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
import Printing
import Receipt
import Testing

@Suite("What a receipt says")
struct ReceiptTests {
    @Test("Parity 13: the nine fields that schemes want are in the block, and the card's number is not")
    func nineFields() throws {
        let receipt = try ReceiptBench.receipt(.approved)
        let emv = try #require(receipt.emv)
        #expect(emv.accountType == "default" && emv.application == "VISA CREDIT" && emv.aid == "A0000000031010")
        #expect(emv.approvalCode == "123456" && emv.responseCode == "00" && emv.cryptogram == "0102030405060708")
        #expect(emv.cryptogramType == "ARQC" && emv.tvr == "0000000000" && emv.tsi == "0000")
        #expect(emv.verification == .none && emv.counter == "0001")
        #expect(receipt.card?.masked == "************0010")
        let text = receipt.text()
        for part in [
            "VISA CREDIT", "A0000000031010", "123456", "0102030405060708", "0000000000", "no CVM", "************0010",
            "ATC", "TSI", "ARQC", "ARC", "default",
        ] { #expect(text.contains(part), "\(part)") }
    }

    @Test("Requirement 43: the payee is over the total, and the statement's name under it")
    func payee() throws {
        let text = try ReceiptBench.receipt(.approved).text()
        #expect(text.contains("Example Shop") && text.contains("EXAMPLE SHOP"))
        let via = try ReceiptBench.receipt(.approved) { $0.details?.merchant?.onBehalfOf = "Example Theatre" }
        #expect(via.text(width: 48).contains("Example Theatre (via Example Shop)"))
    }

    @Test("Requirement 24: the customer's copy has the address for a QR code, the merchant's has not")
    func qr() throws {
        #expect(try ReceiptBench.receipt(.approved).qr == "https://receipts.example/1")
        #expect(try ReceiptBench.receipt(.approved, .merchant).qr == nil)
    }

    @Test("Test mode is printed at both ends of both copies", arguments: Receipt.Copy.allCases, Language.allCases)
    func testMode(copy: Receipt.Copy, language: Language) throws {
        let lines = try ReceiptBench.receipt(.approved, copy, language).text(width: 32).split(separator: "\n")
        let words = language.text(.receipt(.test))
        #expect(lines.first?.contains(words) == true && lines.last?.contains(words) == true)
        let live = try ReceiptBench.receipt(.approved, copy, language) { $0.mode = .live }
        #expect(!live.text().contains("TEST") && !live.text().contains(words))
    }

    static let truths: [(TransactionState, PaymentResult.Outcome?, Receipt.Status, says: String)] = [
        (.approved, .approved, .approved, "APPROVED"), (.declined, .declined, .declined, "Nothing was charged"),
        (.stored, .stored, .stored, "Not yet approved by the card's issuer"),
        (.unknown, .unknown, .unknown, "OUTCOME NOT KNOWN YET"),
        (.reversing, .declined, .reversing, "no longer counts"),
        (.reversed, .declined, .reversed, "REVERSED"), (.cancelled, nil, .cancelled, "Nothing was charged"),
        (.failed, nil, .notCompleted, "Nothing was charged"),
    ]

    @Test("A receipt tells the truth about every end", arguments: truths)
    func truth(state: TransactionState, outcome: PaymentResult.Outcome?, status: Receipt.Status, says: String) throws {
        let receipt = try ReceiptBench.receipt(state) { transaction in
            transaction.result = outcome.map { PaymentResult(mode: .test, outcome: $0) }
        }
        #expect(receipt.status == status)
        let text = receipt.text()
        #expect(text.contains(says))
        let isCharged = [.approved, .stored].contains(status)
        #expect(text.contains("TOTAL") == isCharged && text.contains("Not charged") == !isCharged)
        #expect(text.contains("APPROVED") == (status == .approved))
    }

    @Test("The receipt of an attempt says that the phone waits for its holder, in English and German")
    func phone() throws {
        for (language, words) in [(Language.english, "See your phone"), (.german, "Siehe Ihr Telefon")] {
            for state in [TransactionState.failed, .cancelled] {
                for copy in Receipt.Copy.allCases {
                    let receipt = try ReceiptBench.receipt(state, copy, language) { transaction in
                        (transaction.card, transaction.chip, transaction.result) = (nil, nil, nil)
                        transaction.message = .seePhone
                    }
                    #expect(receipt.message == .seePhone)
                    for width in Receipt.widths { #expect(receipt.text(width: width).contains(words)) }
                }
                let other = try ReceiptBench.receipt(state, .customer, language)
                #expect(other.message == nil && !other.text().contains(words))
            }
        }
    }

    @Test("An approved part is the total, beside what was asked for")
    func partial() throws {
        let half = Money(value: 625, currency: try #require(Currency("EUR")))
        let receipt = try ReceiptBench.receipt(.approved) { transaction in
            transaction.result?.outcome = .partiallyApproved
            transaction.result?.amountApproved = half
        }
        #expect(receipt.status == .partiallyApproved && receipt.amount == half && receipt.requested?.value == 1_250)
        #expect(receipt.text().contains("The rest is still to be paid"))
    }

    @Test(
        "While its end is open, and for passes, there is no receipt",
        arguments: [TransactionState.created, .preparing, .armed, .reading, .sealed, .sent, .completed])
    func none(state: TransactionState) throws {
        #expect(Receipt(of: try ReceiptBench.transaction(state), copy: .customer, language: .english) == nil)
        let passes = try ReceiptBench.transaction(.approved) { $0.type = .loyalty }
        #expect(Receipt(of: passes, copy: .customer, language: .english) == nil)
    }

    @Test(
        "The customer is not told that the card is lost, stolen or suspected; the merchant is",
        arguments: [DeclineReason.lostCard, .stolenCard, .suspectedFraud])
    func discretion(reason: DeclineReason) throws {
        for language in Language.allCases {
            let customer = try ReceiptBench.receipt(.declined, .customer, language) { $0.result?.reason = reason }
            let merchant = try ReceiptBench.receipt(.declined, .merchant, language) { $0.result?.reason = reason }
            #expect(customer.reason == .notAccepted && !customer.text().contains(reason.text(in: language)))
            #expect(merchant.reason == reason && merchant.text().contains(reason.text(in: language)))
        }
    }

    @Test("Requirement 31: the receipt of a card check speaks of no payment and no amount")
    func cardCheck() throws {
        for language in Language.allCases {
            let text = try ReceiptBench.receipt(.approved, .customer, language) { $0.type = .verification }.text()
                .lowercased()
            let ofPayments: [ReceiptWord] = [
                .total, .toPay, .titlePayment, .nothingCharged, .notCharged, .statusApproved,
            ]
            let words = ofPayments.map { language.text(.receipt($0)).lowercased() }
            let plain =
                [.english, .german].contains(language) ? ["pay", "charge", "summe", "zahl", "betrag", "eur"] : []
            for word in words + plain + [" eur", "12.50", "12,50"] { #expect(!text.contains(word), "\(word)") }
        }
    }

    @Test("What the card decided by itself has the code that EMV gives it")
    func offlineCodes() throws {
        let declined = try ReceiptBench.receipt(.declined) {
            $0.result = PaymentResult(mode: .test, outcome: .declined, reason: .cardDeclined)
        }
        #expect(declined.emv?.responseCode == "Z1")
        let approved = try ReceiptBench.receipt(.stored) {
            $0.chip?.isOffline = true
            $0.result = PaymentResult(mode: .test, outcome: .stored)
        }
        #expect(approved.emv?.responseCode == "Y1")
    }

    @Test("A merchant's copy has a line to sign where the card asks for a signature")
    func signature() throws {
        let merchant = try ReceiptBench.receipt(.approved, .merchant) { $0.chip?.verification = .signature }
        #expect(merchant.text().contains("________________"))
        let customer = try ReceiptBench.receipt(.approved) { $0.chip?.verification = .signature }
        #expect(!customer.text().contains("________________"))
    }

    @Test("A receipt survives encoding")
    func roundTrip() throws {
        let receipt = try ReceiptBench.receipt(.approved, .merchant, .german)
        #expect(try WireJSON.decode(Receipt.self, from: try WireJSON.encode(receipt)) == receipt)
    }
}

@Suite("A receipt of a card that this reader cannot take")
struct UnsupportedKernelReceiptTests {
    @Test("It names scheme and kernel in each language", arguments: Language.allCases, Receipt.Copy.allCases)
    func named(language: Language, copy: Receipt.Copy) throws {
        let receipt = try ReceiptBench.receipt(.failed, copy, language) { transaction in
            transaction.result = nil
            var error = ErrorDetail(.readCardUnsupported)
            error.unsupportedKernel = UnsupportedKernel(scheme: "RuPay", aid: "A0000005241010", kernel: "0D")
            transaction.error = error
        }
        #expect(receipt.unsupportedKernel?.scheme == "RuPay")
        let text = receipt.text()
        #expect(text.contains(language.text(.receipt(.notSupported))))
        #expect(text.contains("RuPay") && text.contains("0D"))
        let unknown = try ReceiptBench.receipt(.failed, copy, language) { transaction in
            var error = ErrorDetail(.readCardUnsupported)
            error.unsupportedKernel = UnsupportedKernel(scheme: nil, aid: "D276000025", kernel: nil)
            transaction.error = error
        }
        #expect(unknown.text().contains("D276000025"))
    }
}
