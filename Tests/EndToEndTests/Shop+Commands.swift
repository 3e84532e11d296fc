// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

extension Shop {
    /// A command of nfc-tap to this shop's daemon.
    func tap(_ arguments: [String]) throws -> Finished {
        try Program.tap.run(arguments, in: folder, environment: ["NFC_TAP_SOCKET": posSocket])
    }

    func tap(_ words: String) throws -> Finished { try tap(words.split(separator: " ").map(String.init)) }

    /// The JSON object that a command prints with `--json`.
    func json(_ words: String) throws -> [String: Any] {
        let result = try tap(words + " --json")
        guard let object = try? JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any] else {
            throw Trouble.refused("\(words): \(result.output)\(result.errors)")
        }
        return object
    }

    /// Arguments of setpriv(1) for another user, who is in no group but those named.
    static func becoming(_ user: UInt32, _ groups: String = "") -> [String] {
        ["--reuid=\(user)", "--regid=65534"] + (groups.isEmpty ? ["--clear-groups"] : ["--groups=\(groups)"])
            // Folders of the test run may be closed to others; the daemon asks the kernel for user and groups only.
            + ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
    }

    /// The same command as another user, who is in no group but those named.
    func tap(as user: UInt32, groups: String = "", _ arguments: [String]) throws -> Int32 {
        let words = Self.becoming(user, groups) + [Program.tap.url.path] + arguments + ["--socket", posSocket]
        return try Peer.run("/usr/bin/setpriv", words).status
    }

    /// A shop that stores what cards approve by themselves, and whose payment service has gone after a short visit.
    static func storing() throws -> Shop {
        // A floor limit below which the terminal lets a card decide.
        let terminal = try Checkout.text("docs/examples/terminal-test.json")
            .replacingOccurrences(of: #""floor": 0"#, with: #""floor": 100000"#)
        let file = FileManager.default.temporaryDirectory.appending(path: "t\(UUID().uuidString.prefix(8)).json")
        try Data(terminal.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let shop = try Shop(
            configuration: """
                mode = "test"
                [terminal]
                file = "\(file.path)"
                [offline]
                count = 20
                per-card = 20
                [[offline.currency]]
                code = "EUR"
                amount = 2000
                total = 20000
                [[lane]]
                name = "main"
                reader = "virtual:FOLDER/reader.sock"
                """)
        try shop.eventually("a visit of the payment service") { try shop.get("/v1/queue")["expires"] != nil }
        try shop.awaitReader()
        shop.stopSandbox()
        return shop
    }

    /// Takes an exported batch to a payment service that the daemon cannot reach.
    ///
    /// - Returns: its receipt.
    func deliver(_ batch: String) throws -> String {
        let elsewhere = folder.appending(path: "else.sock").path
        if !FileManager.default.fileExists(atPath: elsewhere) {
            keep(try Program.sandbox.launch(["--sandbox", "--socket", elsewhere], in: folder))
            try eventually("another payment service") { FileManager.default.fileExists(atPath: elsewhere) }
        }
        let file = folder.appending(path: "batch.json")
        try batch.write(to: file, atomically: true, encoding: .utf8)
        let answer = try curl(
            [
                "-H", "Content-Type: application/json", "--data-binary", "@\(file.path)",
                "http://localhost/debug/batches",
            ],
            socket: elsewhere)
        let object = try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: Any]
        guard let token = object?["token"] as? String else { throw Trouble.refused(answer) }
        return token
    }

    /// A payment of a card that approves by itself.
    func store(_ amount: String = "5.00 EUR", _ more: [String] = []) throws -> Payment {
        try card("present visa-afl")
        defer { try? card("remove") }
        return try pay(amount, more)
    }
}
