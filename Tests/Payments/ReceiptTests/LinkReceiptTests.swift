// SPDX-License-Identifier: Apache-2.0
import Foundation
import POSAPI
import PaymentValues
import Printing
import Receipt
import Testing

/// ZBar reads the codes back, librsvg draws the SVG.
@Suite("The receipt of an open link")
struct LinkReceiptTests {
    static let address = "https://pay.example/9f2c"

    private func receipt(
        _ copy: Receipt.Copy = .customer, _ language: Language = .english, address: String = Self.address,
        _ state: TransactionState = .sent
    ) throws -> Receipt {
        try ReceiptBench.receipt(state, copy, language) { transaction in
            transaction.type = .link
            (transaction.card, transaction.chip, transaction.result) = (nil, nil, nil)
            transaction.history = [.init(state: .created, at: transaction.createdAt)]
            transaction.link = OpenLink(url: address, expiresAt: transaction.createdAt.advanced(bySeconds: 900))
        }
    }

    @Test(
        "It says in both languages and copies that nothing is paid yet, what is to be paid, and until when",
        arguments: Receipt.Copy.allCases)
    func words(copy: Receipt.Copy) throws {
        let english = try receipt(copy).text()
        for part in ["PAYMENT LINK", "To pay", "12.50 EUR", "NOT PAID YET", "Can be paid until", "2026-03-01 08:45"] {
            #expect(english.contains(part), "\(part)")
        }
        let german = try receipt(copy, .german).text(secondsFromUTC: 3_600)
        for part in ["ZAHLUNGSLINK", "Zu zahlen", "12,50 EUR", "NOCH NICHT BEZAHLT", "Zahlbar bis", "01.03.2026 09:45"]
        {
            #expect(german.contains(part), "\(part)")
        }
        for word in ["TOTAL", "APPROVED", "Not charged", "receipt", "statement"] {
            #expect(!english.contains(word), "\(word)")
        }
    }

    @Test("Only the customer's copy sends somebody to the address, and it asks to pay there")
    func copies() throws {
        #expect(try receipt().qr == Self.address && receipt(.merchant).qr == nil)
        #expect(try receipt().text(withCode: true).contains("Scan the code to pay"))
        #expect(try receipt().text().contains("Pay at:") && receipt().text().contains(Self.address))
        #expect(try !receipt(.merchant).text(withCode: true).contains("Scan"))
    }

    @Test("ZBar reads the address from text, PNG and SVG, and the printer is given it")
    func codes() throws {
        let receipt = try receipt()
        let lines = receipt.text(width: 42, withCode: true).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(try CodeReader.read(CodeReader.picture(of: lines.map(String.init)), "pgm") == Self.address)
        let code = try #require(receipt.code)
        #expect(try CodeReader.read(code.png(), "png") == Self.address)
        #expect(try CodeReader.read(svg: code.svg) == Self.address)
        // GS ( k, function 180: length of what follows, 49, 80, 48, and the data.
        let length = UInt8(truncatingIfNeeded: Self.address.utf8.count + 3)
        let store = [0x1D, 0x28, 0x6B, length, 0, 49, 80, 48] + Array(Self.address.utf8)
        #expect(receipt.escPOS().firstRange(of: store) != nil)
    }

    @Test("The longest address that a link may have is drawn as a picture, and stands in lines on paper")
    func longest() throws {
        let address = "https://pay.example/" + String(repeating: "a7", count: 246)
        #expect(address.isCustomerAddress && address.utf8.count == 512)
        let receipt = try receipt(address: address)
        #expect(try CodeReader.read(try #require(receipt.code).png(), "png") == address)
        let text = receipt.text(width: 48, withCode: true)
        let printed = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined()
        #expect(printed.contains(address) && text.split(separator: "\n").allSatisfy { $0.count <= 48 })
    }

    @Test("Before there is an address there is no receipt; once it has ended, none that asks to pay")
    func before() throws {
        let unopened = try ReceiptBench.transaction(.sent) { $0.type = .link }
        #expect(Receipt(of: unopened, copy: .customer, language: .english) == nil)
        let sale = try ReceiptBench.transaction(.sent) { transaction in
            transaction.link = OpenLink(url: Self.address, expiresAt: transaction.createdAt)
        }
        #expect(Receipt(of: sale, copy: .customer, language: .english) == nil)
        for state in [TransactionState.approved, .declined] {
            let ended = try receipt(.customer, .english, state)
            #expect(ended.qr == nil && ended.payUntil == nil && !ended.text().contains("NOT PAID YET"))
        }
    }
}
