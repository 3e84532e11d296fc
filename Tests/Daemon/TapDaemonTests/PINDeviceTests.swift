// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Configuration
import Envelope
import Foundation
import LocalHTTP
import Logging
import PINDevice
import PINDeviceAPI
import POSAPI
import PSPSandbox
import PaymentValues
import ReaderVirtual
import TestSupport
import Testing

@testable import TapDaemon

/// Sales whose card wants an online PIN, with a PIN device in software, a sandbox that opens its blocks, and a daemon between
/// them that sees none.
@Suite("PIN by a device", .timeLimit(.minutes(5)))
struct PINDeviceTests {
    /// A Mastercard test card asks for it above 50.00 EUR, where the terminal has it.
    private let amount: Int64 = 6_000

    func withDevice(
        in folder: TestFolder, keySet: String = "test-aes-dukpt", pin: String = "1234",
        ending: SimulatedPINDevice.Ending = .enter, delay: Duration = .milliseconds(50),
        _ body: (Shop.Wish, SimulatedPINDevice) async throws -> Void
    ) async throws {
        let path = folder.path + "/ped.sock"
        let device = try #require(
            SimulatedPINDevice(
                key: try TestRecipient.privateKey(), keySet: keySet, pin: pin, ending: ending, delay: delay))
        let server = try SimulatedPINDeviceServer(path: path, device: device, logger: Shop.quiet)
        async let end: Void = server.run()
        var wish = Shop.Wish()
        wish.pinDevice = PINDeviceSettings(socket: path, key: .sandboxTest, keySet: keySet)
        var failure: (any Error)?
        do { try await body(wish, device) } catch { failure = error }
        server.shutDown()
        try await end
        if let failure { throw failure }
    }

    /// The daemon has heard what the adapter can do.
    func adapterIsKnown(_ shop: Shop) async throws {
        try await eventually("the adapter's word") { shop.daemon.health.supports?.contains("pin") == true }
    }

    /// No PIN block, no key serial number, no account for the device is on the disk.
    func expectNoPIN(onDiskOf shop: Shop) throws {
        for (file, data) in try filesOnDisk(in: shop.folder.path + "/state") {
            for secret in ["\"block\"", "\"ksn\"", "1234567890123456000", "FFFF98765432"] {
                #expect(data.range(of: Data(secret.utf8)) == nil, "\(secret) in \(file)")
            }
        }
    }

    func sale(_ shop: Shop, _ value: Int64, _ card: String = "mastercard") async throws -> Transaction {
        try await adapterIsKnown(shop)
        try shop.reader.obey("present \(card)")
        return try await shop.post(purchase(value), wait: 20).transaction()
    }

    @Test(
        "A card that wants a PIN is paid with it, in every format, and the till is told what happens and no more",
        arguments: ["test-aes-dukpt", "test-tdes-dukpt"])
    func paid(keySet: String) async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { sandbox in
            try await withDevice(in: folder, keySet: keySet) { wish, device in
                try await Shop.open(in: folder, wish) { shop in
                    let paid = try await sale(shop, amount)
                    #expect(paid.state == .approved, "\(paid)")
                    #expect(
                        paid.history.map(\.state) == [.created, .armed, .reading, .sealed, .sent, .approved])
                    #expect(paid.chip?.verification == .onlinePIN, "\(String(describing: paid.chip))")
                    #expect(await device.count.asked == 1)
                    #expect(await sandbox.ledger.transactions.count == 1)
                    let events = try await shop.events(until: .paymentApproved)
                    let asked = try #require(events.first { $0.name == .pinRequested })
                    #expect(asked.pin?.device == "pad" && asked.pin?.timeout == 30 && asked.customerText != nil)
                    let done = events.filter { $0.name == .pinCompleted }
                    #expect(done.map(\.pin?.state) == [.entered] && done.first?.pin?.timeout == nil)
                    #expect(
                        try shop.journal("SELECT device, format, key_set, state FROM pin_attempt")
                            == "pad|\(keySet == "test-aes-dukpt" ? 4 : 3)|\(keySet)|sent")
                    try expectNoPIN(onDiskOf: shop)
                }
            }
        }
    }

    @Test("A wrong PIN is the issuer's to say, and the sale is declined")
    func wrong() async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { sandbox in
            try await withDevice(in: folder, pin: "9999") { wish, device in
                try await Shop.open(in: folder, wish) { shop in
                    let declined = try await sale(shop, amount)
                    #expect(declined.state == .declined && declined.result?.reason == .wrongPIN, "\(declined)")
                    #expect(declined.result?.responseCode == "75")
                    // Once as the card wanted, and twice as its issuer allowed.
                    #expect(await device.count.asked == 3)
                    #expect(try shop.journal("SELECT group_concat(state) FROM pin_attempt") == "sent,sent,sent")
                    #expect(await sandbox.ledger.transactions.map(\.state) == [.declined])
                }
            }
        }
    }

    @Test("Below the limit, and by a phone that has verified its holder, nobody is asked")
    func notAsked() async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { _ in
            try await withDevice(in: folder) { wish, device in
                try await Shop.open(in: folder, wish) { shop in
                    let small = try await sale(shop, 1_000)
                    #expect(small.state == .approved && small.chip?.verification != .onlinePIN)
                    #expect(await device.count.asked == 0)
                }
            }
        }
    }

    static let endings: [(SimulatedPINDevice.Ending, TransactionState, String?, String)] = [
        (.cancel, .cancelled, nil, "cancelled"), (.bypass, .cancelled, nil, "cancelled"),
        (.fail, .failed, "pin.device_failed", "failed"),
    ]

    @Test("Without a PIN nothing is sent, and the sale ends", arguments: endings)
    func without(
        ending: SimulatedPINDevice.Ending, state: TransactionState, code: String?, attempt: String
    ) async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { sandbox in
            try await withDevice(in: folder, ending: ending) { wish, _ in
                try await Shop.open(in: folder, wish) { shop in
                    let ended = try await sale(shop, amount)
                    #expect(ended.state == state && ended.error?.code == code, "\(ended)")
                    if state == .cancelled { #expect(ended.cancelledBy == .customer) }
                    #expect(await sandbox.ledger.transactions.isEmpty)
                    #expect(try shop.journal("SELECT state FROM pin_attempt") == attempt)
                    #expect(try shop.journal("SELECT count(*) FROM payment WHERE authorization IS NOT NULL") == "0")
                }
            }
        }
    }

    @Test("A till that cancels while the PIN is awaited gets its cancel, and the device stops to ask")
    func cancelled() async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { sandbox in
            try await withDevice(in: folder, delay: .seconds(20)) { wish, device in
                try await Shop.open(in: folder, wish) { shop in
                    try await adapterIsKnown(shop)
                    try shop.reader.obey("present mastercard")
                    let connection = try await shop.client.connect()
                    let id = try await shop.post(purchase(amount), over: connection).transaction().id
                    _ = try await shop.reach([.sealed], id)
                    try await eventually("the device asks") { await device.count.waiting == 1 }
                    let answer = try await shop.delete("/v1/transactions/\(id.text)").cancel()
                    #expect(answer.outcome == .cancelled && answer.transaction.state == .cancelled)
                    try await eventually("the device stops") { await device.count.waiting == 0 }
                    #expect(await sandbox.ledger.transactions.isEmpty)
                }
            }
        }
    }

    @Test("A daemon that stops while the PIN is awaited ends the sale, and the device stops to ask")
    func stopped() async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { sandbox in
            try await withDevice(in: folder, delay: .seconds(20)) { wish, device in
                try await Shop.open(in: folder, wish) { shop in
                    try await adapterIsKnown(shop)
                    try shop.reader.obey("present mastercard")
                    let id = try await shop.post(purchase(amount, more: #","detached":true"#)).transaction().id
                    _ = try await shop.reach([.sealed], id)
                    try await eventually("the device asks") { await device.count.waiting == 1 }
                }
                #expect(
                    try sqlite(folder.path + "/state/journal.sqlite", "SELECT state, cancelled_by FROM payment")
                        == "cancelled|shutdown")
                #expect(await sandbox.ledger.transactions.isEmpty)
            }
        }
    }

    @Test("A device that is not there, not ready or not the one that was written down is not announced to any card")
    func notThere() async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { sandbox in
            var wish = Shop.Wish()
            wish.pinDevice = PINDeviceSettings(
                socket: folder.path + "/nobody.sock", key: .sandboxTest, keySet: "test-aes-dukpt")
            try await Shop.open(in: folder, wish) { shop in
                let paid = try await sale(shop, amount)
                #expect(paid.state == .approved && paid.chip?.verification == .signature, "\(paid)")
                #expect(try shop.journal("SELECT count(*) FROM pin_attempt") == "0")
                #expect(await sandbox.ledger.transactions.count == 1)
            }
        }
    }

    @Test("A device that is lost while it asks ends the sale, and the next one is taken without it")
    func lost() async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { sandbox in
            try await withDevice(in: folder, delay: .seconds(20)) { wish, device in
                try await Shop.open(in: folder, wish) { shop in
                    try await adapterIsKnown(shop)
                    try shop.reader.obey("present mastercard")
                    let id = try await shop.post(purchase(amount, more: #","detached":true"#)).transaction().id
                    _ = try await shop.reach([.sealed], id)
                    await device.lose()
                    let ended = try await shop.reach([.failed], id)
                    #expect(ended.error?.code == "pin.device_failed")
                    #expect(await sandbox.ledger.transactions.isEmpty)
                    try shop.reader.obey("swap mastercard")
                    let paid = try await shop.post(purchase(amount), wait: 20).transaction()
                    #expect(paid.state == .approved && paid.chip?.verification == .signature)
                }
            }
        }
    }

    // MARK: - What is believed of a device

    private func status() -> PINDeviceStatus {
        var status = PINDeviceStatus(
            model: "Pad", serial: "77", simulator: false, accountKeys: ["pad-77", RecipientKey.sandboxTest.keyID],
            keySets: [
                .init(id: "tmk-7", formats: [0, 4], algorithm: "AES-128"),
                .init(id: "old", formats: [1, 2], algorithm: "TDES"),
            ],
            state: .ready)
        status.approval = .init(scheme: "PCI PTS POI", number: "4-12345", expires: "2030-04-30")
        return status
    }

    @Test("A device is believed no more than was written down of it")
    func judged() throws {
        let own = #"{"kty":"OKP","crv":"X25519","kid":"pad-77","x":"hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo"}"#
        let settings = PINDeviceSettings(
            socket: "/s", key: try RecipientKey(jwk: Array(own.utf8)), keySet: "tmk-7", approval: "4-12345")
        let good = status()
        func fault(
            _ settings: PINDeviceSettings, _ mode: Mode = .live, on day: String = "2026-11-24",
            _ change: (inout PINDeviceStatus) -> Void = { _ in }
        ) -> PINDeviceFault? {
            var status = good
            change(&status)
            do throws(PINDeviceFault) {
                _ = try PINDeviceOffer(status, by: settings, in: mode, on: day)
                return nil
            } catch {
                return error
            }
        }
        #expect(fault(settings) == nil)
        #expect(try PINDeviceOffer(good, by: settings, in: .live, on: "2026-11-24").format == 4)
        #expect(fault(settings) { $0.simulator = true } == .simulator)
        #expect(fault(settings, .test) { $0.simulator = true } == nil)
        #expect(fault(settings) { $0.approval = nil } == .notApproved)
        #expect(fault(settings) { $0.approval?.number = "4-99" } == .otherApproval)
        #expect(fault(settings, on: "2030-05-01") == .approvalExpired)
        #expect(fault(settings, on: "2030-04-30") == nil)
        #expect(fault(settings) { $0.accountKeys = [] } == .otherKey)
        #expect(fault(settings) { $0.keySets = [] } == .noKeySet)
        #expect(fault(settings) { $0.state = .busy } == .notReady)
        var other = settings
        other.keySet = "old"
        #expect(fault(other) == .formatUnsuitable)
        other = settings
        other.approval = nil
        #expect(fault(other) == .notApproved && fault(other, .test) == nil)
        other.key = .sandboxTest
        #expect(fault(other) == .publishedKey)
        #expect(throws: PINDeviceFault.noAnswer) {
            try PINDeviceOffer(nil, by: settings, in: .live, on: "2026-11-24")
        }
    }

    @Test("Only what was asked for is passed on as a PIN")
    func entries() throws {
        let settings = PINDeviceSettings(socket: "/s", key: .sandboxTest, keySet: "tmk-7")
        let offer = try PINDeviceOffer(status(), by: settings, in: .test, on: "2026-11-24")
        let request = PINEntryRequest(
            id: PINAttemptID(), mode: .test, transaction: TransactionID(),
            amount: Money(value: 1, currency: try #require(Currency("EUR"))), account: "a", format: 4, keySet: "tmk-7",
            timeout: 30)
        var good = PINEntry(id: request.id, state: .entered)
        (good.format, good.keySet, good.ksn) = (4, "tmk-7", "123456789012345600000001")
        good.block = "A912150391AB65A67E52883D81CE2D15"
        #expect(offer.pin(from: good, for: request)?.block == good.block)
        #expect("\(String(reflecting: offer.pin(from: good, for: request)))\(good)".contains("A912") == false)
        func refused(_ change: (inout PINEntry) -> Void) -> Bool {
            var entry = good
            change(&entry)
            return offer.pin(from: entry, for: request) == nil
        }
        #expect(refused { $0.id = PINAttemptID() } && refused { $0.state = .cancelled })
        #expect(refused { $0.format = 0 } && refused { $0.keySet = "old" } && refused { $0.block = nil })
        #expect(refused { $0.block = "A912150391AB65A6" } && refused { $0.block = String(repeating: "x", count: 32) })
        #expect(refused { $0.algorithm = "ROT-13" } && !refused { $0.algorithm = "AES-128" })
        // What is enciphered, in clear: format, length, digits and their fill.
        #expect(refused { $0.block = "441234AAAAAAAAAA2F69ADDE2E9E7ACE" })
        #expect(refused { $0.block = "4C123456789012AA2F69ADDE2E9E7ACE" })
        #expect(!refused { $0.block = "441234AAAAAAAABA2F69ADDE2E9E7ACE" })
        #expect(refused { $0.ksn = "no" } && refused { $0.ksn = String(repeating: "1", count: 40) })
    }
}
