// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// Tills that exist, with the daemon, the bridge and the sandbox as they are installed. The code of the Odoo modules is that of
/// their published packages; the ZVT till was written by other hands than the terminal, from a description of the till's side.
@Suite("Tills that exist", .timeLimit(.minutes(5)))
struct TillTests {
    private typealias Booking = TillShop.Booking

    @Test("OCA's Caisse-AP module pays, is declined, gives money back, and its cheques are refused")
    func caisse() throws {
        let tills = try TillShop()
        let answers = try tills.caisse("12.50", "6.66", "12.51", "-3.00", "10:check", "-60.00")
        let words = answers.map { $0["payment_status"] as? String }
        #expect(words == ["success", "success", "failure", "success", "failure", "failure"], "\(answers)")
        #expect((answers.first?["transaction_id"] as? String)?.contains("AA-############0010|AC-000001") == true)
        let paid = [1_250, 666].map { Booking("approved", $0, isConfirmed: true) }
        let books = try tills.books("caisse-ap")
        // A cheque, and a refund above the limit, never come to the daemon.
        #expect(books == paid + [Booking("declined", 1_251), Booking("approved", 300, isConfirmed: true)])
    }

    @Test("M7: a till's ledger has its name on the disk before the first payment is in it")
    func ledgersNames() throws {
        let log = try DiskLog()
        defer { log.remove() }
        let tills = try TillShop(bridge: log.environment)
        #expect(try tills.caisse("12.50").first?["payment_status"] as? String == "success")
        let lines = try log.lines()
        let ledger = "\(tills.shop.folder.path)/caisse-ap.ledger"
        #expect(lines.contains("make \(ledger)") && lines.contains("sync \(ledger)"), "the rig saw nothing: \(lines)")
        #expect(try log.uncertainNames(resting: [".ledger"]) == [])
    }

