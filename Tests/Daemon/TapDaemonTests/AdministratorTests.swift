// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LocalHTTP
import POSAPI
import PSPSandbox
import PaymentValues
import Testing

@testable import TapDaemon

@Suite("Terms are an administrator's", .timeLimit(.minutes(5)))
struct AdministratorTests {
    @Test(
        """
        Acceptance 7 (requirements 3 and 6): a non-administrator cannot accept terms; an administrator does once, for \
        every reader of the merchant
        """,
        .enabled(if: geteuid() == 0, "needs root, to become another user"))
    func administrator() async throws {
        let folder = try TestFolder()
        let service = PaymentService()
        try await withSandbox(in: folder) { sandbox in
            await service.serve(try service.json(), at: sandbox)
            var wish = Shop.Wish()
            wish.access = Access(groups: [.admin: 10, .cashier: 20, .monitor: 40], owner: 500)
            wish.lanes = 2
            wish.mode = .live
            wish.awaitsLanes = false
            wish.profile = service.settings()
            try await Shop.open(in: folder, wish) { shop in
                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o666], ofItemAtPath: folder.path + "/pos.sock")
                _ = await shop.profiles.refresh()
                let terms = try WireJSON.decode(Terms.self, from: try await shop.get("/v1/terms").body)
                let body = #"{"hash":"\#(try #require(terms.hash))"}"#
                #expect(try await refusals(shop) == ["terms.not_accepted", "terms.not_accepted"])
                for groups in ["20", "40"] {
                    let answer = try await curl(folder, groups: groups, accept(body))
                    #expect(answer.status == "403" && answer.body.contains(#""code":"auth.admin_required""#))
                }
                #expect(try await curl(folder, groups: "20", ["http://d/v1/terms"]).status == "200")
                #expect(try shop.journal("SELECT count(*) FROM terms_acceptance") == "0")
                #expect(try await curl(folder, groups: "10", accept(body)).status == "201")
                #expect(try await curl(folder, groups: "10", accept(body)).status == "409")
                // Terms are behind both readers now; that they are virtual ones is the only thing left.
                #expect(try await refusals(shop) == ["live.virtual_reader", "live.virtual_reader"])
            }
        }
    }

    /// What the daemon has against a payment on each of its two lanes.
    private func refusals(_ shop: Shop) async throws -> [String] {
        var codes: [String] = []
        for lane in ["lane-0", "lane-1"] {
            codes.append(try await shop.post(purchase(500, more: #","lane":"\#(lane)""#)).error().code)
        }
        return codes
    }

    private func accept(_ body: String) -> [String] {
        ["-H", "Content-Type: application/json", "-d", body, "http://d/v1/terms/acceptance"]
    }
}
