// SPDX-License-Identifier: Apache-2.0
import Foundation
import PaymentValues
import TestSupport
import Testing

/// What a newcomer types, and what comes back.
@Suite("First contact with the commands", .timeLimit(.minutes(10)))
struct FirstContactTests {
    private let folder = FileManager.default.temporaryDirectory

    @Test("D10: a misspelt command or option is told with the nearest one")
    func suggestions() throws {
        for (program, arguments, wanted) in [
            (Program.tap, ["payy", "12.50", "EUR"], "Did you mean 'nfc-tap pay'?"),
            (.tap, ["statsu"], "Did you mean 'nfc-tap status'?"),
            (.tap, ["end-of-day", "shwo", "3"], "Did you mean 'nfc-tap end-of-day show'?"),
            (.tap, ["pay", "12.50", "EUR", "--langage", "de"], "Did you mean '--language'?"),
            (.tap, ["pay", "--recipt=text", "12.50", "EUR"], "Did you mean '--receipt'?"),
            (.tap, ["pay", "12.50", "EUR", "--zzzzzzzzzz"], "Unknown option '--zzzzzzzzzz'"),
            (.tap, ["xyzzy"], "'nfc-tap --help' lists the commands"),
            (.gateway, ["piar"], "Did you mean 'nfc-tap-gateway pair'?"),
        ] {
            let run = try program.run(arguments, in: folder)
            #expect(run.status == 64 && run.errors.contains(wanted), "\(arguments): \(run.errors)")
        }
        let json = try Program.tap.run(["payy", "1", "EUR", "--json"], in: folder)
        #expect(json.errors.contains("Did you mean 'nfc-tap pay'?") && json.errors.hasPrefix("{"), "\(json.errors)")
    }

    @Test("D10: the help lists the commands by task, each of them once")
    func help() throws {
        let help = try Program.tap.run(["--help"], in: folder).output
        let heads = help.split(separator: "\n").filter { !$0.hasPrefix(" ") && $0.contains("SUBCOMMANDS") }
        #expect(heads.count >= 5, "\(help)")
        for command in ["pay", "end-of-day", "doctor", "help-topics", "adapter-check", "receipt"] {
            let lines = help.split(separator: "\n").filter { $0.hasPrefix("  \(command) ") }
            #expect(lines.count == 1, "\(command)")
        }
    }

    @Test("D4: every program that a person starts says its version")
    func versions() throws {
        let own = try Program.tap.run(["--version"], in: folder).output
        #expect(own.wholeMatch(of: /[0-9]+\.[0-9]+\.[0-9]+\S*\n/) != nil, "\(own)")
        for program in [Program.daemon, .sandbox, .bridge, .gateway] {
            let run = try program.run(["--version"], in: folder)
            #expect(run.status == 0 && run.output == own, "\(program): \(run.output)\(run.errors)")
        }
    }

    @Test("D14: without --language a command speaks the locale's language, and errors do, too")
    func locale() throws {
        let nowhere = folder.appending(path: "no-daemon-\(UUID().uuidString)").path
        // POSIX.1-2024, Base Definitions 8.2: LC_ALL, then LC_MESSAGES, then LANG; an empty one is none. GNU gettext manual 2.3.3:
        // LANGUAGE comes before all of them, but not where the locale is C.
        let (german, swedish, english) = ("Karten annehmen", "Ta emot kort", "Taking cards")
        for (variables, title) in [
            (["LANG": "de_DE.UTF-8"], german), (["LANG": "sv_SE@euro"], swedish), ([:], english),
            (["LANG": "fi_FI.UTF-8"], english), (["LANG": "sv_SE", "LC_ALL": "C"], english),
            (["LC_ALL": "", "LC_MESSAGES": "de", "LANG": "sv_SE"], german), (["LANG": "C.UTF-8"], english),
            (["LANGUAGE": "nb:sv:de", "LANG": "fr_FR.UTF-8"], swedish), (["LANGUAGE": "de"], english),
            (["LANGUAGE": "en:de", "LANG": "sv_SE"], english), (["LANGUAGE": "::", "LANG": "de_AT"], german),
        ] {
            let environment = variables.merging(["NFC_TAP_SOCKET": nowhere]) { $1 }
            let run = try Program.tap.run(["help-topics", "taps"], in: folder, environment: environment)
            #expect(run.status == 0 && run.output.hasPrefix(title), "\(variables): \(run.output.prefix(80))")
        }
        let told = try Program.tap.run(
            ["help-topics", "taps", "--language", "it"], in: folder, environment: ["LANG": "de_DE.UTF-8"])
        #expect(told.status == 0 && !told.output.hasPrefix("Karten annehmen"), "what is told counts before the locale")
    }

