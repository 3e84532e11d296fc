// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@Suite("nfc-tap terms") struct TermsCommandTests {
    @Test("Requirement 2: terms are shown and accepted at the shell, away from any sale")
    func accepted() throws {
        let shop = try Shop()
        let show = ["terms", "show", "--socket", shop.posSocket]
        try shop.eventually("the sandbox's terms") {
            try Program.tap.run(show, in: shop.folder).output.contains("version 2026-01")
        }
        #expect(try Program.tap.run(show, in: shop.folder).output.contains("state     notRequired"))
        let accept = ["terms", "accept", "--socket", shop.posSocket]
        let unasked = try Program.tap.run(accept, in: shop.folder)
        #expect(unasked.status == 65 && unasked.errors.contains("--yes"))
        let other = try Program.tap.run(accept + ["--yes", "--hash", "00"], in: shop.folder)
        #expect(other.status == 13 && other.errors.contains("terms.other_version"))
        let first = try Program.tap.run(accept + ["--yes", "--json"], in: shop.folder)
        #expect(first.status == 0, "\(first.errors)")
        let acceptance = try JSONSerialization.jsonObject(with: Data(first.output.utf8)) as? [String: Any]
        #expect(acceptance?["merchant"] as? String == "sandbox-merchant")
        let again = try Program.tap.run(accept + ["--yes"], in: shop.folder)
        #expect(again.status == 13 && again.errors.contains("terms.already_accepted"))
        let status = try Program.tap.run(["status", "--socket", shop.posSocket], in: shop.folder).output
        #expect(status.contains("terms    accepted") && status.contains("for Sandbox Shop, by nfc-tap sandbox"))
    }
}
