// SPDX-License-Identifier: Apache-2.0
import Configuration
import Envelope
import Foundation
import LocalHTTP
import PINDevice
import PINDeviceAPI
import POSAPI
import PSPAPI
import PSPSandbox
import PaymentValues
import ReaderVirtual
import Synchronization
import TestSupport
import Testing

@testable import TapDaemon

/// Sales at a device whose driver lies. Nothing is approved on what it made up, every sale has an end, the next one is taken
/// with a PIN, and what it said is nowhere.
/// One fault after the other, at the card's wish and at the issuer's side by side: a device has two seconds to answer, and sixty
/// shops at once take longer.
@Suite("A PIN device that lies", .serialized, .timeLimit(.minutes(5)))
struct PINDeviceLinkFaultTests {
    /// A shop whose ways to service and device are listened at.
    private struct Bench {
        let shop: Shop
        let sandbox: Sandbox
        let device: SimulatedPINDevice
        let toService: Passage
        let toDevice: Passage
        let log: KeptLog

        func sale(_ cause: PINNotice.Cause, _ more: String = "") async throws -> Transaction {
            try shop.reader.obey("present \(cause == .kernel ? "mastercard" : "visa")")
            let sale = try await shop.post(purchase(Self.amount(cause), more: more), wait: 60).transaction()
            try shop.reader.obey("remove")
            return sale
        }

        /// Above 50.00 EUR the Mastercard wants it; of 10.70 EUR the issuer does.
        static func amount(_ cause: PINNotice.Cause) -> Int64 { cause == .kernel ? 6_000 : 1_070 }

        /// The same, cancelled while the device asks.
        func cancelledSale(_ cause: PINNotice.Cause) async throws -> Transaction {
            let asked = await device.count.asked
            try shop.reader.obey("present \(cause == .kernel ? "mastercard" : "visa")")
            let id = try await shop.post(purchase(Self.amount(cause), more: #","detached":true"#)).transaction().id
            try await eventually("the device asks") { await device.count.asked > asked }
            _ = try await shop.delete("/v1/transactions/\(id)").cancel()
            let end = try await shop.reach([.cancelled, .declined, .approved, .failed], id)
            try shop.reader.obey("remove")
            return end
        }
    }

    private func withBench(_ liar: LyingDevice?, _ body: (Bench) async throws -> Void) async throws {
        let folder = try TestFolder()
        let (driver, service) = (folder.path + "/ped.sock", folder.path + "/psp.sock")
        let device = try #require(
            SimulatedPINDevice(key: try TestRecipient.privateKey(), delay: .milliseconds(50)))
        let server = try SimulatedPINDeviceServer(path: driver, device: device, logger: Shop.quiet)
        async let end: Void = server.run()
        let log = KeptLog()
        var wish = Shop.Wish()
        wish.logger = log.logger
        wish.adapterSocket = "way-to-psp.sock"
        // Its service is honest, and the machine may be busy.
        wish.times.answer = .seconds(30)
        wish.pinDevice = PINDeviceSettings(
            socket: folder.path + "/way-to-ped.sock", key: .sandboxTest, keySet: "test-aes-dukpt")
        try await withSandbox(in: folder) { sandbox in
            try await withPassage(at: folder.path + "/way-to-psp.sock", to: service) { toService in
                try await withPassage(
                    at: folder.path + "/way-to-ped.sock", to: driver,
                    { request, pass in
                        if let liar { await liar.turn(request, pass) } else { await pass() }
                    },
                    { toDevice in
                        try await Shop.open(in: folder, wish) { shop in
                            _ = try await eventually("the adapter's word") {
                                shop.daemon.health.supports?.contains("singleTap") == true
                            }
                            try await body(
                                Bench(
                                    shop: shop, sandbox: sandbox, device: device, toService: toService,
                                    toDevice: toDevice, log: log))
                        }
                    })
            }
        }
        server.shutDown()
        try await end
    }

