// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import POSAPI
import PSPSandbox
import PaymentValues
import ReaderVirtual
import Testing

@testable import TapDaemon

@Suite(
    "Acceptance test 3 (requirement 50): a card that comes while its transaction is cancelled", .timeLimit(.minutes(10))
)
struct CancelRaceTests {
    @Test("Either it is cancelled and nobody is charged, or it is too late and the payment has one end")
    func cardWhileCancelling() async throws {
        try await Shop.withSandbox { shop, sandbox in
            var charged = 0
            for round in 0..<40 {
                let connection = try await shop.client.connect()
                let id = try await shop.post(purchase(700, order: "R-\(round)"), over: connection).transaction().id
                _ = try await shop.reach([.armed], id)
                async let card = shop.reader.obey("present visa")
                // Another number of yields every round: the cancel comes before, with and after the card.
                for _ in 0..<(round * 7) { await Task.yield() }
                let answer = try await shop.delete("/v1/transactions/\(id)").cancel()
                _ = try await card
                let end = try await shop.reach([.cancelled, .approved, .reversed], id)
                switch answer.outcome {
                case .cancelled:
                    #expect(end.state == .cancelled)
                case .tooLate where answer.becomesReversal == true:
                    #expect(end.state == .reversed && end.result?.reason == .cancelledAfterSending)
                case .tooLate, .nothingToCancel:
                    #expect(end.state == .approved)
                    charged += 1
                }
                try shop.reader.obey("remove")
            }
            let standing = await sandbox.ledger.transactions.count { $0.outstanding > 0 }
            #expect(standing == charged, "what stands at the adapter is what the shop saw approved")
            #expect(await shop.runner.laneStatuses().first?.holder == nil)
        }
    }

    @Test("A cancel in `unknown` answers that it is too late, and takes back what turns out to be approved")
    func unknown() async throws {
        let folder = try TestFolder()
        let sealed = OneShot()
        try await withAdapter(in: folder) { seen in
            if seen.path.last == "reversals" { return .text(200, #"{"status":"done"}"#) }
            if seen.method == .post { return .text(500, "{}") }
            return sealed.hasFired ? .text(200, #"{"outcome":"approved"}"#) : .text(500, "{}")
        } _: { adapter in
            try await Shop.open(in: folder) { shop in
                try shop.reader.obey("present visa")
                let connection = try await shop.client.connect()
                let id = try await shop.post(purchase(700), over: connection).transaction().id
                _ = try await shop.reach([.unknown], id)
                let answer = try await shop.delete("/v1/transactions/\(id)").cancel()
                #expect(answer.outcome == .tooLate && answer.phase == .unknown && answer.becomesReversal == true)
                sealed.fire()
                let end = try await shop.reach([.reversed], id)
                #expect(end.result?.outcome == .declined)
                #expect(adapter.requests.contains { $0.path.last == "reversals" && $0.key == id.text })
            }
        }
    }
}
