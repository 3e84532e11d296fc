// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@Suite("nfc-tap queue and decline", .timeLimit(.minutes(10)))
struct QueueCommandTests {
    @Test("Acceptance test 4: what is stored is listed, forwarded once the payment service is back, and then gone")
    func flushed() throws {
        let shop = try Shop.storing()
        #expect(try shop.tap("queue").output.contains("nothing is stored"))
        let stored = try shop.store()
        #expect(stored.status == 0 && stored.state == "stored")
        let listed = try shop.tap("queue list")
        #expect(listed.status == 0 && listed.output.hasPrefix("1 stored, 5.00 EUR"), "\(listed.output)")
        #expect(listed.output.contains("0010") && !listed.output.contains("OVERDUE"))
        #expect(try shop.json("queue list")["count"] as? Int == 1)
        #expect(try shop.tap("status").output.contains("1 stored"))
        #expect(try shop.tap("queue flush").output.hasPrefix("1 stored"))
        try shop.startSandbox()
        #expect(try shop.tap("queue flush").status == 0)
        try shop.eventually("an empty queue") { try shop.json("queue list")["count"] as? Int == 0 }
        #expect(try shop.ledgerEntries().map { $0["offline"] as? Bool } == [true])
    }

    @Test func `behind a proxy that reaches nobody a payment is stored, and forwarded once when it does`() throws {
        let shop = try Shop.storing()
        let service = shop.folder.appending(path: "service.sock").path
        let proxy = Process()
        proxy.executableURL = URL(filePath: "/usr/sbin/haproxy")
        proxy.arguments = ["-db", "-f", Checkout.file("docs/examples/haproxy-adapter.cfg").path]
        proxy.environment = ["PSP_SOCKET": shop.pspSocket, "PAYMENT_SERVICE": "unix@\(service)"]
        (proxy.standardOutput, proxy.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try proxy.run()
        shop.keep(proxy)
        try shop.eventually("a proxy that has noticed") {
            (try? shop.curl(["http://localhost/v1/health"], socket: shop.pspSocket))?.contains("no_upstream") == true
        }
        let stored = try shop.store()
        #expect(stored.status == 0 && stored.state == "stored", "\(stored.errors)")
        // A card that wants its bank asked cannot be stored, and nothing is in doubt.
        try shop.card("present visa")
        let asked = try shop.pay("5.00 EUR")
        #expect(asked.state == "declined" && asked.errorCode == "offline.card_asks_online", "\(asked.transaction)")
        try shop.card("remove")
        shop.keep(try Program.sandbox.launch(["--sandbox", "--socket", service], in: shop.folder))
        try shop.eventually("an empty queue") {
            _ = try shop.tap("queue flush")
            return try shop.json("queue list")["count"] as? Int == 0
        }
        #expect(try shop.ledgerEntries().map { $0["offline"] as? Bool } == [true])
    }

    @Test("Acceptance test 9: a batch goes to the payment service by hand, and against its receipt only")
    func batch() throws {
        let shop = try Shop.storing()
        let none = try shop.tap("queue batch")
        #expect(none.status == 13 && none.errors.contains("queue.empty"))
        #expect(try shop.tap("queue export").status == 13)
        for _ in 0..<3 { #expect(try shop.store().state == "stored") }
        let opened = try shop.tap("queue batch --size 2")
        #expect(opened.status == 0 && opened.output.contains("with 2 payments"))
        #expect(try shop.tap("queue batch").errors.contains("queue.batch_open"))
        #expect(try shop.tap("queue list").output.contains("in a batch"))
        #expect(try shop.tap("queue reset").output.hasPrefix("3 left"))
        #expect(try shop.json("queue batch --size 2")["count"] as? Int == 2)
        let exported = try shop.tap("queue export")
        let made = try shop.tap("queue resolve made.up.token")
        #expect(made.status == 13 && made.errors.contains("queue.token_invalid"))
        let token = try shop.deliver(exported.output)
        #expect(try shop.tap("queue resolve \(token)").output.hasPrefix("1 left"))
        #expect(try shop.tap("queue resolve \(token)").errors.contains("no batch is open"))
    }

    @Test("Acceptance test 9: a stored payment is declined within its minute, once, and never sent")
    func declined() throws {
        let shop = try Shop.storing()
        let id = try #require(try shop.store().transaction["id"] as? String)
        let declined = try shop.tap("decline \(id)")
        #expect(declined.status == 0 && declined.output.hasPrefix("DECLINED"), "\(declined.errors)")
        let again = try shop.tap("decline \(id)")
        #expect(again.status == 13 && again.errors.contains("queue.not_stored"))
        #expect(try shop.tap("queue").output.contains("nothing is stored"))
        let other = try #require(try shop.store().transaction["id"] as? String)
        #expect(try shop.tap("queue batch").status == 0)
        #expect(try shop.tap("decline \(other)").errors.contains("queue.in_batch"))
        #expect(try shop.tap("reverse \(other)").errors.contains("queue.stored"))
    }
}
