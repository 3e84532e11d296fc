// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@Suite("Payments that a backend orders", .serialized)
struct RemoteTests {
    @Test("B3: a backend's payment is told once, though line and bridge are gone when the card comes")
    func wholeWay() throws {
        let shop = try RemoteShop()
        let refused = try shop.order(100, on: "counter")
        try shop.reaches(refused, "order.lane")
        #expect(try shop.found(refused) == nil)

        let order = try shop.order(1_250)
        try shop.reaches(order, "armed")
        shop.cutLine()
        shop.killBridge()
        try shop.shop.card("present visa")
        try shop.shop.eventually("the approval") { try shop.found(order)?["state"] as? String == "approved" }
        try shop.shop.card("remove")
        try shop.startBridge()
        try shop.openLine()
        try shop.reaches(order, "approved")
        #expect(try shop.told(order) == ["armed", "approved"])

        let other = try shop.order(700)
        try shop.reaches(other, "armed")
        _ = try shop.backend("/orders/\(other)/cancel", post: "{}")
        try shop.reaches(other, "cancelled")
        #expect(try shop.shop.ledgerEntries().count == 1)
        let log = try String(contentsOf: shop.shop.folder.appending(path: "nfc-tap-remote.err"), encoding: .utf8)
        #expect(log.contains("order taken") && !log.contains(order))
    }
}
