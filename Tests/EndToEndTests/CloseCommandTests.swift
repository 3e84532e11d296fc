// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@Suite("nfc-tap confirm and reverse", .timeLimit(.minutes(10)))
struct CloseCommandTests {
    private func paid(_ shop: Shop, _ more: [String] = []) throws -> String {
        try shop.card("present visa")
        defer { try? shop.card("remove") }
        let payment = try shop.pay("12.00 EUR", more)
        try #require(payment.state == "approved", "\(payment.errors)")
        return try #require(payment.transaction["id"] as? String)
    }

    private func outstanding(_ shop: Shop) throws -> [Int?] {
        try shop.ledgerEntries().map { entry in
            guard let authorised = entry["authorised"] as? Int, let reversed = entry["reversed"] as? Int else {
                return nil
            }
            return authorised - reversed
        }
    }

    @Test("An approval that has to be confirmed says until when, and stays once it is")
    func confirmed() throws {
        let shop = try Shop()
        try shop.awaitReader()
        try shop.card("present visa")
        let result = try shop.tap("pay 12.00 EUR --confirm-within 600")
        #expect(result.status == 0 && result.output.contains("to confirm     before"), "\(result.output)")
        let id = try #require(result.output.firstMatch(of: /nfc-tap confirm ([0-9a-f-]{36})/)?.output.1)
        let confirmed = try shop.tap("confirm \(id)")
        #expect(confirmed.status == 0 && confirmed.output.contains("confirmed      20"), "\(confirmed.output)")
        #expect(try shop.json("confirm \(id)")["state"] as? String == "approved")
        #expect(try outstanding(shop) == [1_200])
        #expect(try shop.tap("pay 12.00 EUR --confirm-within 601").status == 64)
    }

    @Test("An approval that nobody confirms in time is taken back, and cannot be confirmed any more")
    func unconfirmed() throws {
        let shop = try Shop()
        try shop.awaitReader()
        let id = try paid(shop, ["--confirm-within", "1"])
        try shop.eventually("its end") { try shop.get("/v1/transactions/\(id)")["state"] as? String == "reversed" }
        let late = try shop.tap("confirm \(id)")
        #expect(late.status == 13 && late.errors.contains("confirmation.too_late"))
        #expect(try outstanding(shop) == [0])
    }

    @Test("A payment is taken back as a whole, once, and what is none is not")
    func reversed() throws {
        let shop = try Shop()
        try shop.awaitReader()
        let id = try paid(shop)
        #expect(try shop.tap("confirm \(id)").errors.contains("confirmation.not_wanted"))
        let first = try shop.tap("reverse \(id) --reason malfunction")
        #expect(first.status == 0, "\(first.errors)")
        try shop.eventually("its end") { try shop.json("reverse \(id)")["state"] as? String == "reversed" }
        #expect(try outstanding(shop) == [0])
        #expect(try shop.tap("reverse \(id) --reason boredom").status == 64)
        #expect(try shop.tap("reverse nothing").status == 64)
        let unknown = try shop.tap("reverse 01a2008f-dc36-74e6-8938-fe9b867fd77d")
        #expect(unknown.errors.contains("transaction.unknown"))
        try shop.card("present visa")
        let declined = try shop.pay("12.51 EUR")
        let refused = try shop.tap("reverse \(try #require(declined.transaction["id"] as? String))")
        #expect(refused.status == 13 && refused.errors.contains("transaction.not_approved"))
    }
}
