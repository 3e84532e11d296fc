// SPDX-License-Identifier: Apache-2.0
import CardSim
import Foundation
import PSPAPI
import PaymentValues
import ReaderVirtual
import TestSupport
import Testing

@testable import rig_tills

/// The switch before `nfc-tap-acquirer-sim`, which verifies cryptograms and keeps a book by rules of its own (docs/service/acquirer-simulator.md).
@Suite(.serialized, .timeLimit(.minutes(15)))
struct HostTests {
    /// One line of the simulator's book.
    private struct Line: Decodable {
        let event: String
        let code: String?
        let cryptogram: String?
        let amount: Int64?
        let booked: Int64?
        let remains: Int64?
        let isInBalance: Bool?
    }

    private func book(_ rig: SwitchRig) throws -> [Line] {
        try String(contentsOf: rig.book, encoding: .utf8).split(separator: "\n").map {
            try JSONDecoder().decode(Line.self, from: Data($0.utf8))
        }.filter { $0.event != "network" }
    }

    /// With a card of its own, whose counter goes on.
    private func till(_ rig: SwitchRig, account: UInt32 = 1) throws -> TestTill {
        var till = TestTill(rig.sockets[0])
        let reader = try VirtualReaderControl(name: "till") { _ in nil }
        try reader.present(CardCatalogue.visa(account: account), named: "visa")
        till.reader = reader
        return till
    }

    private func approved(_ till: TestTill, _ value: Int64, _ type: AuthorizationRequest.Kind = .sale) async throws
        -> TransactionID
    {
        let request = try await till.sale(value, type)
        let answer = try #require(try await till.post(request).answer)
        #expect(answer.outcome == .approved, "\(value): \(answer)")
        // Of the issuer's cryptogram, which only a verified request gets.
        #expect(answer.issuerData?.authenticationData != nil)
        return request.id
    }

    @Test func `a day of sales, holds, captures, releases, refunds and reversals is the same in both books`()
        async throws
    {
        try await SwitchRig.run(replicas: 1, hasSimulator: true) { rig in
            let till = try till(rig)
            let sale = try await approved(till, 1_200)
            let declined = try #require(try await till.post(try await till.sale(1_251)).answer)
            #expect(declined.outcome == .declined && declined.responseCode == "51")
            #expect(try await till.refund(500, of: sale) == .approved)
            let part = try #require(try await till.post(try await till.sale(1_010)).answer)
            #expect(part.outcome == .partial && part.amountApproved?.value == 505)
            let whole = try await approved(till, 3_000, .preauth)
            #expect(try await till.capture(3_000, of: whole, final: true) == .approved)
            let twice = try await approved(till, 4_000, .preauth)
            #expect(try await till.capture(1_000, of: twice, final: false) == .approved)
            #expect(try await till.capture(1_500, of: twice, final: true) == .approved)
            let given = try await approved(till, 2_000, .preauth)
            #expect(try await till.release(2_000, of: given) == .approved)
            let cancelled = try await till.sale(700)
            #expect(try await till.pay(cancelled, cancels: true) == .reversed)
            try await eventually("the end of the reversal") {
                try rig.server.sql("select state from payment where id = '\(cancelled.id)'").hasPrefix("reversed")
            }
            let lines = try book(rig)
            let asked = lines.filter { ["sale", "authorization"].contains($0.event) && $0.cryptogram != nil }
            #expect(asked.count == 7 && asked.allSatisfy { $0.cryptogram == "verified" }, "\(lines)")
            #expect(lines.filter { $0.event == "reversal" }.map(\.remains) == [0, 0])
            // Debits 1200, 505, 3000, 1000, 1500, 700; of them 700 taken back; credit 500.
            let sums = try rig.server.sql("select sum(amount) from entry where account = 'shop'")
            #expect(sums == "6705\n")
            #expect(try rig.run(["close-day", "--database", rig.server.address]))
            try await eventually("the acquirer's word on the day") {
                try rig.server.sql("select count(*) from day_end where balance = 'inBalance'").hasPrefix("1")
            }
            #expect(try book(rig).last?.isInBalance == true)
            try CardNumbers.areNowhere(in: [rig.folder, rig.server.folder])
        }
    }

