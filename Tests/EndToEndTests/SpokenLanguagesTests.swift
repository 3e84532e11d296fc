// SPDX-License-Identifier: Apache-2.0
import Foundation
import PaymentValues
import TestSupport
import Testing

@Suite("The commands of a shop's day speak their user's language, whole", .timeLimit(.minutes(20)))
struct SpokenLanguagesTests {
    private typealias Line = (arguments: String, status: Int32)

    /// Commands, behind a semicolon one that follows, and the code with which each ends; names in capitals are payments and a stored card of the day. Wrong arguments are told in English.
    private static let day: [Line] = [
        ("pay 12.50 EUR", 0), ("pay 12.51 EUR", 10), ("pay 9.00 EUR --confirm-within 60", 0),
        ("refund 5.00 EUR", 0), ("refund --of SALE 0.10 EUR", 0), ("refund --of SALE 9000.00 EUR", 13),
        ("verify", 0), ("look-up", 0), ("loyalty --deadline 1", 0),
        ("pay 3.00 EUR --dry-run", 0), ("try 12.50 EUR", 0),
        ("list", 0), ("last main", 0), ("find KEY", 0), ("receipt SALE", 0),
        ("capture HELD 1.00 EUR --tip 0.10EUR --dry-run", 0), ("adjust HELD 19.00 EUR --dry-run", 0),
        ("capture HELD 1.00 EUR --not-final", 0), ("release SALE", 13), ("prepare", 0),
        ("cancel SALE", 0), ("decline SALE", 13), ("store-card --consent yes", 0),
        ("help-topics", 0), ("help-topics taps", 0),
        ("totals --by scheme,type,lane,cashier", 0), ("end-of-day show 1", 0), ("end-of-day list", 0),
        ("status", 0), ("open", 0), ("queue", 0), ("queue export", 13), ("receipt 999", 65), ("confirm WAITING", 0),
        ("reverse SALE", 13), ("charge CARD 1.00 EUR --agreement AGREED", 0),
        ("link 9.00 EUR", 0), ("handover sandbox-terminal 9.00 EUR", 0),
    ]

    /// While the payment service is away.
    private static let away: [Line] = [
        ("status", 0), ("queue", 0), ("queue flush", 0), ("queue list", 0),
        ("queue batch --size 1; queue reset", 0), ("decline STORED", 13),
    ]

    /// Once it is back, and does not end a payment.
    private static let unsettled: [Line] = [("status", 0), ("open list", 0)]

    /// Commands that print with the code of another one, which is run here.
    private static let alike = [
        "open settle": "find", "resolve": "capture", "end-of-day resolve": "end-of-day show",
        "end-of-day close": "end-of-day show", "queue resolve": "queue reset",
    ]

    /// What only an administrator or a programmer types, and what prints JSON alone: English (decision 193).
    private static let english: Set<String> = [
        "events", "sessions list", "sessions claim", "sessions commit", "sessions release", "sessions keep",
        "sessions increase", "sessions watch",
        "stored-cards list", "stored-cards show", "stored-cards delete", "stored-cards agree",
        "stored-cards end-agreement",
        "doctor", "diagnose", "readers", "terms show", "terms accept", "terms import", "config check", "pin-devices",
        "audit verify", "audit export",
        "read", "decode", "explain", "record", "replay", "kernel-diff", "simulate", "virtual", "card-command",
        "adapter-check", "ecr-bench",
    ]

    @Test
    func `P12: each command is run in each language, prints as one that is, or is for administrators and programmers`()
        throws
    {
        let commands = Set(try Program.commands().map(\.words))
        let run = commands.filter { command in
            (Self.day + Self.away + Self.unsettled).contains { "; \($0.arguments) ".contains("; \(command) ") }
        }
        // A group's first command is the one that is run by the group's name.
        let named = run.union(["open list", "queue list"]).union(Self.alike.keys)
        #expect(named.intersection(Self.english).isEmpty && named.union(Self.english) == commands)
        #expect(Self.alike.values.allSatisfy(run.contains))
    }

    /// Words of the program itself: commands, names of card, lane and currency, and the texts of the payment service.
    private static let names: Set<String> = [
        "nfc", "tap", "eur", "visa", "main", "test", "sandbox", "shop", "confirm", "all", "aid", "tvr", "virtual",
        "reader", "uid", "merchant", "pay", "example", "teststrasse", "member", "club", "voucher", "help", "topics",
        "terms", "unsuitable", "atc", "arc", "agreement", "unscheduled",
    ]

