// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@Suite("The command's words for taking cards", .timeLimit(.minutes(10)))
struct CommandTests {
    private func tap(_ shop: Shop, _ arguments: String..., environment: [String: String] = [:]) throws
        -> Finished
    {
        try Program.tap.run(
            arguments, in: shop.folder,
            environment: environment.merging(["NFC_TAP_SOCKET": shop.posSocket]) { $1 })
    }

    static let neutralCommands: [(arguments: [String], status: Int32, says: String)] = [
        (["verify"], 0, "VERIFIED"), (["verify", "--open-tab"], 0, "VERIFIED"), (["look-up"], 0, "LOOKED UP"),
        (["store-card", "--consent", "form 12, signed"], 0, "CARD STORED"), (["refund", "5,00", "EUR"], 0, "REFUNDED"),
        (["refund", "5.51", "EUR"], 10, "DECLINED"),
    ]

    @Test("Requirements 30 and 31: reads that are no payments say no word of payments")
    func neutral() throws {
        let shop = try Shop()
        try shop.awaitReader()
        try shop.card("present visa")
        for (arguments, status, says) in Self.neutralCommands {
            let result = try Program.tap.run(
                arguments, in: shop.folder, environment: ["NFC_TAP_SOCKET": shop.posSocket])
            #expect(result.status == status, "\(arguments): \(result.errors)")
            #expect(result.output.hasPrefix(says), "\(result.output)")
            for word in ["pay", "purchas", "charg", "sale", "money"] {
                // The issuer's reason names what the account lacks.
                let all = (result.output + result.errors).lowercased().replacing("not enough money", with: "")
                #expect(!all.contains(word), "\(arguments): \(word) in \(all)")
            }
        }
    }

    /// The commands that look a transaction up said "APPROVED" of money that was given back.
    @Test("M9: what is looked up is called what its own command called it")
    func lookedUp() throws {
        let shop = try Shop()
        try shop.awaitReader()
        try shop.card("present visa")
        for (words, says) in [
            ("refund 5.00 EUR", "REFUNDED"), ("verify", "VERIFIED"), ("look-up", "LOOKED UP"),
            ("pay 5.00 EUR", "APPROVED"),
        ] {
            let began = try shop.tap("\(words) --idempotency-key \(says.prefix(3))")
            #expect(began.output.hasPrefix(says), "\(words): \(began.output)\(began.errors)")
            #expect(try shop.tap("last main").output.hasPrefix(says), "\(words)")
            #expect(try shop.tap("find \(says.prefix(3))").output.hasPrefix(says), "\(words)")
        }
    }

