// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import POSAPI
import PSPSandbox
import PaymentValues
import Profile
import ReaderVirtual
import TestSupport
import Testing

@testable import TapDaemon

@Suite("What proves contact with the payment service", .timeLimit(.minutes(5)))
struct ContactTests {
    private let service = PaymentService()

    private func refusal(_ shop: Shop) async throws -> String? {
        let answer = try await shop.get("/v1/queue")
        return try WireJSON.decode(QueueStatus.self, from: answer.body).refusal?.code
    }

    /// The adapter is asked for its health at the start, and then not for an hour.
    private var wish: Shop.Wish {
        var wish = Shop.Wish()
        wish.healthInterval = .seconds(3_600)
        wish.profile = service.settings()
        return wish
    }

    @Test("F3 a profile that comes into force after the first contact does not keep the shop from storing")
    func afterProfile() async throws {
        try await Shop.withSandbox(wish) { shop, sandbox in
            try await eventually("the first contact") { shop.daemon.health.state.state == .up }
            await service.serve(try service.json(), at: sandbox)
            _ = await shop.profiles.refresh()
            #expect(shop.profiles.current?.serviceName != nil)
            try await eventually("contact with the profile's payment service") {
                try await refusal(shop) == nil
            }
        }
    }

    @Test("F3 without any contact the reason is that there was none, and an approved sale is contact")
    func approvedSale() async throws {
        let folder = try TestFolder()
        var wish = wish
        wish.profile = nil
        wish.offline = try StoreAndForwardTests.wish().offline
        // It works, and does not say that it has reached the payment service.
        let health = #"{"status":"degraded","protocolVersions":["v1"],"supports":["sale"]}"#
        try await withAdapter(in: folder, health: health) { _ in
            .text(200, #"{"outcome":"approved"}"#)
        } _: { _ in
            try await Shop.open(in: folder, wish) { shop in
                #expect(try await refusal(shop) == "offline.not_contacted")
                try shop.reader.obey("present visa")
                #expect(try await shop.post(purchase(1_200), wait: 60).transaction().state == .approved)
                try await eventually("contact") { try await refusal(shop) == nil }
            }
        }
    }

    @Test("A4 a payment service that says another day makes the clock unbelievable")
    func serviceTime() async throws {
        let folder = try TestFolder()
        let other = Timestamp.now.advanced(bySeconds: 3 * 86_400)
        let health = #"{"status":"ok","protocolVersions":["v1"],"supports":["sale"],"serviceTime":"\#(other)"}"#
        try await withAdapter(in: folder, health: health) { _ in
            .text(404, "{}")
        } _: { _ in
            try await Shop.open(in: folder) { shop in
                try await eventually("doubt") { shop.daemon.clock.doubt == .contradicted }
                let status = try WireJSON.decode(Status.self, from: try await shop.get("/v1/status").body)
                #expect(status.clock == ClockStatus(doubt: .contradicted))
                #expect(try await shop.get("/metrics").text.contains("nfc_tap_clock_believed 0\n"))
            }
        }
    }

    @Test("D2: after a payment that met no adapter nobody is told that the adapter is up")
    func stopped() async throws {
        let folder = try TestFolder()
        var wish = wish
        wish.profile = nil
        try await Shop.open(in: folder, wish) { shop in
            try await withAdapter(in: folder) { _ in
                .text(200, #"{"outcome":"approved"}"#)
            } _: { _ in
                try await eventually("the adapter") { shop.daemon.health.state.state == .up }
            }
            // It has stopped, and is asked for its health in an hour.
            #expect(shop.daemon.health.state.state == .up)
            try shop.reader.obey("present visa")
            #expect(try await shop.post(purchase(500), wait: 60).transaction().error?.code == "psp.unreachable")
            try await eventually("what the payment has found out") { shop.daemon.health.state.state == .down }
        }
    }
}