    private static func words(_ text: String) -> Set<String> {
        let ids = #/[0-9a-f]{8}-[0-9a-f-]{27}|[0-9A-F]{8,}|\([a-z_.]+\)|https:\S+|card_\w+|\d{4}-\d\d-\d\d\S+/#
        let commands = #/nfc-tap(?: open settle[^\n]*| (?:totals|open|list|queue batch|queue export)\b|d\b)/#
        let names = #/systemctl start[^\n]*|\/\S+|sandbox-terminal/#
        let bare = text.replacing(ids, with: " ").replacing(commands, with: " ").replacing(names, with: " ")
        return Set(bare.lowercased().matches(of: /\p{L}{3,}/).map { String($0.output) })
    }

    /// The words that a language's message files have.
    private static func vocabulary(_ language: String) throws -> Set<String> {
        try words(
            Checkout.text("Sources/Payments/CTexts/\(language).json")
                + Checkout.text("share/till/messages/\(language).json"))
    }

    @Test func `P12: no command prints a word of another language`() throws {
        let shop = try Shop()
        try shop.awaitReader()
        try shop.card("present visa")
        let sale = try shop.pay("20.00 EUR", ["--idempotency-key", "day-sale"])
        let held = try shop.pay("20.00 EUR", ["--manual-capture"])
        let stored = try shop.json("store-card --consent told")["credential"] as? [String: Any]
        let agreed = (stored?["agreements"] as? [[String: Any]])?.first
        var names = ["KEY": "day-sale"]
        names["SALE"] = try #require(sale.transaction["id"] as? String)
        let waiting = try shop.pay("20.00 EUR", ["--confirm-within", "600"])
        names["WAITING"] = try #require(waiting.transaction["id"] as? String)
        names["HELD"] = try #require(held.transaction["id"] as? String)
        names["CARD"] = try #require(stored?["id"] as? String)
        names["AGREED"] = try #require(agreed?["id"] as? String)
        #expect(try shop.tap("end-of-day").status == 0)
        try speak(Self.day, names, in: shop)
    }

    @Test func `P12: nor one about what is stored, or waits for a person`() throws {
        let shop = try Shop.storing()
        let stored = try #require(try shop.store().transaction["id"] as? String)
        #expect(try shop.tap("decline \(stored)").status == 0)
        for _ in 0..<2 { #expect(try shop.store().state == "stored") }
        try speak(Self.away, ["STORED": stored], in: shop)
        try Peer.alter(shop.folder.path + "/state/journal.sqlite", "UPDATE queue_record SET record = 'nonsense'")
        try shop.startSandbox()
        _ = try shop.tap("queue flush")
        try shop.eventually("open items") { try shop.json("open list")["count"] as? Int == 2 }
        try speak(Self.unsettled, [:], in: shop)
    }

    @Test func `P12: nor one where nobody answers`() throws {
        let shop = try Shop(startsSandbox: false)
        shop.killDaemon()
        try speak([("pay 1.00 EUR", 69), ("status", 69), ("queue", 69), ("list", 69)], [:], in: shop)
    }

    /// Runs each line in English and in each other language, and looks for words that English has and the language's files lack.
    private func speak(_ lines: [Line], _ names: [String: String], in shop: Shop) throws {
        func run(_ line: String, in language: String) throws -> Finished {
            let line = names.reduce(line) { $0.replacing($1.key, with: $1.value) }
            return try Program.tap.run(
                line.split(separator: " ").map(String.init), in: shop.folder,
                environment: ["NFC_TAP_SOCKET": shop.posSocket, "LC_ALL": "\(language)_XX.UTF-8"])
        }
        let languages = Language.allCases.filter { $0 != .english }.map(\.rawValue)
        #expect(languages.count == 11)
        let vocabularies = try Dictionary(uniqueKeysWithValues: languages.map { ($0, try Self.vocabulary($0)) })
        let status = (try? shop.get("/v1/status")) ?? [:]
        let networks = Self.words((status["networks"] as? [String] ?? []).joined(separator: " "))
        for (arguments, status) in lines {
            var own: [String: Set<String>] = [:]
            for language in ["en"] + languages {
                for line in arguments.split(separator: ";").map(String.init) {
                    let told = try run(line, in: language)
                    #expect(told.status == status, "\(language) \(line): \(told.errors)")
                    let words = Self.words(told.said)
                    guard let english = own[line] else {
                        own[line] = words
                        continue
                    }
                    let foreign = words.intersection(english)
                        .subtracting(vocabularies[language] ?? []).subtracting(Self.names).subtracting(networks)
                    #expect(foreign.isEmpty, "\(language) \(line): \(foreign)\n\(told.said)")
                }
            }
        }
    }
}
