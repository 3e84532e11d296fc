// SPDX-License-Identifier: Apache-2.0
import Configuration
import Envelope
import Foundation
import LocalHTTP
import POSAPI
import PaymentValues
import ReaderVirtual
import TestSupport
import Testing

@testable import TapDaemon

/// Rule R1: a question belongs to the payment service that was asked, and no other one is ever asked it.
@Suite("The payment service that was asked", .timeLimit(.minutes(5)))
struct OtherServiceTests {
    private static let gone = #"{"status":"done"}"#

    private func wish(_ socket: String, _ former: ConfigurationFile.FormerService? = nil) -> Shop.Wish {
        var wish = Shop.Wish.hasty
        wish.adapterSocket = socket
        if let former { wish.formerServices = [Terminal.test.recipient.keyID: former] }
        return wish
    }

    /// A sale that A has booked, and whose answer never came; the daemon stops without having taken it back.
    private func doubt(in folder: TestFolder) async throws -> TransactionID {
        var id: TransactionID?
        try await withAdapter(in: folder, at: "a.sock") { _ in
            .text(500, "{}")
        } _: { _ in
            try await Shop.open(in: folder, wish("a.sock")) { shop in
                try shop.reader.obey("present visa")
                let body = purchase(500, order: "A-1", more: #","detached":true"#)
                id = try await shop.post(body, wait: 20).transaction().id
                _ = try await shop.reach([.reversing], try #require(id))
            }
        }
        return try #require(id)
    }

    private func items(_ shop: Shop) async throws -> OpenItemList {
        try WireJSON.decode(OpenItemList.self, from: try await shop.get("/v1/open-items").body)
    }

    @Test(
        "A2: after a restart to B, which never saw it, a sale in doubt at A is not asked of B, and ends with A's proof")
    func restarted() async throws {
        let folder = try TestFolder()
        let id = try await doubt(in: folder)
        try await withAdapter(in: folder, at: "b.sock") { _ in
            .text(404, "{}")
        } _: { other in
            try await Shop.open(in: folder, wish("b.sock")) { shop in
                let item = try await eventually("an open item") { try await items(shop).items.first }
                #expect(item.transaction == id && item.reason == .otherService && item.state == .reversing)
                #expect(item.amount.value == 500 && item.order == "A-1" && item.card?.last4 == "0010")
                #expect(item.service?.socket == folder.path + "/a.sock")
                #expect(item.error.code == "open_item.other_service")
                let status = try WireJSON.decode(Status.self, from: try await shop.get("/v1/status").body)
                #expect(status.openItems?.count == 1 && status.openItems?.oldest == item.since)
                #expect(await shop.daemon.summary().hasSuffix(", 1 open item"))
                let metrics = try Scrape(try await shop.get("/metrics").text).values
                #expect(metrics["nfc_tap_open_items"] == 1)
                #expect(other.requests.isEmpty, "B was asked about what belongs to A")
                // The order is not free meanwhile.
                #expect(try await shop.post(purchase(500, order: "A-1")).error().code == "order.unresolved")
                // A is back, and an administrator says where: it ends with its proof.
                try await withAdapter(in: folder, at: "a.sock") { _ in
                    .text(200, Self.gone)
                } _: { asked in
                    let error = await shop.daemon.reload { before in
                        var new = before
                        new.formerServices = [
                            Terminal.test.recipient.keyID: .init(socket: folder.path + "/a.sock")
                        ]
                        return new
                    }
                    #expect(error == nil)
                    _ = try await shop.reach([.reversed], id)
                    #expect(asked.requests.map(\.path.last) == ["reversals"])
                }
                #expect(try await items(shop) == OpenItemList(count: 0, items: []))
                #expect(other.requests.isEmpty, "B was asked about what belongs to A")
            }
        }
    }

    @Test(
        "A2: a former service that is configured at the start is asked at once, in live mode too",
        arguments: [Mode.test, .live])
    func configured(mode: Mode) async throws {
        let folder = try TestFolder()
        let id = try await doubt(in: folder)
        try await withAdapter(in: folder, at: "a.sock") { _ in
            .text(200, Self.gone)
        } _: { asked in
            var wish = wish("b.sock", .init(socket: folder.path + "/a.sock"))
            if mode == .live {
                wish.mode = .live
                wish.profile = PaymentService().settings()
                wish.awaitsLanes = false
            }
            try await Shop.open(in: folder, wish) { shop in
                _ = try await shop.reach([.reversed], id)
                #expect(asked.requests.map(\.path.last) == ["reversals"])
            }
        }
    }

    @Test("A2: after a reload to B, what is open at A goes on being asked of A alone")
    func reloaded() async throws {
        let folder = try TestFolder()
        try await withAdapter(in: folder, at: "a.sock") { request in
            // It books, and its answer is lost; it comes to itself after some attempts.
            guard request.path.last == "reversals" else { return .text(500, "{}") }
            return request.earlier(.post, "reversals") < 3 ? .text(503, "{}") : .text(200, Self.gone)
        } _: { asked in
            try await withAdapter(in: folder, at: "b.sock") { _ in
                .text(404, "{}")
            } _: { other in
                try await Shop.open(in: folder, wish("a.sock")) { shop in
                    try shop.reader.obey("present visa")
                    let body = purchase(500, more: #","detached":true"#)
                    let id = try await shop.post(body).transaction().id
                    _ = try await eventually("a question") { asked.requests.isEmpty ? nil : true }
                    let error = await shop.daemon.reload { before in
                        var new = before
                        new.adapter.socket = folder.path + "/b.sock"
                        return new
                    }
                    #expect(error == nil)
                    _ = try await shop.reach([.reversed], id)
                    #expect(asked.requests.count { $0.path.last == "reversals" } == 4)
                    #expect(other.requests.isEmpty, "B was asked about what belongs to A")
                }
            }
        }
    }
}