    /// No money has come, and once it is given up none will.
    @Test("M9: a sum that is only held is called held by each command that shows it, and released once it is")
    func held() throws {
        let shop = try Shop()
        try shop.awaitReader()
        try shop.card("present visa")
        for (key, more) in [("h1", #""amountStatus":"preauthorized""#), ("h2", #""capture":{"mode":"manual"}"#)] {
            _ = try shop.curl([
                "-H", "Content-Type: application/json", "-H", "Idempotency-Key: \(key)", "-H", "Prefer: wait=20", "-d",
                #"{"type":"purchase","amount":{"value":1200,"currency":"EUR"},\#(more)}"#,
                "http://localhost/v1/transactions",
            ])
            let last = try shop.tap("last main").output
            #expect(last.hasPrefix("HELD, not charged") && !last.contains("APPROVED"), "\(last)")
            #expect(try shop.tap("find \(key)").output == last)
            #expect(try shop.tap("list").output.contains("12.00 EUR  HELD, not charged"))
            #expect(try shop.tap("look-up").output.contains("  HELD, not charged  12.00 EUR"))
            let id = try #require(try shop.json("find \(key)")["id"] as? String)
            if key == "h1" {
                #expect(try shop.tap("release \(id)").status == 0)
                #expect(try shop.tap("find \(key)").output.hasPrefix("RELEASED"))
                #expect(try shop.tap("list").output.contains("12.00 EUR  RELEASED"))
            } else {
                #expect(try shop.tap("capture \(id) 12.00 EUR").status == 0)
                #expect(try shop.tap("find \(key)").output.hasPrefix("APPROVED"))
            }
        }
        // Taken back it is neither.
        _ = try shop.pay("13.00 EUR", ["--idempotency-key", "back"])
        let id = try #require(try shop.json("find back")["id"] as? String)
        #expect(try shop.tap("reverse \(id)").output.hasPrefix("REVERSED"))
        #expect(try shop.tap("find back").output.hasPrefix("REVERSED"))
    }

    @Test("A failed read that is no payment says no word of payments either")
    func neutralFailures() throws {
        let shop = try Shop()
        try shop.awaitReader()
        shop.stopSandbox()
        try shop.card("present visa")
        for arguments in [["verify"], ["look-up"], ["refund", "5.00", "EUR"]] {
            let result = try Program.tap.run(
                arguments, in: shop.folder, environment: ["NFC_TAP_SOCKET": shop.posSocket])
            #expect(result.status == 13, "\(result.output)")
            #expect(result.output.contains("psp.unreachable"))
            #expect(!(result.output + result.errors).lowercased().contains("pay"), "\(result.output)\(result.errors)")
        }
    }

    @Test("Requirement 34: a card is not stored without the customer's consent")
    func consent() throws {
        let shop = try Shop()
        #expect(try tap(shop, "store-card").status == 64)
        #expect(try tap(shop, "store-card", "--consent", "").status == 64)
    }

    @Test("A stored card is charged until it is deleted, and what the commands print is true")
    func storedCards() throws {
        let shop = try Shop()
        try shop.awaitReader()
        try shop.card("present visa")
        let text = shop.folder.appending(path: "terms.txt")
        try Data("I agree that up to 25.00 EUR are taken each month.".utf8).write(to: text)
        let stored = try tap(
            shop, "store-card", "--agreement", "recurring", "--text", text.path, "--maximum", "25.00 EUR", "--json")
        #expect(stored.status == 0, "\(stored.errors)")
        let answer = try JSONSerialization.jsonObject(with: Data(stored.output.utf8)) as? [String: Any]
        let credential = try #require(answer?["credential"] as? [String: Any], "\(stored.output)")
        let card = try #require(credential["id"] as? String)
        let agreements = credential["agreements"] as? [[String: Any]]
        let agreement = try #require(agreements?.first?["id"] as? String)
        let charge = { (amount: String, more: [String]) in
            try Program.tap.run(
                ["charge", card, amount, "EUR", "--agreement", agreement, "--reason", "recurring"] + more,
                in: shop.folder, environment: ["NFC_TAP_SOCKET": shop.posSocket])
        }
        let first = try charge("19.00", ["--key", "abo-1"])
        #expect(first.status == 0 && first.output.hasPrefix("APPROVED"), "\(first.output)\(first.errors)")
        #expect(try charge("19.00", ["--key", "abo-1"]).output == first.output)
        #expect(try charge("19.05", []).status == 10)
        let above = try charge("25.01", [])
        #expect(above.status == 65 && above.errors.contains("agreement.exceeded"), "\(above.errors)")
        let list = try tap(shop, "stored-cards")
        #expect(list.output.hasPrefix("ACTIVE") && list.output.contains(agreement), "\(list.output)")
        #expect(!list.output.contains("card_"))
        #expect(try tap(shop, "look-up").output.contains("earlier"))
        #expect(try tap(shop, "stored-cards", "delete", card).output.hasPrefix("DELETING"))
        let after = try charge("1.00", [])
        #expect(after.status == 65 && after.errors.contains("stored_card.deleted"), "\(after.errors)")
        try shop.eventually("the service has forgotten the card") {
            try tap(shop, "stored-cards", "show", card).output.hasPrefix("DELETED")
        }
    }

    @Test("A look-up gives the same name for the same card and another for another, and no number")
    func lookUp() throws {
        let shop = try Shop()
        try shop.awaitReader()
        var names: [String] = []
        for card in ["visa", "visa", "mastercard"] {
            try shop.card("present \(card)")
            let answer = try JSONSerialization.jsonObject(with: Data(try tap(shop, "look-up", "--json").output.utf8))
            let found = try #require((answer as? [String: Any])?["card"] as? [String: Any])
            names.append(try #require(found["token"] as? String))
            try shop.card("remove")
        }
        #expect(names[0] == names[1] && names[0] != names[2])
        #expect(names.allSatisfy { $0.allSatisfy { !$0.isNumber } })
    }

    static let amounts: [(words: [String], means: String)] = [
        (["12.5", "EUR"], "12.50 EUR"), (["12,50", "EUR"], "12.50 EUR"), (["EUR", "12.50"], "12.50 EUR"),
        (["EUR 12.50"], "12.50 EUR"), (["12.50EUR"], "12.50 EUR"), (["eur12,5"], "12.50 EUR"),
        (["1250", "JPY"], "1250 JPY"), (["1.25", "KWD"], "1.250 KWD"),
    ]

    @Test("Requirement 47: amounts are taken as people write them")
    func amounts() throws {
        let shop = try Shop()
        for (words, means) in Self.amounts {
            let result = try Program.tap.run(
                ["pay", "--dry-run"] + words, in: shop.folder, environment: ["NFC_TAP_SOCKET": shop.posSocket])
            #expect(
                result.output.hasPrefix("CHECKED ONLY, nothing is done  \(means)  main"),
                "\(words): \(result.output)\(result.errors)")
        }
        let usual = try tap(shop, "pay", "--dry-run", "12,50", environment: ["NFC_TAP_CURRENCY": "EUR"])
        #expect(usual.output.hasPrefix("CHECKED ONLY, nothing is done  12.50 EUR"))
        for words in [["12.50"], ["12.505", "EUR"], ["1.250,00", "EUR"], ["twelve", "EUR"], ["12.50", "EUX"]] {
            let result = try Program.tap.run(
                ["pay", "--dry-run"] + words, in: shop.folder, environment: ["NFC_TAP_SOCKET": shop.posSocket])
            #expect(result.status == 64, "\(words)")
        }
    }

    @Test("Requirement 24: the receipt comes with the payment, and again when it is asked for")
    func receipts() throws {
        let shop = try Shop()
        try shop.awaitReader()
        try shop.card("present visa")
        let paid = try tap(shop, "pay", "12.50", "EUR", "--receipt", "text", "--language", "de")
        #expect(paid.status == 0 && paid.output.contains("Kundenbeleg") && paid.output.contains("12,50 EUR"))
        let id = try #require(paid.output.firstMatch(of: /[0-9a-f]{8}-[0-9a-f-]{27}/)?.output).description
        let merchant = try tap(shop, "receipt", id, "--copy", "merchant", "--width", "32")
        #expect(merchant.status == 0 && merchant.output.contains("Merchant copy"))
        #expect(try tap(shop, "receipt", id, "--qr").output == "https://receipts.example/\(id)\n")
        let json = try JSONSerialization.jsonObject(with: Data(try tap(shop, "receipt", id, "--json").output.utf8))
        #expect((json as? [String: Any])?["status"] as? String == "approved")
        let unknown = try tap(shop, "receipt", "01a2008f-dc36-74e6-8938-fe9b867fd77d")
        #expect(unknown.status != 0 && unknown.errors.contains("transaction.unknown"))
    }

    @Test("Requirement 10: a trial is a whole payment that never leaves its own folder, and leaves nothing behind")
    func trial() throws {
        let shop = try Shop()
        let result = try tap(shop, "try")
        #expect(result.status == 0 && result.output.contains("APPROVED") && result.output.contains("TEST"))
        #expect(try tap(shop, "try", "12.51", "EUR").status == 10)
        // The daemon of this machine has not seen it.
        #expect((try shop.get("/v1/status")["lanes"] as? [[String: Any]])?.first?["holder"] == nil)
        let id = try #require(result.output.firstMatch(of: /[0-9a-f]{8}-[0-9a-f-]{27}/)?.output).description
        #expect(try tap(shop, "receipt", id).errors.contains("transaction.unknown"))
    }

    @Test("Requirements 7 to 9: the tutorial is there with and without a daemon, and ends with the terms")
    func tutorial() throws {
        let shop = try Shop()
        let topics = try tap(shop, "help-topics")
        #expect(topics.status == 0 && topics.output.contains("holding"))
        #expect(try tap(shop, "help-topics", "taps").output.contains("Test mode needs no terms"))
        let alone = try Program.tap.run(
            ["help-topics", "taps", "--language", "de"], in: shop.folder,
            environment: ["NFC_TAP_SOCKET": shop.folder.appending(path: "nowhere").path])
        #expect(alone.status == 0 && alone.output.hasPrefix("Karten annehmen"))
        #expect(try tap(shop, "help-topics", "cooking").status == 65)
    }

    @Test("A recording has a time for each step, and its page shows them, written once and never over another file")
    func page() throws {
        let shop = try Shop(startsSandbox: false)
        let (recording, file) = (shop.folder.appending(path: "a.tap").path, shop.folder.appending(path: "a.html").path)
        // A transcript has the test card's number, and the shop's folder is searched for card numbers.
        defer { try? FileManager.default.removeItem(atPath: recording) }
        #expect(try tap(shop, "record", recording, "--reader", "virtual:mastercard").status == 0)
        let made = try tap(shop, "explain", recording, "--html", file)
        #expect(made.status == 0 && made.output.isEmpty && made.errors.isEmpty, "\(made.errors)")
        let page = try String(contentsOfFile: file, encoding: .utf8)
        #expect(page.contains("GENERATE AC") && page.contains(" ms: the card took "))
        let again = try tap(shop, "explain", recording, "--html", file)
        #expect(again.status == 65 && again.errors.contains("already exists"))
        #expect(try tap(shop, "explain", recording, "--html", file, "--json").status == 64)
    }
}
