// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@Suite("nfc-tap open, find and the wish for a confirmation", .timeLimit(.minutes(10)))
struct OpenCommandTests {
    private func alter(_ shop: Shop, _ sql: String) throws {
        try Peer.alter(shop.folder.path + "/state/journal.sqlite", sql)
    }

    @Test("A payment that nobody can end by proof is listed with what to do, and ends once, as a person says")
    func open() throws {
        let shop = try Shop.storing()
        #expect(try shop.tap("open").output == "nothing needs a person; nfc-tap totals shows what is open\n")
        let id = try #require(try shop.store().transaction["id"] as? String)
        try alter(shop, "UPDATE queue_record SET record = 'nonsense'")
        try shop.startSandbox()
        _ = try shop.tap("queue flush")
        try shop.eventually("an open item") { try shop.json("open list")["count"] as? Int == 1 }
        let listed = try shop.tap("open")
        #expect(
            listed.status == 0 && listed.output.hasPrefix("open payments that need a person: 1\n"), "\(listed.errors)")
        #expect(listed.output.contains(id) && listed.output.contains("5.00 EUR"), "\(listed.output)")
        #expect(listed.output.contains("nfc-tap open settle \(id) --as"), "\(listed.output)")
        #expect(try shop.tap("status").output.contains("open payments that need a person: 1"))
        #expect(try shop.tap(["open", "settle", id, "--as", "perhaps", "--note", "x"]).status == 64)
        let above = try shop.tap(["open", "settle", id, "--as", "charged", "--amount", "5.01 EUR", "--note", "x"])
        #expect(above.status != 0 && above.errors.contains("open_item.amount_impossible"), "\(above.errors)")
        let settle = ["open", "settle", id, "--as", "notCharged", "--note", "asked by telephone"]
        if geteuid() == 0 {
            for (path, mode) in [(shop.folder.path, 0o711), (shop.posSocket, 0o666)] {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            }
            #expect(try shop.tap(as: 65_534, settle) != 0)
            #expect(try shop.json("open list")["count"] as? Int == 1)
        }
        let settled = try shop.tap(settle)
        #expect(settled.output.hasPrefix("DECLINED"), "\(settled.output)\(settled.errors)")
        #expect(try shop.get("/v1/transactions/\(id)")["state"] as? String == "declined")
        let again = try shop.tap(settle)
        #expect(again.status == 13 && again.errors.contains("open_item.already_settled"), "\(again.errors)")
        #expect(try shop.tap("open").output == "nothing needs a person; nfc-tap totals shows what is open\n")
        #expect(try shop.ledgerEntries().isEmpty)
        let chain = try shop.tap(["audit", "verify", "--file", shop.folder.path + "/state/journal.sqlite"])
        #expect(chain.status == 0)
    }

    @Test("E2 a till that has lost its answer finds the sale by its own key; a key that never came may be sent again")
    func find() throws {
        let shop = try Shop()
        try shop.awaitReader()
        try shop.card("present visa")
        let paid = try shop.pay("12.00 EUR", ["--idempotency-key", "till-1"])
        #expect(paid.state == "approved")
        #expect(try shop.json("find till-1")["id"] as? String == paid.transaction["id"] as? String)
        let found = try shop.tap("find till-1")
        #expect(found.status == 0 && found.output.contains("12.00 EUR"), "\(found.output)")
        #expect(try shop.pay("12.51 EUR", ["--idempotency-key", "till-2"]).status == 10)
        #expect(try shop.tap("find till-2").status == 10, "as the command that began it")
        let never = try shop.tap("find till-3")
        #expect(never.status == 65 && never.errors.contains("idempotency.key_unknown"), "\(never.errors)")
    }

    @Test(
        "E1 the same card and amount within minutes has to be confirmed where the till wishes it, and is taken back if not"
    )
    func repeats() throws {
        let shop = try Shop()
        try shop.awaitReader()
        func sale(_ order: String, _ seconds: Int) throws -> Payment {
            try shop.card("present visa")
            defer { try? shop.card("remove") }
            return try shop.pay("12.00 EUR", ["--order", order, "--confirm-repeat-within", "\(seconds)"])
        }
        let first = try sale("A-1", 60)
        #expect(first.state == "approved" && first.transaction["confirmation"] == nil)
        let second = try sale("A-2", 60)
        let repeats = (second.transaction["result"] as? [String: Any])?["repeats"] as? String
        #expect(repeats == first.transaction["id"] as? String && second.transaction["confirmation"] != nil)
        let id = try #require(second.transaction["id"] as? String)
        #expect(try shop.tap("confirm \(id)").status == 0)
        let third = try #require(try sale("A-3", 1).transaction["id"] as? String)
        try shop.eventually("a reversal") {
            try shop.get("/v1/transactions/\(third)")["state"] as? String == "reversed"
        }
        #expect(try shop.get("/v1/transactions/\(id)")["state"] as? String == "approved")
    }

    @Test("C1 the configuration says how many streams of events one user may have; calls have places of their own")
    func places() throws {
        let shop = try Shop(
            configuration: """
                mode = "test"
                [pos]
                event-streams-per-user = 1
                [[lane]]
                name = "main"
                reader = "virtual:FOLDER/reader.sock"
                """)
        try shop.awaitReader()
        shop.keep(try Program.tap.launch(["events", "--socket", shop.posSocket], in: shop.folder))
        try shop.eventually("a stream") {
            try shop.curl(["http://localhost/metrics"]).contains("nfc_tap_event_streams 1\n")
        }
        let second = try shop.curl(["-o", "/dev/null", "-w", "%{http_code}", "http://localhost/v1/events"])
        #expect(second == "429")
        #expect(try shop.tap("status").status == 0)
    }

    @Test("C1 the configuration says how many connections one user may have: one more is told what to do")
    func connections() throws {
        let shop = try Shop(
            configuration: """
                mode = "test"
                [pos]
                connections = 32
                connections-per-user = 8
                reserved-places = 1
                [[lane]]
                name = "main"
                reader = "virtual:FOLDER/reader.sock"
                """)
        // Eight connections that have had an answer, so that each is counted, and go one after the other.
        let guests = Process()
        let (orders, words) = (Pipe(), Pipe())
        guests.executableURL = URL(filePath: "/usr/bin/env")
        guests.arguments = [
            "python3", "-c",
            """
            import socket, sys
            guests = []
            while len(guests) < 8:
                guest = socket.socket(socket.AF_UNIX)
                guest.connect(sys.argv[1])
                guest.sendall(b"GET /v1/status HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
                # Whoever asked before may still be counted.
                if guest.recv(65536).startswith(b"HTTP/1.1 200"):
                    guests.append(guest)
            print("all", flush=True)
            for _ in sys.stdin:
                guests.pop().close()
            """, shop.posSocket,
        ]
        (guests.standardInput, guests.standardOutput) = (orders, words)
        // It ends with its input: whoever starts a program here may have signals blocked, and so has the program.
        defer { try? orders.fileHandleForWriting.close() }
        try guests.run()
        #expect(try words.fileHandleForReading.read(upToCount: 4) == Data("all\n".utf8))
        func status() throws -> String { try shop.curl(["-w", "%{http_code}", "http://localhost/v1/status"]) }
        let ninth = try status()
        #expect(ninth.hasSuffix("429") && ninth.contains("request.too_many_connections_of_user"), "\(ninth)")
        // A place that is left is given away.
        try orders.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
        try shop.eventually("a place") { try status().hasSuffix("200") }
    }
}