    @Test func `a cryptogram that comes again, and a refund by card, are seen by the issuer as what they are`()
        async throws
    {
        try await SwitchRig.run(replicas: 1, hasSimulator: true) { rig in
            // Two cards of one account: the second one's counter stands where the first one's was.
            _ = try await approved(try till(rig), 1_000)
            let copy = try #require(try await till(rig).post(try await till(rig).sale(1_100)).answer)
            // 94 is doubtful to the switch: it takes back what the host may have booked, and declines.
            #expect(copy.outcome == .declined, "\(copy)")
            #expect(try book(rig).contains { $0.cryptogram == "replayed" && $0.code == "94" })
        }
    }

    /// GET /metrics and GET / of the desk: what operators are told agrees with what was paid, and holds no card.
    @Test func `metrics and page of the desk tell of payments, times, sums and open items`() async throws {
        try await SwitchRig.run(replicas: 1, hasSimulator: true) { rig in
            let till = try till(rig)
            _ = try await approved(till, 1_200)
            _ = try await till.post(try await till.sale(1_251))
            // S17: that its cryptogram pays once is written down with each payment.
            #expect(try rig.server.sql("select count(distinct cryptogram) from payment") == "2\n")
            let metrics = try await till.text(rig.desks[0], "/metrics")
            #expect(metrics.contains("nfc_tap_switch_payments_total{outcome=\"approved\"} 1\n"))
            #expect(metrics.contains("nfc_tap_switch_payments_total{outcome=\"declined\"} 1\n"))
            #expect(metrics.contains("nfc_tap_switch_link_up 1\n"))
            #expect(metrics.contains("nfc_tap_switch_ledger_imbalance 0\n"))
            for stage in ["keys", "first_commit", "acquirer", "second_commit"] {
                #expect(metrics.contains("nfc_tap_switch_stage_seconds_count{stage=\"\(stage)\"} 2\n"), "\(stage)")
            }
            let page = try await till.text(rig.desks[0], "/")
            #expect(page.contains("0 open items"))
            #expect(page.contains("<td>adapter-check</td><td>EUR</td><td>1</td><td>1200</td><td>0</td>"))
            #expect(!page.contains("<script"))
            #expect(try await till.status(rig.desks[0], "/v1/keys") == 404)
        }
    }

    /// The reversal overtakes its payment at the host, which says that it knows nothing of it, and approves it then. `acquirer.py` decides such
    /// amounts after three seconds.
    @Test func `what a host approves after it knew nothing of it is taken back again`() async throws {
        try await SwitchRig.run(replicas: 1, faults: ["seconds=3"], answerSeconds: 1) { rig in
            let till = TestTill(rig.sockets[0])
            let sale = try await till.sale(1_090)
            #expect(try await till.pay(sale, cancels: false) == .declined)
            let row =
                "select x.stage || ' ' || p.state || coalesce(x.wanted, '') from exchange x join payment p on p.id = x.id"
            try await eventually("the first end") { try rig.server.sql(row).hasPrefix("reversed reversed") }
            try await eventually("a reversal that the host carries out") {
                try String(contentsOf: rig.book, encoding: .utf8).contains(#/"042[01]".*"code": "00"/#)
            }
            try await eventually("the last end") { try rig.server.sql(row) == "reversed reversed\n" }
            try await PaymentBooksCheck(rig).holds([sale.id.text: .declined])
            #expect(try rig.server.sql("select count(*) from exchange where sealed is not null") == "0\n")
        }
    }

    /// As above, and the replica that was told so dies before the host has decided: its approval comes to nobody.
    @Test("S33: what a host books after its answer to the reversal, while the replica is killed, is taken back again")
    func bookedWhileKilled() async throws {
        try await SwitchRig.run(replicas: 1, faults: ["seconds=8"], answerSeconds: 1) { rig in
            let till = TestTill(rig.sockets[0])
            let sale = try await till.sale(1_090)
            #expect(try await till.pay(sale, cancels: false) == .declined)
            try await eventually("the first end") { try rig.server.sql("select stage from exchange") == "reversed\n" }
            rig.kill(0)
            // The host has not booked it yet.
            #expect(try !String(contentsOf: rig.book, encoding: .utf8).contains(#""type": "0200""#))
            try await eventually("a reversal that the host carries out") {
                try String(contentsOf: rig.book, encoding: .utf8).contains(#/"0420".*"code": "00"/#)
            }
            let row = "select stage || coalesce(' ' || wanted, '') from exchange"
            try await eventually("the last end") { try rig.server.sql(row) == "reversed\n" }
            try await PaymentBooksCheck(rig).holds([sale.id.text: .declined])
        }
    }
}
