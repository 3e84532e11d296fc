// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@Suite("Exit codes of nfc-tap", .timeLimit(.minutes(10)))
struct ExitCodeTests {
    /// Every code there is; each is seen below.
    private static let codes: Set<Int> = [0, 1, 10, 11, 12, 13, 14, 15, 64, 65, 69, 77]

    @Test("The help, from which the manual is made, names every exit code; the page has the same table")
    func documented() throws {
        let help = try Program.tap.run(["--help"], in: FileManager.default.temporaryDirectory).output
        let words = help.split { $0.isWhitespace }.joined(separator: " ")
        let rows = try Checkout.text("docs/shop/command-line.md").matches(of: #/\| ([0-9]+) \| (.+) \|/#)
        #expect(Set(rows.compactMap { Int($0.output.1) }) == Self.codes)
        for row in rows { #expect(words.contains("\(row.output.1) \(row.output.2)"), "\(row.output.0)") }
        let list = try #require(words.firstMatch(of: #/Exit codes:(.*?)USAGE/#)?.output.1)
        #expect(
            list.matches(of: #/(?:^| )([0-9]+) /#).compactMap { Int($0.output.1) } == Self.codes.sorted(), "\(list)")
    }

    @Test("A payment's outcome is the exit code: 0, 10, 11, 12 and 13")
    func outcomes() throws {
        let shop = try Shop(sandboxArguments: ["--slow-seconds", "600"])
        try shop.awaitReader()
        try shop.card("present visa")
        #expect(try shop.pay("12.00 EUR").status == 0)
        #expect(try shop.pay("12.51 EUR").status == 10)
        #expect(try shop.pay("12.10 EUR").status == 11)
        try shop.card("remove")
        #expect(try shop.pay("12.00 EUR", ["--deadline", "1"]).status == 13)
        // Nobody knows what became of a payment whose daemon has died.
        try shop.card("present visa")
        let pay = Process()
        pay.executableURL = Program.tap.url
        pay.arguments = ["pay", "12.97", "EUR", "--order", "lost", "--socket", shop.posSocket]
        pay.standardOutput = FileHandle.nullDevice
        let errors = Pipe()
        pay.standardError = errors
        try pay.run()
        try shop.eventually("a payment on its way") {
            let found = try shop.get("/v1/transactions?order=lost")["transactions"] as? [[String: Any]]
            return found?.first?["state"] as? String == "sent"
        }
        shop.killDaemon()
        pay.waitUntilExit()
        #expect(pay.terminationStatus == 12)
        let said = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        #expect(said.contains("look the payment up before you repeat it: nfc-tap receipt"), "\(said)")
    }

    @Test("A day whose figures differ from the payment service's is 15, and 12 until the service gives its own")
    func endOfDay() throws {
        let shop = try Shop()
        try shop.awaitReader()
        try shop.card("present visa")
        // The sandbox loses a sale that ends in 31: it is in none of its figures.
        #expect(try shop.pay("12.31 EUR").status == 0)
        #expect([12, 15].contains(try shop.tap("end-of-day close").status))
        try shop.eventually("figures that differ") { try shop.tap("end-of-day show 1").status == 15 }
    }

    @Test("Wrong arguments are 64, wrong content 65, nobody there 69, and a replay that differs 1")
    func mistakes() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "x\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func status(_ words: String) throws -> Int32 {
            try Program.tap.run(words.split(separator: " ").map(String.init), in: folder).status
        }
        #expect(try status("pay twelve EUR") == 64)
        #expect(try status("decode 9F2") == 65)
        #expect(try status("status --socket \(folder.path)/nowhere") == 69)
        let tap = folder.appending(path: "visa.tap").path
        #expect(try status("record \(tap) --reader virtual:visa") == 0)
        #expect(try status("replay \(tap)") == 0)
        let text = try String(contentsOfFile: tap, encoding: .utf8)
        // Another amount: the terminal's first command with it is no longer the recorded one.
        try text.replacingOccurrences(of: "amount: 100", with: "amount: 200")
            .write(toFile: tap, atomically: true, encoding: .utf8)
        #expect(try status("replay \(tap)") == 1)
    }

    @Test(
        "Requirement 3: who is no administrator gets 14 for the terms, and who may not even ask gets 77",
        .enabled(if: geteuid() == 0, "needs root, to become another user"))
    func roles() throws {
        let shop = try Shop(
            configuration: """
                mode = "test"
                [groups]
                cashier = "60001"
                [[lane]]
                name = "main"
                reader = "virtual:FOLDER/reader.sock"
                [profile]
                """)
        try shop.eventually("terms") { try shop.get("/v1/terms")["hash"] != nil }
        for (path, mode) in [(shop.folder.path, 0o711), (shop.posSocket, 0o666)] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
        #expect(try shop.tap(as: 65_534, groups: "60001", ["status"]) == 0)
        #expect(try shop.tap(as: 65_534, groups: "60001", ["terms", "accept", "--yes"]) == 14)
        #expect(try shop.tap(as: 65_534, groups: "60001", ["queue", "batch"]) == 77)
        // Always: the refusal waits for the request, or its client would take it for a lost connection.
        for _ in 0..<20 { #expect(try shop.tap(as: 65_534, ["status"]) == 77) }
        #expect(try shop.get("/v1/status")["terms"] as? String == "notRequired")
    }
}
