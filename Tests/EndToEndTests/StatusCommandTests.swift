// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// `nfc-tap status` of a daemon whose queue can be read, and of one whose queue cannot.
struct StatusCommandTests {
    @Test("What is stored is a number where it is known; where it is not, the status says so and never 0")
    func queue() throws {
        let shop = try Shop(startsSandbox: false)
        func status() throws -> String {
            try Program.tap.run(["status", "--socket", shop.posSocket], in: shop.folder).output
        }
        #expect(try status().contains("queue    0 stored, 0 reversals open\n"))

        try Peer.alter(
            shop.folder.appending(path: "state/journal.sqlite").path, "ALTER TABLE queue_record RENAME TO gone")

        let after = try status()
        #expect(after.contains("queue    stored payments not known, 0 reversals open\n"))
        #expect(after.contains("queue not readable: Unreadable or unwritable journal: Check"))
        #expect(!after.contains("0 stored"))
        let json = try Program.tap.run(["status", "--json", "--socket", shop.posSocket], in: shop.folder).output
        let queue = try #require(
            (JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])?["queue"] as? [String: Any])
        #expect(queue["stored"] == nil && (queue["error"] as? [String: Any])?["code"] as? String == "storage.failed")
    }
}
