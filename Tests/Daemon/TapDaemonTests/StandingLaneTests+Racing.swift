// SPDX-License-Identifier: Apache-2.0
import Configuration
import Glibc
import Journal
import LocalHTTP
import POSAPI
import PaymentValues
import TestSupport
import Testing

@testable import TapDaemon

/// Wishes that come in the same moment. A journal that stands still for a while lets each of them look before any of them writes.
extension StandingLaneTests {
    private func stopped(_ shop: Shop, milliseconds: UInt32, _ body: () async throws -> Void) async throws {
        let journal = await shop.daemon.runner.journal
        async let pause: Void = journal.use { (_) throws(JournalError) in _ = usleep(milliseconds * 1_000) }
        try await Task.sleep(for: .milliseconds(20))
        try await body()
        try await pause
    }

    @Test(
        "L18: of two machines that claim in the same moment one has it, and the other one is told that it has nothing",
        arguments: [StandingMode.sale, .hold, .ask])
    func twoClaims(mode: StandingMode) async throws {
        try await shop(mode) { shop in
            let session = try await tap(shop, 1)
            var answers: [(status: Int, session: Session?)] = []
            try await stopped(shop, milliseconds: 400) {
                async let first = call(shop, session, "claim", #"{"reference":"PLUG-1"}"#)
                async let second = call(shop, session, "claim", #"{"reference":"PLUG-2"}"#)
                async let again = call(shop, session, "claim", #"{"reference":"PLUG-1"}"#)
                answers = try await [first, second, again]
            }
            let owner = try #require(try await sessions(shop).first?.reference)
            #expect(answers.map(\.status) == (owner == "PLUG-1" ? [200, 409, 200] : [409, 200, 409]))
            let trail = "SELECT count(*) FROM audit WHERE kind = 'session' AND detail LIKE 'claimed %'"
            #expect(try shop.journal(trail) == "1")
        }
    }

    @Test("L19: a hold that was kept stays, although its time was over while another one was given back")
    func keptInTime() async throws {
        try await shop(.hold, { $0.openSessions = 5 }) { shop in
            var held: [Session] = []
            for number in 1...5 {
                let session = try await tap(shop, Int64(number))
                #expect(try await call(shop, session, "claim", #"{"reference":"TOK\#(number)"}"#).status == 200)
                held.append(session)
            }
            for session in held { #expect(try await call(shop, session, "keep", #"{"seconds":1}"#).status == 200) }
            var kept: [Session] = []
            // Their time is over while nothing can be written.
            try await stopped(shop, milliseconds: 2_500) {
                try await Task.sleep(for: .milliseconds(2_000))
                let sessions = held
                kept = try await withThrowingTaskGroup(of: Session?.self) { group in
                    for session in sessions {
                        group.addTask {
                            let answer = try await self.call(shop, session, "keep", #"{"seconds":600}"#)
                            #expect(answer.status == 200 || answer.status == 410)
                            return answer.status == 200 ? session : nil
                        }
                    }
                    return try await group.reduce(into: []) { if let session = $1 { $0.append(session) } }
                }
            }
            #expect(kept.count >= 4)
            try await Task.sleep(for: .seconds(2))
            let open = Set(try await sessions(shop, "?open=true").map(\.id))
            #expect(open == Set(kept.map(\.id)))
        }
    }

    @Test("L20: a lane that one machine switches off stays off while another one changes its price")
    func twoWishes() async throws {
        try await shop(.hold) { shop in
            _ = try await armed(shop)
            try await stopped(shop, milliseconds: 400) {
                async let off: Void = set(shop, #"{"armed":false}"#)
                async let price: Void = set(shop, #"{"amount":3000}"#)
                _ = try await (off, price)
            }
            let lane = try await armed(shop)
            #expect(!lane.armed && lane.amount?.value == 3_000)
            let written = try await shop.daemon.runner.journal.use { (journal) throws(JournalError) in
                try journal.standing("lane-0")
            }
            #expect(!written.isArmed && written.value == 3_000)
        }
    }

    @Test("L21: what is wished while another wish is undecided is told to wait; the same wish again is the same")
    func undecided() async throws {
        try await shop(.hold) { shop in
            let session = try await tap(shop, 1)
            #expect(try await call(shop, session, "claim", #"{"reference":"TOK001"}"#).status == 200)
            // The sandbox never decides about a sum that ends in 98.
            let path = "/v1/sessions/\(session.id)/increase"
            async let first = shop.post(to: path, #"{"total":4098}"#)
            try await eventually("the increase") {
                try shop.journal("SELECT count(*) FROM operation WHERE state = 'sent'") == "1"
            }
            async let again = shop.post(to: path, #"{"total":4098}"#)
            let other = try await shop.post(to: path, #"{"total":3500}"#)
            #expect(other.status == 409)
            #expect(try WireJSON.decode(ErrorBody.self, from: other.body).error.code == "operation.pending")
            #expect(try await [first.status, again.status] == [200, 200])
            #expect(try shop.journal("SELECT count(*) FROM operation") == "1")
        }
    }
}
