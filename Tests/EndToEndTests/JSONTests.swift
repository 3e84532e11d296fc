// SPDX-License-Identifier: Apache-2.0
import Foundation
import POSAPI
import PSPSandbox
import PaymentValues
import TestSupport
import Testing

@Suite("--json everywhere", .timeLimit(.minutes(10)))
struct JSONTests {
    /// A run of one command: its words with SOME-THING in place of what the run gives it, and the options that it needs.
    struct Run {
        let command: String
        var arguments = ""
        var status: Set<Int32> = [0]
    }

    static let withoutDaemon: [Run] = [
        Run(command: "readers", status: [0, 69]), Run(command: "read", arguments: "--reader virtual:visa"),
        Run(command: "loyalty", arguments: "--reader virtual:apple-pass"),
        Run(command: "config check", arguments: "CONFIGURATION"),
        Run(command: "pin-devices", arguments: "CONFIGURATION"), Run(command: "try"),
        Run(command: "decode", arguments: "9F270180"), Run(command: "simulate", arguments: "--list"),
        Run(command: "record", arguments: "TAP --reader virtual:visa"), Run(command: "explain", arguments: "TAP"),
        Run(command: "replay", arguments: "TAP"),
        Run(command: "kernel-diff", arguments: "SCRIPTS --configurations KERNELS", status: [1]),
        Run(command: "doctor", status: [0, 1]), Run(command: "adapter-check", arguments: "--socket no", status: [69]),
        Run(command: "diagnose", arguments: "BUNDLE"), Run(command: "help-topics"),
        Run(command: "help-topics", arguments: "taps"),
        Run(command: "ecr-bench", arguments: "zvt --listen 127.0.0.1:23917"),
    ]

    static let online: [Run] = [
        Run(command: "prepare", arguments: "--lane main"), Run(command: "status"), Run(command: "terms show"),
        Run(command: "terms import", arguments: "ACCEPTANCE"),
        Run(command: "pay", arguments: "12.00 EUR --confirm-within 600 --idempotency-key till-1/7"),
        Run(command: "confirm", arguments: "PAID"),
        Run(command: "receipt", arguments: "PAID"), Run(command: "reverse", arguments: "PAID"),
        Run(command: "cancel", arguments: "PAID"), Run(command: "pay", arguments: "12.51 EUR", status: [10]),
        Run(command: "pay", arguments: "12.00 EUR --dry-run"), Run(command: "refund", arguments: "5.00 EUR"),
        Run(command: "find", arguments: "till-1/7", status: [10]), Run(command: "open list"),
        Run(command: "verify"), Run(command: "look-up"), Run(command: "store-card", arguments: "--consent told"),
        Run(command: "charge", arguments: "CARD 3.00 EUR --agreement AGREED"),
        Run(command: "stored-cards agree", arguments: "CARD --agreement recurring --cycle monthly --text TEXT"),
        Run(command: "stored-cards list"), Run(command: "stored-cards show", arguments: "CARD"),
        Run(command: "stored-cards end-agreement", arguments: "AGREED"),
        Run(command: "stored-cards delete", arguments: "CARD"),
        Run(command: "link", arguments: "3.00 EUR"),
        Run(command: "handover", arguments: "sandbox-terminal --retry-of DECLINED", status: [10]),
        Run(command: "adjust", arguments: "HELD 15.00 EUR"),
        Run(command: "capture", arguments: "HELD 5.00 EUR --not-final"), Run(command: "release", arguments: "HELD"),
        Run(command: "list", arguments: "--state approved"), Run(command: "last", arguments: "main"),
        Run(command: "totals"), Run(command: "end-of-day close"), Run(command: "end-of-day list"),
        Run(command: "end-of-day show", arguments: "DAY"),
        Run(command: "events", arguments: "--after 0 --count 3"), Run(command: "virtual", arguments: "CONTROL state"),
        Run(command: "audit verify", arguments: "JOURNAL"), Run(command: "audit export", arguments: "JOURNAL"),
    ]

    static let storing: [Run] = [
        Run(command: "queue list"), Run(command: "queue flush"), Run(command: "decline", arguments: "STORED"),
        Run(command: "queue batch"), Run(command: "queue export"), Run(command: "queue reset"),
        Run(command: "queue batch"), Run(command: "queue resolve", arguments: "RECEIPT"),
    ]

    /// Run in a shop of its own: one acceptance is enough.
    static let accepting = [Run(command: "terms accept", arguments: "--yes")]

    /// Run in a shop of its own, which allows it.
    static let allowed = [Run(command: "card-command", arguments: "E0036A82")]

    /// Run in a shop of its own, whose lane stands alone.
    static let standing: [Run] = [
        Run(command: "sessions list"), Run(command: "sessions claim", arguments: "FIRST --reference TOK001"),
        Run(command: "sessions keep", arguments: "FIRST 600"),
        Run(command: "sessions increase", arguments: "FIRST 30.00 EUR"),
        Run(command: "sessions commit", arguments: "FIRST 40.10 EUR --up-to"),
        Run(command: "sessions release", arguments: "SECOND"),
        Run(command: "sessions watch", arguments: "--after 0 --count 5 --lane pump"),
    ]