    /// The words of the German receipt are a second source for those of the result.
    @Test("D10: with --language de every line of a payment is German")
    func german() throws {
        let shop = try Shop()
        try shop.awaitReader()
        try shop.card("present visa")
        let paid = try shop.tap("pay 12.50 EUR --language de")
        #expect(paid.status == 0 && paid.output.hasPrefix("GENEHMIGT  ") && paid.output.contains("12,50 EUR"))
        #expect(paid.output.contains("TESTBETRIEB"), "\(paid.output)")
        let declined = try shop.tap("pay 12.51 EUR --language de")
        #expect(declined.status == 10 && declined.output.contains("Nicht genug Geld"), "\(declined.output)")
        let missing = try shop.tap("verify --language de --lane nowhere")
        let english = #/\b(approved|declined|reason|transaction|possible|money|card|test mode|use|lane)\b/#
            .ignoresCase()
        for text in [paid.output + paid.errors, declined.output + declined.errors] {
            #expect(text.firstMatch(of: english) == nil, "\(text)")
        }
        #expect(missing.errors.contains("Unbekannter Kassenplatz (lane.unknown)"), "\(missing.errors)")
        let help = try Program.tap.run(["pay", "--help"], in: folder).output.replacing(#/\s+/#, with: " ")
        #expect(help.contains("en, de, fr") && help.contains("told in English"), "\(help)")
    }

    @Test("D3: an error names the option and what it takes, the command and not the call, and no raw word")
    func words() throws {
        let shop = try Shop()
        try shop.awaitReader()
        try shop.card("present visa")
        let long = String(repeating: "x", count: 65)
        for (arguments, wanted) in [
            (["pay", "1.00", "EUR", "--order", long], "--order takes 1 to 64 letters"),
            (["pay", "1.00", "EUR", "--order", "Tisch f\u{FC}nf"], "--order takes 1 to 64 letters"),
            (["pay", "1.00", "EUR", "--deadline", "0"], "--deadline takes 1 to 600 seconds"),
            (["pay", "1.00", "EUR", "--prefer", "XY"], "--prefer takes up to 4 AIDs"),
            (["pay", "1.00", "EUR", "--idempotency-key", "a b"], "--idempotency-key takes 1 to 128"),
            (["link", "1.00", "EUR", "--key", "a b"], "--key takes 1 to 128"),
            (["list", "--order", long], "--order takes 1 to 64 letters"),
            (["end-of-day", "show", "4711"], "nfc-tap end-of-day list"),
            (["last", "nowhere"], "nfc-tap list"), (["pay", "1.00", "EUR", "--lane", "nowhere"], "nfc-tap status"),
            (["receipt", "4711"], "nfc-tap list"), (["receipt", "x"], "the number that nfc-tap list shows"),
        ] {
            let run = try shop.tap(arguments)
            #expect(run.status != 0 && run.errors.contains(wanted), "\(arguments): \(run.errors)")
            #expect(!run.errors.contains("/v1/") && !run.errors.contains("named field"), "\(run.errors)")
        }
        let declined = try shop.tap("pay 12.51 EUR").output
        #expect(declined.contains("Not enough money") && !declined.contains("insufficientFunds"), "\(declined)")
        #expect(!declined.contains("otherMethod"), "\(declined)")
        let table = try shop.tap(["pay", "12.50", "EUR", "--order", "Order 00042-003-0007"])
        #expect(table.status == 0, "\(table.errors)")
        #expect(
            try shop.tap(["list", "--order", "Order 00042-003-0007"]).output.contains("Order Order 00042-003-0007"))
    }

