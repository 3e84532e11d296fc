// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@Suite("nfc-tap prepare") struct PrepareCommandTests {
    @Test("Requirement 12: the command waits until the lanes are ready, and says by what reader")
    func prepared() throws {
        let shop = try Shop()
        let result = try Program.tap.run(["prepare", "--socket", shop.posSocket], in: shop.folder)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("main: ") && result.output.contains("ready, nfc-tap virtual reader"))
        let again = try Program.tap.run(
            ["prepare", "--lane", "main", "--json", "--socket", shop.posSocket], in: shop.folder)
        let answer = try JSONSerialization.jsonObject(with: Data(again.output.utf8)) as? [String: Any]
        #expect(answer?["outcome"] as? String == "stillPrepared")
        #expect((answer?["lane"] as? [String: Any])?["state"] as? String == "ready")
    }

    @Test("Requirement 14: what keeps a lane from being ready is said with what to do, and ends the command with 13")
    func refused() throws {
        let shop = try Shop()
        try shop.awaitReader()
        try shop.card("detach")
        try shop.eventually("a lane without reader") {
            let lane = try shop.get("/v1/lanes/main")
            // A lane that nobody taps on learns of it when it is asked for.
            _ = try shop.pay("1.00 EUR", ["--deadline", "1"])
            return lane["state"] as? String == "detached"
        }
        let result = try Program.tap.run(["prepare", "--socket", shop.posSocket], in: shop.folder)
        #expect(result.status == 13)
        #expect(result.errors.contains("reader.detached") && result.errors.contains("hint"))
        #expect(
            try Program.tap.run(["prepare", "--lane", "far", "--socket", shop.posSocket], in: shop.folder).status != 0)
    }
}