    /// Need an open item, an operation without an answer, or a day that differs, which the daemon's own tests have.
    static let settling: Set<String> = ["open settle", "resolve", "end-of-day resolve"]

    @Test("Every command takes --json, and each of them is run here with it")
    func commands() throws {
        let leaves = try Program.commands()
        let run = Set(
            (Self.withoutDaemon + Self.online + Self.storing + Self.accepting + Self.allowed + Self.standing).map(
                \.command))
        #expect(Set(leaves.map(\.words)) == run.union(Self.settling))
        for leaf in leaves { #expect(leaf.takesJSON, "\(leaf.words)") }
    }

    /// Runs them one after the other; what each prints on standard output has to be JSON, as a whole or line by line.
    private func run(
        _ runs: [Run], in folder: URL, environment: [String: String], _ names: inout [String: String],
        after: (Run, Any, inout [String: String]) throws -> Void = { _, _, _ in }
    ) throws {
        for run in runs {
            let words = "\(run.command) \(run.arguments)".split(separator: " ").map { names[String($0)] ?? String($0) }
            let arguments = words.flatMap { $0.split(separator: " ").map(String.init) } + ["--json"]
            let result = try Program.tap.run(arguments, in: folder, environment: environment)
            #expect(run.status.contains(result.status), "\(arguments): \(result.status) \(result.errors)")
            let parts = (try? [JSONSerialization.jsonObject(with: Data(result.output.utf8))]) ?? []
            let lines =
                try parts.isEmpty
                ? result.output.split(separator: "\n").map { try JSONSerialization.jsonObject(with: Data($0.utf8)) }
                : parts
            // Without a service for readers there is nothing to tell of.
            #expect(!lines.isEmpty || result.status == 69, "\(arguments)")
            if let first = lines.first { try after(run, first, &names) }
        }
    }

    @Test("What works without a daemon prints JSON")
    func alone() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "j\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let configuration = folder.appending(path: "nfc-tapd.toml")
        try Data("[[lane]]\nname = \"a\"\nreader = \"pcsc:\"\n".utf8).write(to: configuration)
        var names = ["CONFIGURATION": configuration.path]
        for (name, file) in [("TAP", "visa.tap"), ("BUNDLE", "bundle.tar")] {
            names[name] = folder.appending(path: file).path
        }
        names["SCRIPTS"] = Checkout.file("Tests/Vectors/kernel-scripts/scripts.jsonl").path
        names["KERNELS"] = Checkout.file("docs/examples/kernel-configurations.jsonl").path
        let nobody = ["NFC_TAP_SOCKET": folder.appending(path: "nowhere").path]
        try run(Self.withoutDaemon, in: folder, environment: nobody, &names)
    }

    @Test("What asks the daemon prints JSON")
    func asking() throws {
        let shop = try Shop()
        try shop.awaitReader()
        try shop.eventually("terms") { try shop.get("/v1/terms")["hash"] != nil }
        let hash = try #require(try shop.get("/v1/terms")["hash"] as? String)
        let token = try SandboxProfile(key: TestSigner.key())
            .acceptance(merchant: "sandbox-merchant", hash: hash, by: "Head office", at: .now)
        let file = shop.folder.appending(path: "acceptance.jws")
        try Data(token.utf8).write(to: file)
        let text = shop.folder.appending(path: "agreement.txt")
        try Data("I agree that the shop charges me each month.".utf8).write(to: text)
        var names = [
            "TEXT": text.path,
            "ACCEPTANCE": file.path, "CONTROL": "--control \(shop.readerSocket)",
            "JOURNAL": "--file \(shop.folder.path)/state/journal.sqlite",
        ]
        try shop.card("present visa")
        let held = try shop.curl([
            "-H", "Content-Type: application/json", "-H", "Idempotency-Key: held", "-H", "Prefer: wait=20", "-d",
            #"{"type":"purchase","amount":{"value":1200,"currency":"EUR"},"amountStatus":"preauthorized"}"#,
            "http://localhost/v1/transactions",
        ])
        let payment = try JSONSerialization.jsonObject(with: Data(held.utf8)) as? [String: Any]
        names["HELD"] = try #require(payment?["id"] as? String, "\(held)")
        #expect(payment?["state"] as? String == "approved")
        try run(Self.online, in: shop.folder, environment: ["NFC_TAP_SOCKET": shop.posSocket], &names) {
            (run, answer, names) in
            if run.command == "end-of-day close" {
                let day = (answer as? [String: Any])?["day"] as? [String: Any] ?? answer as? [String: Any]
                names["DAY"] = (day?["number"] as? Int).map(String.init)
            }
            if run.command == "store-card" {
                let card = (answer as? [String: Any])?["credential"] as? [String: Any]
                let agreements = card?["agreements"] as? [[String: Any]]
                (names["CARD"], names["AGREED"]) = (card?["id"] as? String, agreements?.first?["id"] as? String)
            }
            guard run.command == "pay", let payment = answer as? [String: Any], let id = payment["id"] as? String else {
                return
            }
            names[payment["state"] as? String == "declined" ? "DECLINED" : "PAID"] = id
        }
        let other = try Shop()
        try other.eventually("terms") { try other.get("/v1/terms")["hash"] != nil }
        try run(Self.accepting, in: other.folder, environment: ["NFC_TAP_SOCKET": other.posSocket], &names)
    }