    /// No text of the catalogue that a person at a shell can meet speaks of HTTP.
    @Test("D3: every call that a text of the catalogue names has its command", arguments: ["en", "de"])
    func calls(language: String) throws {
        let texts = try Checkout.text("Sources/Payments/CTexts/\(language).json")
        let words = try Checkout.text("Sources/Programs/nfc-tap/Support/CommandWords.swift")
        let calls = Set(texts.matches(of: #/(?:GET|POST|DELETE) /v1/[a-z-]+/#).map { String($0.output) })
        // Told to whoever writes an adapter, in the adapter's words.
        for call in calls where call != "GET /v1/profile" {
            #expect(words.contains("(\"\(call)\""), "\(call)")
        }
        #expect(calls.count >= 5)
    }

    @Test("D3: a member of a request that a remedy names is an option at the shell", arguments: Language.allCases)
    func members(language: Language) throws {
        let texts = try Checkout.text("Sources/Payments/CTexts/\(language.rawValue).json")
        let words = try Checkout.text("Sources/Programs/nfc-tap/Support/CommandWords.swift")
        let members = Set(
            texts.matches(of: #/"error\.[^"]*\.[a-zA-Z]*[rR]esolution": "[^"]*?\b([a-z]+[A-Z][a-zA-Z]+|force)\b/#).map {
                String($0.1)
            })
        #expect(members.isSuperset(of: ["allowRepeat", "force"]), "\(language)")
        for member in members { #expect(words.contains("(\"\(member)"), "\(member)") }
    }

    @Test("D6: adapter-check without a server says one thing, and how much it has not tried")
    func noAdapter() throws {
        let run = try Program.tap.run(
            ["adapter-check", "--socket", folder.appending(path: "nobody-\(UUID().uuidString).sock").path], in: folder)
        let lines = run.output.split(separator: "\n")
        #expect(run.status == 69 && lines.count <= 5, "\(run.output)")
        #expect(lines.contains { $0.hasPrefix("not tried") && $0.contains("they build on") }, "\(run.output)")
        #expect(!run.output.contains("not supported"), "\(run.output)")
    }

    @Test("D9: the demo shop is one shop, and the marketplace is an example of its own")
    func oneShop() throws {
        let shop = try Checkout.text("docs/examples/profile-test.json")
        let market = try Checkout.text("docs/examples/profile-marketplace.json")
        #expect(!shop.contains("onBehalfOf") && market.contains("\"onBehalfOf\": \"Market Hall\""))
        #expect(market.split(separator: "\n").filter { !$0.contains("onBehalfOf") } == shop.split(separator: "\n"))
        #expect(try Checkout.text("scripts/till.sh").contains("docs/examples/profile-test.json"))
    }

    @Test("P6: a number of the list is taken by receipt, refund and capture, and totals show it")
    func numbers() throws {
        let shop = try Shop()
        try shop.awaitReader()
        try shop.card("present visa")
        #expect(try shop.tap("pay 12.50 EUR").status == 0)
        let held = try shop.tap("pay 20.00 EUR --manual-capture")
        #expect(held.status == 0, "\(held.errors)")
        let list = try shop.tap("list").output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        let sale = try #require(list.last?.first)
        let hold = try #require(list.first?.first)
        #expect(Int(sale) != nil && Int(hold) != nil && sale != hold)
        let totals = try shop.tap("totals").output
        #expect(totals.contains("  \(hold)  ") && totals.contains("held, not captured"), "\(totals)")
        #expect(try shop.tap("receipt \(sale)").output.contains("12.50"))
        #expect(try shop.tap("capture \(hold) --dry-run").status == 0)
        #expect(try shop.tap("capture \(hold)").status == 0)
        #expect(try shop.tap("refund --of \(sale) 2.00 EUR").output.hasPrefix("REFUNDED"))
        #expect(try shop.tap("release 99").status == 65)
        let report = try shop.tap("end-of-day").output
        for word in ["captured", "refunded"] { #expect(report.contains(word), "\(report)") }
        #expect(!report.contains(".."), "an id that no command takes: \(report)")
    }
}
