// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// Bad input gets a clear error and nothing is lost.
struct BadInputTests {
    private static let purchase = #"{"type":"purchase","amount":{"value":1250,"currency":"EUR"}}"#

    private func post(_ shop: Shop, _ body: String, key: String = UUID().uuidString, wait: Int? = nil) throws
        -> [String: Any]
    {
        let text = try shop.curl(
            [
                "http://localhost/v1/transactions", "-H", "Content-Type: application/json", "-H",
                "Idempotency-Key: \(key)",
            ]
                + (wait.map { ["-H", "Prefer: wait=\($0)"] } ?? []) + ["-d", body])
        return try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    private func code(_ answer: [String: Any]) -> String? { (answer["error"] as? [String: Any])?["code"] as? String }
    private func field(_ answer: [String: Any]) -> String? { (answer["error"] as? [String: Any])?["field"] as? String }

    @Test func `a wrong amount, an unknown currency and a misspelt field are refused by name`() throws {
        let shop = try Shop()
        let zero = try post(shop, #"{"type":"purchase","amount":{"value":0,"currency":"EUR"}}"#)
        #expect(code(zero) == "amount.total_not_positive")
        let currency = try post(shop, #"{"type":"purchase","amount":{"value":1,"currency":"XYZ"}}"#)
        #expect(code(currency) == "amount.currency_unknown")
        let misspelt = try post(shop, #"{"type":"purchase","amuont":{"value":1,"currency":"EUR"}}"#)
        #expect(code(misspelt) == "request.unknown_field")
        #expect(field(misspelt) == "amuont")
        #expect(try shop.ledgerEntries().isEmpty)
    }

    @Test func `nfc-tap refuses amounts it cannot read and says why`() throws {
        let shop = try Shop()
        for (amount, word) in [("12.505 EUR", "2 decimals"), ("12.50 XYZ", "XYZ"), ("twelve EUR", "twelve")] {
            let payment = try shop.pay(amount)
            #expect(payment.status == 64)
            #expect(payment.errors.contains(word), "\(payment.errors)")
        }
    }

    @Test(arguments: 0...3)
    func `a card that goes in mid-conversation costs another presentation, not the sale`(after: Int) throws {
        let shop = try Shop()
        try shop.awaitReader()
        try shop.card("fault card-gone after \(after)")
        try shop.card("present visa")
        // Whenever the card has gone, it is presented again, as a customer would.
        let customer = Process()
        customer.executableURL = URL(filePath: "/bin/sh")
        customer.arguments = [
            "-c",
            """
            while sleep 0.1; do
                case $("$0" virtual --control "$1" state) in *card=-*) "$0" virtual --control "$1" present visa ;; esac
            done
            """, Program.tap.url.path, shop.readerSocket,
        ]
        customer.standardOutput = FileHandle.nullDevice
        try customer.run()
        defer { customer.terminate() }
        let payment = try shop.pay("12.50 EUR", ["--deadline", "30"])
        #expect(payment.state == "approved", "\(payment.errors) \(payment.transaction)")
        #expect(try shop.ledgerEntries().count == 1)
    }

    @Test func `with the adapter away nothing is charged and the error says so`() throws {
        let shop = try Shop(startsSandbox: false)
        try shop.awaitReader()
        try shop.card("present visa")
        let payment = try shop.pay("12.50 EUR")
        #expect(payment.status == 13)
        #expect(payment.errorCode == "psp.unreachable")
    }

    @Test func `an adapter that answers garbage ends in a definite state and a balanced ledger`() throws {
        let shop = try Shop()
        try shop.awaitReader()
        try shop.card("present visa")
        let payment = try shop.pay("12.96 EUR")
        let state = try #require(payment.state)
        #expect(["approved", "declined", "reversing", "reversed"].contains(state), "\(payment.transaction)")
    }

    @Test func `a client that disconnects while the reader waits frees its lane`() throws {
        let shop = try Shop()
        try shop.awaitReader()
        let client = Process()
        client.executableURL = Program.tap.url
        client.arguments = ["pay", "1.00", "EUR", "--socket", shop.posSocket]
        client.standardError = FileHandle.nullDevice
        client.standardOutput = FileHandle.nullDevice
        try client.run()
        try shop.eventually("the lane to be taken") {
            (try shop.get("/v1/lanes")["lanes"] as? [[String: Any]])?.first?["holder"] != nil
        }
        kill(client.processIdentifier, SIGKILL)
        client.waitUntilExit()
        try shop.eventually("the lane to be free") {
            (try shop.get("/v1/lanes")["lanes"] as? [[String: Any]])?.first?["holder"] == nil
        }
        try shop.card("present visa")
        #expect(try shop.pay("2.00 EUR").state == "approved")
    }

    @Test func `a second tap on a busy lane is refused with the one in progress`() throws {
        let shop = try Shop()
        try shop.awaitReader()
        let first = try post(shop, #"{"type":"purchase","amount":{"value":100,"currency":"EUR"},"detached":true}"#)
        let id = try #require(first["id"] as? String)
        let second = try post(shop, Self.purchase)
        #expect(code(second) == "reader.busy")
        #expect((second["error"] as? [String: Any])?["transaction"] as? String == id)
        _ = try shop.curl(["-X", "DELETE", "http://localhost/v1/transactions/\(id)"])
        try shop.card("present visa")
        #expect(try shop.pay("12.50 EUR").state == "approved")
    }

    @Test func `a card whose data is no BER-TLV ends the read with a definite outcome`() throws {
        let shop = try Shop()
        try shop.awaitReader()
        try shop.card("fault garbage at 3")
        try shop.card("present visa")
        let payment = try shop.pay("12.50 EUR", ["--deadline", "5"])
        #expect(["failed", "approved"].contains(payment.state), "\(payment.transaction)")
        #expect(payment.status == (payment.state == "approved" ? 0 : 13))
    }
}
