// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Tills behind a gateway, with the programs as they are") struct GatewayTests {
    private func sell(_ shop: Shop, till: String?, key: String) throws -> [String: Any] {
        let header = till.map { ["-H", "NFC-Tap-On-Behalf-Of: \($0)", "-H", "NFC-Tap-Roles: cashier"] } ?? []
        let body = #"{"type":"purchase","amount":{"value":1250,"currency":"EUR"},"detached":true}"#
        let text = try shop.curl(
            header + [
                "-H", "Content-Type: application/json", "-H", "Idempotency-Key: \(key)", "-H", "Prefer: wait=20", "-d",
                body, "http://localhost/v1/transactions",
            ])
        return try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
    }

    private func code(_ text: String) throws -> String? {
        let json = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        return (json?["error"] as? [String: Any])?["code"] as? String
    }

    @Test("Rule 10: a whole system of one user, its group by number: a till keeps what is its own when the daemon dies")
    func wholeSystem() throws {
        let shop = try Shop(
            configuration: """
                [gateway]
                group = "\(getegid())"
                [pos]
                socket = "FOLDER/pos.sock"
                [[lane]]
                name = "main"
                reader = "virtual:FOLDER/reader.sock"
                """)
        try shop.awaitReader()
        try shop.card("present visa")
        let sale = try sell(shop, till: "bar-1", key: "K")
        #expect(sale["state"] as? String == "approved" && sale["till"] as? String == "bar-1")
        let id = try #require(sale["id"] as? String)
        shop.killDaemon()
        try shop.startDaemon()
        try shop.awaitReader()
        #expect(try sell(shop, till: "bar-1", key: "K")["id"] as? String == id, "the same sale again")
        try shop.card("swap visa")
        let other = try sell(shop, till: "bar-2", key: "K")
        #expect(other["state"] as? String == "approved" && other["id"] as? String != id)
        let target = "http://localhost/v1/transactions/\(id)"
        #expect(
            try code(shop.curl(["-H", "NFC-Tap-On-Behalf-Of: bar-2", "-H", "NFC-Tap-Roles: cashier", target]))
                == "session.not_owner")
        #expect(
            try shop.get("/v1/transactions/\(id)")["till"] as? String == "bar-1", "the owner's program is what it was")
        #expect(try shop.ledgerEntries().count == 2)
        let journal = shop.folder.appending(path: "state/journal.sqlite").path
        #expect(try Program.tap.run(["audit", "verify", "--file", journal], in: shop.folder).status == 0)
        try shop.card("remove")
        let waiting = try shop.curl([
            "-H", "NFC-Tap-On-Behalf-Of: bar-1", "-H", "NFC-Tap-Roles: cashier", "-H", "Idempotency-Key: L", "-H",
            "Content-Type: application/json", "-d",
            #"{"type":"purchase","amount":{"value":1,"currency":"EUR"},"detached":true}"#,
            "http://localhost/v1/transactions",
        ])
        #expect(waiting.contains(#""state":"created""#))
        let status = try Program.tap.run(["status", "--socket", shop.posSocket], in: shop.folder)
        #expect(status.output.contains("held by uid \(geteuid()) till bar-1 since"), "\(status.output)")
    }

    @Test("Rule 2, vector 16: without a group nobody speaks for a till, not even the owner")
    func nobody() throws {
        let shop = try Shop()
        let refused = try shop.curl(["-H", "NFC-Tap-On-Behalf-Of: bar-1", "http://localhost/v1/status"])
        #expect(try code(refused) == "auth.delegation_refused")
    }
}