    @Test("OCA's point of sale pays through the proxy, and a second press of the button is the same payment")
    func proxy() throws {
        let tills = try TillShop()
        let paid = try tills.proxy(order: "Order 00001-002-0003", payment: "5f0c-1", "12.5")
        #expect(paid["result"] as? Bool == true && paid["success"] as? Bool == true, "\(paid)")
        let declined = try tills.proxy(order: "Order 00001-002-0004", payment: "5f0c-2", "12.51")
        #expect(declined["result"] as? Bool == false && declined["status"] as? String == "Nicht genug Geld")
        let twice = try tills.proxy(order: "Order 00001-002-0004", payment: "5f0c-2", "16.2", "again")
        #expect(twice["result"] as? Bool == true, "\(twice)")
        // A part of the sum is no payment for a till.
        let partial = try tills.proxy(order: "Order 00001-002-0005", payment: "5f0c-3", "16.1")
        #expect(partial["result"] as? Bool == false && partial["success"] as? Bool == false, "\(partial)")
        // The line that was paid is not paid again.
        let again = try tills.proxy(order: "Order 00001-002-0003", payment: "5f0c-1", "12.5")
        #expect(again["result"] as? Bool == true && again["transaction"] as? Int == paid["transaction"] as? Int)
        #expect(
            try tills.books("hw-proxy") == [
                Booking("approved", 1_250, isConfirmed: true), Booking("declined", 1_251),
                Booking("approved", 1_620, isConfirmed: true), Booking("reversed", 1_610),
            ])
    }

    @Test("A ZVT till sells, is declined, looks its last payment up, reverses once, refunds, and ends its day")
    func zvt() throws {
        let tills = try TillShop()
        let answers = try tills.zvt(
            "register -- sale 1250 -- sale 1251 -- repeat -- reversal 1 -- reversal 1 -- refund 300 -- refund 6000 "
                + "-- status -- totals -- endofday -- totals -- diagnosis -- logoff")
        let outcomes = answers.map { $0["outcome"] as? String }
        #expect(
            outcomes == [
                "completed", "completed", "aborted", "completed", "completed", "aborted", "completed", "aborted",
                "completed", "completed", "completed", "completed", "completed", "acknowledged",
            ], "\(answers)")
        try #require(answers.count == 14)
        #expect(answers[1]["result"] as? Int == 0 && answers[2]["result"] as? Int == 51)
        let fields = answers[1]["fields"] as? [String: Any]
        #expect(fields?["card"] as? String == "EEEEEEEEEEEE0010" && fields?["card_name"] as? String == "Visa")
        #expect((answers[2]["fields"] as? [String: Any])?["text"] as? String == "Nicht genug Geld")
        #expect(answers[5]["code"] as? String == "B4")
        // On a busy machine the till is told that something goes on before there is a word for it.
        let texts = (answers[1]["status_texts"] as? [String])?.filter { !$0.isEmpty }
        #expect(texts?.first == "Karte oder Telefon bitte hierher halten")
        #expect(
            try tills.books("zvt") == [
                Booking("reversed", 1_250, isConfirmed: true), Booking("declined", 1_251),
                Booking("approved", 300, isConfirmed: true),
            ])
    }

    @Test(
        "A ZVT till holds sums, and books a part, all or nothing of them; a booking that is asked for again is the same one"
    )
    func reservations() throws {
        let tills = try TillShop(zvt: "reservations = true")
        let answers = try tills.zvt(
            "register -- preauth 5000 -- open -- partial 1 1250 -- partial 1 1250 -- open -- preauth 4000 -- booktotal 3 1500 "
                + "-- preauth 3000 -- release 5 -- booktotal 5 -- preauth 2000 -- booktotal 7 -- booktotal 1 5001 -- repeat "
                + "-- totals")
        let outcomes = answers.map { $0["outcome"] as? String }
        #expect(
            outcomes == [
                "completed", "completed", "aborted", "completed", "completed", "aborted", "completed", "completed",
                "completed", "completed", "aborted", "completed", "completed", "aborted", "completed", "completed",
            ], "\(answers)")
        try #require(answers.count == 16)
        func field(_ index: Int, _ name: String) -> Int? { (answers[index]["fields"] as? [String: Any])?[name] as? Int }
        #expect((answers[2]["completion"] as? [String: Any])?["receipt"] as? Int == 1)
        #expect((answers[5]["completion"] as? [String: Any])?["receipt"] as? Int == nil)
        #expect(
            [3, 4].map { field($0, "amount") } == [3_750, 3_750] && [3, 4].map { field($0, "receipt") } == [2, 2])
        #expect(field(3, "original_trace") == 1)
        #expect([7, 9, 12, 14].map { field($0, "amount") } == [1_500, 0, 2_000, 2_000], "\(answers)")
        #expect([10, 13].map { answers[$0]["result"] as? Int } == [0xB4, 0xB7])
        #expect(field(15, "amount") == 3_750 + 1_500 + 2_000)
        #expect(
            try tills.accounts("zvt") == [[3_750, 1_250, 0], [1_500, 2_500, 0], [0, 3_000, 0], [2_000, 0, 0]])
    }

    @Test(
        "pypostelium, which wants its answer at once, pays on a serial line that says so, and no sale begins on one that does not"
    )
    func telium() throws {
        let tills = try TillShop(serial: ("caisse-e-plus", "immediate = true"))
        #expect(try tills.telium("12.50") == [true])
        try tills.shop.eventually("paid") {
            try tills.books("serial") == [Booking("approved", 1_250, isConfirmed: true)]
        }
        // It cannot say that a sale was declined; a person has to.
        #expect(try tills.telium("12.51") == [true])
        try tills.shop.eventually("declined, and in the log") {
            try tills.books("serial").last == Booking("declined", 1_251)
                && tills.bridgeLog.contains("is not paid, and the till booked it at once")
        }
        let careful = try TillShop(serial: ("caisse-e-plus", ""))
        #expect(try careful.telium("12.50") == [false])
        #expect(try careful.books("serial").isEmpty)
    }

    @Test(
        "pyTeliumManager, which waits for the end of a payment, sells, is declined, and gives money back on a serial line"
    )
    func teliumManager() throws {
        let tills = try TillShop(serial: ("caisse-e-plus", "refund-limit = 5000"))
        let answers = try tills.teliumManager("12.50", "12.51", "3.00:credit", "60.00:credit", "6.00:refund")
        #expect(answers.map { $0["result"] as? Int } == [0, 7, 0, 7, 7], "\(answers)")
        #expect(answers.first?["amount"] as? Double == 12.5)
        #expect(
            try tills.books("serial") == [
                Booking("approved", 1_250, isConfirmed: true), Booking("declined", 1_251),
                Booking("approved", 300, isConfirmed: true),
            ])
    }

    @Test("A ZVT till on a serial line sells, is declined, gives back and ends its day")
    func serial() throws {
        let tills = try TillShop(serial: ("zvt", "refund-limit = 5000"))
        let answers = try tills.zvt(
            "register -- sale 1250 -- sale 1251 -- reversal 1 -- refund 300 -- totals -- endofday -- logoff",
            isSerial: true)
        let outcomes = answers.map { $0["outcome"] as? String }
        #expect(
            outcomes == [
                "completed", "completed", "aborted", "completed", "completed", "completed", "completed", "acknowledged",
            ], "\(answers)")
        #expect(
            try tills.books("serial") == [
                Booking("reversed", 1_250, isConfirmed: true), Booking("declined", 1_251),
                Booking("approved", 300, isConfirmed: true),
            ])
    }

    @Test("A till that does not hand out the goods, or has gone before it knew, gets the payment taken back")
    func takenBack() throws {
        let tills = try TillShop()
        // A terminal that is still taking a payment back says that it is busy, and the till asks again.
        func sell(_ words: String) throws -> [String: Any]? {
            var answer: [String: Any]?
            try tills.shop.eventually("is not busy") {
                answer = try tills.zvt(words).last
                return answer?["code"] as? String != "849C"
            }
            return answer
        }
        _ = try sell("--answer-status 846600 sale 1000")
        _ = try sell("--cut status sale 1100")
        _ = try sell("--cut command-acknowledged --reset sale 1200")
        // It was not ready, and then it was.
        let ready = try sell("--answer-status 849C00,800000 --status-infos 3 sale 1300")
        #expect(ready?["outcome"] as? String == "completed", "\(ready ?? [:])")
        // It has the result before the completion.
        _ = try sell("--cut completion sale 1400")
        try tills.shop.eventually("ends") { try tills.books("zvt").allSatisfy { $0.state != "reversing" } }
        let books = try tills.books("zvt")
        try #require(books.map(\.amount) == [1_000, 1_100, 1_200, 1_300, 1_400])
        #expect(books[0].state == "reversed" && books[1].state == "reversed", "\(books)")
        #expect(["cancelled", "reversed", "declined"].contains(books[2].state))
        #expect(books[3] == Booking("approved", 1_300, isConfirmed: true))
        #expect(books[4] == Booking("approved", 1_400, isConfirmed: true))
    }

    @Test("A till prints both receipts before the payment counts")
    func receipts() throws {
        let tills = try TillShop()
        let answers = try tills.zvt("--config BE register -- sale 1250")
        let prints = answers.last?["prints"] as? [[String: Any]] ?? []
        let lines = prints.flatMap { $0["lines"] as? [String] ?? [] }
        #expect(lines.contains { $0.contains("12,50") } && lines.contains { $0.contains("Kundenbeleg") }, "\(answers)")
        // The printer is out of paper: nothing was sold.
        let torn = try tills.zvt("--config BE --print-answer 84CC00 register -- sale 1300")
        #expect(torn.last?["outcome"] as? String == "aborted", "\(torn)")
        try tills.shop.eventually("taken back") { try tills.books("zvt").last?.state == "reversed" }
        #expect(try tills.books("zvt").first == Booking("approved", 1_250, isConfirmed: true))
    }

    @Test("A bridge that was killed takes back what a till cannot know of, and knows its last payment")
    func killed() throws {
        let tills = try TillShop()
        #expect(try tills.zvt("sale 1250").last?["outcome"] as? String == "completed")
        tills.stopBridge(SIGKILL)
        try tills.startBridge()
        let repeated = try tills.zvt("register -- repeat").last?["fields"] as? [String: Any]
        #expect(repeated?["amount"] as? Int == 1_250 && repeated?["receipt"] as? Int == 1)
        // The second one goes on at the next number.
        #expect((try tills.zvt("register -- sale 900").last?["fields"] as? [String: Any])?["receipt"] as? Int == 2)
        #expect(try tills.books("zvt").allSatisfy { $0.state == "approved" && $0.isConfirmed })
    }

    @Test("A page that asks while the bridge is started anew gets its answer, where the service manager keeps the port")
    func keptPort() throws {
        let tills = try TillShop()
        tills.stopBridge(SIGTERM)
        let port = tills.ports["hw-proxy"] ?? 0
        let manager = Process()
        let (orders, words) = (Pipe(), Pipe())
        manager.executableURL = URL(filePath: "/usr/bin/env")
        manager.arguments = [
            "python3", TillShop.file("service-manager.py"), "\(port)", "hw-proxy", Program.bridge.url.path, "--config",
            tills.shop.folder.appending(path: "ecr.toml").path,
        ]
        (manager.standardInput, manager.standardOutput) = (orders, words)
        defer { try? orders.fileHandleForWriting.close() }
        try manager.run()
        _ = try words.fileHandleForReading.read(upToCount: 6)
        func ask() throws -> String {
            try Peer.run(
                "/usr/bin/curl",
                [
                    "-s", "--max-time", "30", "-H", "Origin: https://shop.example", "-H",
                    "Content-Type: application/json",
                    "-d", #"{"jsonrpc":"2.0","id":1,"method":"call","params":{}}"#,
                    "http://127.0.0.1:\(port)/hw_proxy/status_json",
                ]
            ).output
        }
        #expect(try ask().contains("nfc_tap"))
        try orders.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
        #expect(try words.fileHandleForReading.read(upToCount: 7) == Data("killed\n".utf8))
        #expect(try ask().contains("nfc_tap"))
    }

    @Test(
        "Whenever bridge, daemon or till are killed, the books of till, daemon and sandbox agree, or the till does not know"
    )
    func kills() throws {
        let result = try Peer.run(
            "/usr/bin/env",
            [
                "python3", Checkout.file("Tests/Checks/check-tills.py").path,
                Program.daemon.url.deletingLastPathComponent().path, Peer.python, "--kills", "5",
            ])
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.output.split(separator: "\n").count { $0.hasSuffix("; 0 faults") } == 4, "\(result.output)")
    }

    @Test("The bench for tills loses a line where it is told to, and shows what passed on it")
    func bench() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "bench-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func answer(_ more: [String]) throws -> (till: String?, line: String) {
            let port = try TillShop.freePort()
            let bench = Process()
            let (input, output) = (Pipe(), Pipe())
            bench.executableURL = Program.tap.url
            bench.arguments = ["ecr-bench", "caisse-ap", "--listen", "127.0.0.1:\(port)"] + more
            (bench.standardInput, bench.standardOutput) = (input, output)
            try bench.run()
            let first = try output.fileHandleForReading.read(upToCount: 10) ?? Data()
            #expect(first == Data("caisse-ap ".utf8))
            let result = try Peer.run(
                Peer.python, [TillShop.file("oca-caisse.py"), "127.0.0.1", "\(port)", "12.50"])
            try input.fileHandleForWriting.close()
            let line = try output.fileHandleForReading.readToEnd() ?? Data()
            bench.waitUntilExit()
            // Rubbish in an answer ends that client with an exception.
            let json = try? JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
            return (json?["payment_status"] as? String, String(decoding: line, as: UTF8.self))
        }
        let paid = try answer([])
        #expect(paid.till == "success" && paid.line.contains("AE00210"), "\(paid)")
        let lost = try answer(["--cut-after", "0"])
        #expect(lost.till == "issue" && lost.line.contains("--- line lost"), "\(lost)")
        #expect(try answer(["--garble", "1"]).till != "success")
    }

    @Test("A daemon that is away is told to the till, and once it is back the till sells")
    func away() throws {
        let tills = try TillShop()
        tills.shop.killDaemon()
        let away = try tills.caisse("12.50").first
        #expect(away?["payment_status"] as? String == "failure", "\(String(describing: away))")
        try tills.shop.startDaemon()
        try tills.shop.eventually("a sale") {
            try tills.present("visa", on: "caisse-ap")
            return try tills.caisse("12.50").first?["payment_status"] as? String == "success"
        }
        #expect(try tills.books("caisse-ap").filter { $0.state == "approved" }.count == 1)
    }

    @Test("In test mode a till that does not say so sells nothing")
    func testMode() throws {
        let tills = try TillShop(test: false)
        #expect(try tills.caisse("12.50").first?["payment_status"] as? String == "failure")
        let answers = try tills.zvt("sale 1250")
        #expect(answers.last?["outcome"] as? String == "aborted")
        #expect(try tills.books("caisse-ap").isEmpty && tills.books("zvt").isEmpty)
    }
}