    @Test(
        "Whatever it says, nothing is approved on it, the sale has an end, the next one goes well, and no block is kept",
        arguments: PINDeviceLinkFault.allCases)
    func lies(fault: PINDeviceLinkFault) async throws {
        try await withThrowingTaskGroup { group in
            for cause in PINNotice.Cause.allCases { group.addTask { try await expectTruth(fault, cause) } }
            try await group.waitForAll()
        }
    }

    private func expectTruth(_ fault: PINDeviceLinkFault, _ cause: PINNotice.Cause) async throws {
        let liar = LyingDevice(fault)
        try await withBench(liar) { bench in
            let shop = bench.shop
            let before = try await bench.sale(cause)
            #expect(before.state == .approved && before.chip?.verification == .onlinePIN, "\(cause): \(before)")
            liar.lie(true)
            let told =
                fault == .enteredAfterCancel ? try await bench.cancelledSale(cause) : try await bench.sale(cause)
            let (state, code, response) = fault.end(cause)
            #expect(told.state == state && told.error?.code == code, "\(cause): \(told)")
            #expect(told.result?.responseCode == response, "\(cause): \(told)")
            let attempts = try shop.journal(
                "SELECT count(*) FROM pin_attempt WHERE payment = '\(told.id)' AND state = 'asked'")
            #expect(attempts == "0", "\(cause): an entry has no end")
            if code != nil {
                try await eventually("the device is told to stop") {
                    bench.toDevice.exchanges.contains { $0.method == .delete }
                }
            }
            if told.result?.reason == .wrongPIN {
                let asked = try bench.toDevice.exchanges.filter { $0.method == .post }.map {
                    try WireJSON.decode(PINEntryRequest.self, from: Array($0.request.utf8))
                }
                let tries: [Bool?] = cause == .kernel ? [nil, nil, true] : [nil, nil]
                #expect(asked.filter { $0.transaction == told.id }.map(\.lastTry) == tries)
            }
            liar.lie(false)
            let after = try await bench.sale(cause)
            #expect(after.chip?.verification == .onlinePIN, "\(cause): \(after)")
            try #require(after.state == .approved)

            let amount = Bench.amount(cause)
            let ledger = await bench.sandbox.ledger
            let stands = ledger.transactions.filter { $0.outstanding != 0 }
            let right = [before.id, after.id] + (state == .approved ? [told.id] : [])
            #expect(Set(stands.map(\.id)) == Set(right) && stands.allSatisfy { $0.outstanding == amount })
            #expect(try shop.journal("SELECT sum(money) FROM ledger") == "\(amount * Int64(right.count))")
            try await expectNothingKept(bench, after: after.id)
        }
    }

    @Test(
        "A till's word gives the customer all of the time, and the device hears it", arguments: PINNotice.Cause.allCases
    )
    func accessible(cause: PINNotice.Cause) async throws {
        try await withBench(nil) { bench in
            let plain = try await bench.sale(cause)
            let patient = try await bench.sale(cause, #","accessible":true"#)
            #expect(plain.state == .approved && patient.state == .approved)
            let asked = try bench.toDevice.exchanges.filter { $0.method == .post }.map {
                try WireJSON.decode(PINEntryRequest.self, from: Array($0.request.utf8))
            }
            try #require(asked.count == 2)
            #expect(asked.map(\.transaction) == [plain.id, patient.id] && asked.map(\.accessible) == [nil, true])
            // The issuer's answer has taken a moment of it.
            #expect(asked[0].timeout == 30 && (40...55).contains(asked[1].timeout))
            let told = try await bench.shop.events(until: .paymentApproved, of: patient.id).filter {
                $0.name == .pinRequested
            }
            #expect(told.map(\.pin?.timeout) == asked.map(\.timeout))
            #expect(told.map(\.pin?.accessible) == [nil, true] && told.allSatisfy { $0.pin?.cause == cause })
        }
    }

    // MARK: - What is kept

    /// Every block, serial number and account that went over a socket, by the passages' own ears.
    private func secrets(_ bench: Bench) -> Set<String> {
        var found: Set<String> = []
        for text in [bench.toDevice.text, bench.toService.text] {
            for match in text.matches(of: /"(?:block|account|ksn)":"([^"]{6,})"/) {
                found.insert(String(match.output.1))
            }
        }
        return found
    }

