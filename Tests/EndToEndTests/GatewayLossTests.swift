// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// Sales through a gateway that dies, and many at once.
@Suite("A gateway that dies, and many tills", .timeLimit(.minutes(8)))
struct GatewayLossTests {
    /// The daemon's own word on an order.
    private func state(_ order: String, _ place: GatewayShop) throws -> String? {
        let list = try place.shop.get("/v1/transactions?order=\(order)")["transactions"] as? [[String: Any]]
        return list?.first?["state"] as? String
    }

    @Test("Killed in each state of a sale, the gateway loses nothing: the same request again tells the truth once")
    func killed() throws {
        let place = try GatewayShop()
        let token = try place.pair("bar-1")
        var sales = 3
        // The card is not there yet: armed. Then one that is never answered: sent or in doubt. Then an approval.
        for (number, states) in [["armed"], ["sent", "unknown", "reversing"], ["approved"]].enumerated() {
            let (order, key) = ("kill-\(number)", "kill-\(number)/1")
            let value = number == 1 ? 1_298 : 1_250
            let begun = try place.call(
                "POST", "/v1/transactions", token: token, key: key, body: GatewayShop.sale(value, order: order))
            #expect(begun.status == 201, "\(begun.text)")
            try place.shop.eventually(states.joined(separator: " or ")) {
                try self.state(order, place).map(states.contains) ?? false
            }
            let died = ContinuousClock.now
            place.stop(SIGKILL)
            try place.start()
            // The till is back before the daemon has given it up: its sale goes on.
            if number == 0 { try place.present("visa") }
            let again = try place.sell(token, value, order: order, key: key)
            #expect(again.id == begun.id && again.fields["idempotency-replayed"] == "true", "\(again.text)")
            if number == 0, again.state == "cancelled", died.duration(to: .now) > .seconds(2) {
                // A machine so busy that a gateway is not back within the daemon's two seconds: nobody is charged.
                sales -= 1
                continue
            }
            let ends = [["approved"], ["reversed", "declined", "reversing"], ["approved"]]
            #expect(again.state.map(ends[number].contains) == true, "\(number): \(again.text)")
        }
        // Each sale reached the payment service once.
        #expect(try place.shop.ledgerEntries().count == sales)
    }

    @Test("A till that goes away while no card is there leaves no reader waiting")
    func gone() throws {
        let place = try GatewayShop()
        let token = try place.pair("bar-1")
        let begun = try place.call(
            "POST", "/v1/transactions", token: token, key: "gone", body: GatewayShop.sale(1_250, order: "gone"))
        #expect(begun.status == 201)
        // Twenty seconds for a page that loads anew, two more at the daemon.
        try place.shop.eventually("cancelled") { try self.state("gone", place) == "cancelled" }
    }

    @Test("Fifty tills at once: every sale is its till's own, none is lost and none is charged twice")
    func fifty() throws {
        let lanes = (1..<10).map { "lane-\($0)" }
        let place = try GatewayShop(lanes: lanes)
        let all = ["main"] + lanes
        for lane in all { try place.present("visa", on: lane) }
        var tills: [[String: String]] = []
        for number in 0..<50 {
            let (name, lane) = ("till-\(number)", all[number % all.count])
            let token = try place.pair(name, ["--lane", lane, "--role", "cashier"])
            tills.append(["till": name, "lane": lane, "token": token])
        }
        let file = place.shop.folder.appending(path: "tills-at-once.json")
        try JSONSerialization.data(withJSONObject: tills).write(to: file)
        let result = try Peer.run(
            "/usr/bin/python3", [TillShop.file("many-tills.py"), "\(place.port)", file.path, "2"])
        #expect(result.status == 0, "\(result.errors)")
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 100 && lines.allSatisfy { $0.hasSuffix(" approved") }, "\(result.output)")
        let ids = Set(lines.compactMap { $0.split(separator: " ").first })
        #expect(ids.count == 100)
        let booked = try place.shop.ledgerEntries()
        #expect(booked.count == 100)
        for line in lines {
            let words = line.split(separator: " ").map(String.init)
            let known = try place.shop.get("/v1/transactions/\(words[0])")
            #expect(known["till"] as? String == words[1] && known["state"] as? String == "approved", "\(line)")
            #expect((known["amount"] as? [String: Any])?["value"] as? Int == Int(words[2]), "\(line)")
        }
    }
}