    @Test("Commands to a card print JSON where they are allowed")
    func commanding() throws {
        let shop = try Shop(
            configuration: """
                [diagnostics]
                card-commands = true
                [[lane]]
                name = "till"
                reader = "virtual:FOLDER/reader.sock"
                """)
        try shop.awaitReader()
        try shop.card("present smoke")
        var names: [String: String] = [:]
        try run(Self.allowed, in: shop.folder, environment: ["NFC_TAP_SOCKET": shop.posSocket], &names)
    }

    @Test("What a machine does with its sessions prints JSON, and the outcome is the exit code")
    func machine() throws {
        let shop = try Shop(
            configuration: """
                mode = "test"
                [[lane]]
                name = "pump"
                reader = "virtual:FOLDER/reader.sock"
                [lane.standing]
                mode = "hold"
                amount = 2500
                maximum = 5000
                currency = "EUR"
                claim-seconds = 600
                debounce-seconds = 0
                open-sessions = 2
                test = true
                """)
        try shop.awaitReader()
        var names: [String: String] = [:]
        for (number, name) in [(1, "FIRST"), (2, "SECOND")] {
            try shop.card("present visa")
            try shop.eventually("offer \(number)") {
                let found = try shop.get("/v1/sessions?open=true")["sessions"] as? [[String: Any]] ?? []
                let session = found.first { $0["tap"] as? Int == number && $0["state"] as? String == "offered" }
                names[name] = session?["id"] as? String
                return session != nil
            }
            try shop.card("remove")
        }
        let first = try #require(names["FIRST"])
        #expect(try shop.tap("sessions commit \(first) 1 EUR").status == 65)
        #expect(try shop.tap("sessions commit \(first) 1 USD").status == 65)
        #expect(try shop.tap("sessions claim pump --reference A").status == 64)
        var committed: [String: Any] = [:]
        try run(Self.standing, in: shop.folder, environment: ["NFC_TAP_SOCKET": shop.posSocket], &names) {
            (run, answer, _) in
            if run.command == "sessions commit" { committed = answer as? [String: Any] ?? [:] }
        }
        #expect((committed["captured"] as? [String: Any])?["value"] as? Int == 3_000)
        #expect((committed["shortfall"] as? [String: Any])?["value"] as? Int == 1_010)
        #expect(try shop.tap("sessions").output.contains("no session is open"))
        #expect(try shop.tap("sessions list --all").output.contains("committed  30.00 EUR"))
    }

    @Test("What is about stored payments prints JSON")
    func stored() throws {
        let shop = try Shop.storing()
        var names = ["STORED": try #require(try shop.store().transaction["id"] as? String)]
        _ = try shop.store()
        try run(Self.storing, in: shop.folder, environment: ["NFC_TAP_SOCKET": shop.posSocket], &names) {
            (run, answer, names) in
            guard run.command == "queue batch" else { return }
            let batch = String(decoding: try JSONSerialization.data(withJSONObject: answer), as: UTF8.self)
            names["RECEIPT"] = try shop.deliver(batch)
        }
    }

    /// Of the last line on standard error.
    private func failure(_ result: Finished) throws -> [String: Any] {
        let line = try #require(result.errors.split(separator: "\n").last)
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        let error = try #require(object?["error"] as? [String: Any], "\(line)")
        #expect(error["exitCode"] as? Int == Int(result.status))
        #expect((error["message"] as? String)?.isEmpty == false)
        return error
    }

    @Test("A failure is a line of JSON too, with the daemon's code where it has one")
    func failures() throws {
        let shop = try Shop()
        try shop.awaitReader()
        let refused = try failure(try shop.tap("pay 12.00 EUR --lane nowhere --json"))
        #expect(refused["code"] as? String == "lane.unknown")
        let missing = try failure(try shop.tap("receipt 01890000-0000-7000-8000-000000000000 --json"))
        #expect(missing["code"] as? String == "transaction.unknown")

        let usage = try shop.tap("pay --json")
        #expect(usage.status == 64)
        #expect(try failure(usage)["code"] == nil)
        let words = try shop.tap("pay twelve EUR")
        #expect(!words.errors.contains("{"), "words for people: \(words.errors)")
        let help = try shop.tap("pay --help --json")
        #expect(help.status == 0 && help.output.contains("USAGE"))

        shop.killDaemon()
        let away = try failure(try shop.tap("status --json"))
        #expect(away["code"] as? String == "client.daemon_not_running" && away["hint"] is String)
        let nowhere = try shop.tap("status --socket /nowhere/pos.sock")
        #expect(nowhere.status == 69 && nowhere.errors.contains("(/nowhere/pos.sock)"), "\(nowhere)")
    }
}
