// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PSPAPI
import PSPSandbox
import PaymentValues
import ReaderVirtual
import TestSupport
import Testing

@testable import TapDaemon

/// Sales whose card wants no PIN and whose issuer does, with its answer. Amounts below 50.00 EUR: no kernel asks for one.
extension PINDeviceTests {
    /// A shop with a device, and a service whose books are looked at when the sale is over.
    private func withIssuer(
        pin: String = "1234", ending: SimulatedPINDevice.Ending = .enter, delay: Duration = .milliseconds(50),
        _ body: (Shop, SimulatedPINDevice, Sandbox) async throws -> Void
    ) async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { sandbox in
            try await withDevice(in: folder, pin: pin, ending: ending, delay: delay) { wish, device in
                try await Shop.open(in: folder, wish) { shop in
                    _ = try await eventually("the adapter's word") {
                        shop.daemon.health.supports?.contains("singleTap") == true
                    }
                    try await body(shop, device, sandbox)
                }
            }
        }
    }

    @Test(
        "An issuer that wants the PIN with its answer gets it with the same read, and one authorisation stands",
        arguments: [(1_065, "mastercard"), (1_070, "visa")])
    func issuerAsks(amount: Int64, card: String) async throws {
        try await withIssuer { shop, device, sandbox in
            let paid = try await sale(shop, amount, card)
            #expect(paid.state == .approved && paid.result?.responseCode == "00", "\(paid)")
            #expect(paid.history.map(\.state) == [.created, .armed, .reading, .sealed, .sent, .approved])
            #expect(paid.chip?.verification == .onlinePIN, "\(String(describing: paid.chip))")
            #expect(await device.count.asked == 1)
            let booked = await sandbox.ledger.transactions
            #expect(booked.count == 1 && booked.first?.state == .approved && booked.first?.money == amount)
            let events = try await shop.events(until: .paymentApproved)
            let asked = try #require(events.first { $0.name == .pinRequested })
            #expect(asked.pin?.cause == .issuer && asked.pin?.device == "pad" && asked.customerText != nil)
            #expect(asked.pin.flatMap(\.timeout).map { (25...30).contains($0) } == true)
            #expect(events.filter { $0.name == .pinCompleted }.map(\.pin?.state) == [.entered])
            #expect(events.contains { $0.name == .paymentDeclined } == false)
            #expect(try shop.journal("SELECT state FROM pin_attempt") == "sent")
            try expectNoPIN(onDiskOf: shop)
            // It can be taken back like any other.
            let reversal = try await shop.post(
                to: "/v1/transactions/\(paid.id)/reversal", #"{"reason":"customerCancel"}"#)
            #expect(reversal.status < 300, "\(reversal.text)")
            _ = try await shop.reach([.reversed], paid.id)
            #expect(await sandbox.ledger.transactions.map(\.outstanding) == [0])
        }
    }

    static let issuerEndings: [(SimulatedPINDevice.Ending, String?, String)] = [
        (.cancel, nil, "cancelled"), (.bypass, nil, "cancelled"), (.fail, "pin.device_failed", "failed"),
    ]

    @Test(
        "Without a PIN the issuer's decline stands, and the till is told of the other interface",
        arguments: issuerEndings)
    func issuerGetsNone(ending: SimulatedPINDevice.Ending, code: String?, attempt: String) async throws {
        try await withIssuer(ending: ending) { shop, device, sandbox in
            let ended = try await sale(shop, 1_070, "visa")
            #expect(ended.state == .declined && ended.error?.code == code, "\(ended)")
            #expect(ended.result?.responseCode == "70" && ended.result?.reason == .otherInterfaceNeeded)
            #expect(ended.result?.next == [.otherInterface, .paymentLink, .otherCard, .otherMethod])
            #expect(try shop.journal("SELECT state FROM pin_attempt") == attempt)
            #expect(await device.count.asked == 1)
            #expect(await sandbox.ledger.transactions.map(\.state) == [.declined])
        }
    }

    @Test("A till that cancels while the issuer waits is told that nothing is charged, and the device stops to ask")
    func issuerAndCancel() async throws {
        try await withIssuer(delay: .seconds(20)) { shop, device, sandbox in
            try shop.reader.obey("present visa")
            let id = try await shop.post(purchase(1_070, more: #","detached":true"#)).transaction().id
            try await eventually("the device asks") { await device.count.waiting == 1 }
            let answer = try await shop.delete("/v1/transactions/\(id.text)").cancel()
            #expect(answer.outcome == .nothingToCancel && answer.transaction.state == .declined)
            try await eventually("the device stops") { await device.count.waiting == 0 }
            #expect(await sandbox.ledger.transactions.map(\.state) == [.declined])
        }
    }

    @Test("R25: a daemon that stops while the issuer waits leaves the issuer's decline, and the device stops to ask")
    func issuerAndStop() async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { sandbox in
            try await withDevice(in: folder, delay: .seconds(20)) { wish, device in
                try await Shop.open(in: folder, wish) { shop in
                    try await adapterIsKnown(shop)
                    try shop.reader.obey("present visa")
                    _ = try await shop.post(purchase(1_070, more: #","detached":true"#))
                    try await eventually("the device asks") { await device.count.waiting == 1 }
                }
                try await eventually("the device stops") { await device.count.waiting == 0 }
                #expect(try sqlite(folder.path + "/state/journal.sqlite", "SELECT state FROM payment") == "declined")
                #expect(await sandbox.ledger.transactions.map(\.state) == [.declined])
            }
        }
    }

    @Test("A wrong PIN may be entered as often as the issuer allows, twice at most")
    func issuerAndWrongPIN() async throws {
        try await withIssuer(pin: "9999") { shop, device, sandbox in
            let declined = try await sale(shop, 1_070, "visa")
            #expect(declined.state == .declined && declined.result?.reason == .wrongPIN, "\(declined)")
            #expect(await device.count.asked == 2)
            #expect(await sandbox.ledger.transactions.map(\.state) == [.declined])
        }
    }

    @Test("An answer to the continuation that is lost is asked for, and one that never comes takes everything back")
    func issuerAndLostAnswers() async throws {
        try await withIssuer { shop, _, sandbox in
            let found = try await sale(shop, 1_071, "visa")
            #expect(found.state == .approved && found.history.map(\.state).contains(.unknown), "\(found)")
            #expect(await sandbox.ledger.transactions.map(\.money) == [1_071])
        }
        try await withIssuer { shop, _, sandbox in
            let lost = try await sale(shop, 1_072, "visa")
            _ = try await shop.reach([.reversed], lost.id)
            #expect(await sandbox.ledger.transactions.map(\.outstanding) == [0])
            #expect(await sandbox.ledger.transactions.map(\.state) == [.reversed])
        }
    }

    @Test("Without a device, or a service that takes it with the same read, the sale ends with the other interface")
    func issuerAsksInVain() async throws {
        try await Shop.withSandbox { shop, sandbox in
            let declined = try await sale(shop, 1_070, "visa")
            #expect(declined.state == .declined && declined.result?.action == .useOtherTerminal)
            #expect(declined.result?.next == [.otherInterface, .paymentLink, .otherCard, .otherMethod])
            #expect(await sandbox.ledger.transactions.count == 1)
        }
        let other = try TestFolder()
        let features = Set(AdapterFeature.allCases).subtracting([.singleTap])
        let plain = Sandbox(key: try TestRecipient.privateKey(), features: features)
        try await serve(plain, in: other) {
            try await withPassage(at: other.path + "/way.sock", to: other.path + "/psp.sock") { passage in
                try await withDevice(in: other) { wish, device in
                    var wish = wish
                    wish.adapterSocket = "way.sock"
                    try await Shop.open(in: other, wish) { shop in
                        let declined = try await sale(shop, 1_070, "visa")
                        #expect(declined.state == .declined && declined.result?.action == .useOtherTerminal)
                        #expect(await device.count.asked == 0)
                        try shop.reader.obey("swap mastercard")
                        let paid = try await shop.post(purchase(6_000), wait: 20).transaction()
                        #expect(paid.state == .approved && paid.chip?.verification == .onlinePIN, "\(paid)")
                    }
                }
                let sent = try passage.exchanges.filter { $0.path.last == "authorizations" }.map {
                    try WireJSON.decode(AuthorizationRequest.self, from: Array($0.request.utf8))
                }
                #expect(sent.map(\.features) == [nil, nil], "who has not said that it can is not told that it may")
            }
        }
    }
}