    private func expectNothingKept(_ bench: Bench, after last: TransactionID) async throws {
        let shop = bench.shop
        let secrets = secrets(bench)
        #expect(secrets.count >= 6, "two good sales have a block, a serial number and an account each")
        #expect(bench.toService.text.contains(#""block":"#), "the service has a block")
        var places = ["log": bench.log.all.map { "\($0.message) \($0.metadata)" }.joined(separator: "\n")]
        for (name, bytes) in try filesOnDisk(in: shop.folder.path + "/state") {
            places[name] = String(decoding: bytes, as: UTF8.self)
        }
        places["events"] = try await events(shop, until: last)
        places["metrics"] = try await shop.get("/metrics").text
        places["list"] = try await shop.get("/v1/transactions").text
        places["transaction"] = try await shop.get("/v1/transactions/\(last)").text
        for place in ["log", "journal.sqlite", "events", "metrics", "list", "transaction"] {
            #expect(places[place]?.isEmpty == false, "\(place) is empty")
        }
        for (place, text) in places {
            let small = text.lowercased()
            for secret in secrets where small.contains(secret.lowercased()) { Issue.record("\(secret) in \(place)") }
        }
    }

    /// As it goes over the wire.
    private func events(_ shop: Shop, until last: TransactionID) async throws -> String {
        let stream = try await shop.client.events(
            HTTPClientRequest(.get, "/v1/events?vocabulary=2", fields: ["Last-Event-ID": "0"]), answerWithin: hangLimit)
        var text = ""
        for try await next in stream {
            text += next.data + "\n"
            let event = try WireJSON.decode(Event.self, from: Array(next.data.utf8))
            if event.name == .paymentApproved, event.transaction == last { break }
        }
        return text
    }

    // MARK: - Silence

    @Test func `a device that never comes to an end is given up when its time is over, and not asked at full speed`()
        async throws
    {
        let folder = try TestFolder()
        let asked = Mutex(0)
        let request = PINEntryRequest(
            id: PINAttemptID(), mode: .test, transaction: TransactionID(),
            amount: Money(value: 1, currency: try #require(Currency("EUR"))), account: "a", format: 4, keySet: "tmk-7",
            timeout: 55)
        let waiting = try WireJSON.encode(PINEntry(id: request.id, state: .entering))
        let server = HTTPServer(socket: try ListeningSocket(path: folder.path + "/ped.sock"), logger: Shop.quiet) {
            if $0.method == .get { asked.withLock { $0 += 1 } }
            return .json($0.method == .post ? 201 : 200, waiting)
        }
        async let end: Void = server.run()
        let link = PINDeviceLink(
            PINDeviceSettings(socket: folder.path + "/ped.sock", key: .sandboxTest, keySet: "tmk-7"))
        let clock = SleptClock()
        #expect(await link.entry(request, within: .seconds(55), by: clock) == nil)
        #expect(clock.now.offset >= .seconds(55) && clock.now.offset < .seconds(56))
        #expect((1...551).contains(asked.withLock { $0 }))
        server.shutDown(grace: .zero)
        try await end
    }
}

/// Moves while somebody sleeps by it, and only then.
private final class SleptClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Swift.Duration

        func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private let time = Mutex(Swift.Duration.zero)

    var now: Instant { Instant(offset: time.withLock { $0 }) }
    var minimumResolution: Swift.Duration { .nanoseconds(1) }

    func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {
        time.withLock { $0 = max($0, deadline.offset) }
    }
}
