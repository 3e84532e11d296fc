// SPDX-License-Identifier: Apache-2.0
import Configuration
import Envelope
import Foundation
import LocalHTTP
import PSPSandbox
import PaymentValues
import Synchronization
import TestSupport
import Testing

@testable import TapDaemon

/// Where a daemon dies while a PIN is wanted, seen from outside: by what goes over its two sockets.
enum PINKillPoint: String, CaseIterable, Sendable {
    /// The card wants it: the customer is asked, the device has answered, the sale is on its way, its answer is.
    case askedForCard, enteredForCard, sent, answered
    /// The issuer wants it: its wish is on the way, then as above.
    case wished, askedForIssuer, enteredForIssuer, continued, continuationAnswered

    var isForIssuer: Bool {
        [.wished, .askedForIssuer, .enteredForIssuer, .continued, .continuationAnswered].contains(self)
    }

    /// Of the payment and of the PIN's entry, once a daemon has started again.
    var end: (payment: String, entry: String) {
        switch self {
        case .askedForCard, .enteredForCard: ("failed", "failed")
        // Nobody here knows what was answered.
        case .wished: ("reversed", "")
        // The issuer has declined, and the journal knows that the PIN has not left.
        case .askedForIssuer, .enteredForIssuer: ("declined", "failed")
        case .sent, .answered, .continued, .continuationAnswered: ("reversed", "sent")
        }
    }

    /// Whether this is where: before the request is passed on, or after.
    func isMet(by request: HTTPRequest, isPassed: Bool) -> Bool {
        let isEntry = request.method == .get && request.path.contains("pin-entries")
        return switch self {
        case .askedForCard, .askedForIssuer: isEntry && !isPassed
        case .enteredForCard, .enteredForIssuer: isEntry && isPassed
        case .sent: request.path.last == "authorizations" && !isPassed
        case .answered, .wished: request.path.last == "authorizations" && isPassed
        case .continued: request.path.last == "continuations" && !isPassed
        case .continuationAnswered: request.path.last == "continuations" && isPassed
        }
    }
}

/// A real process that is killed as a request of it passes by.
private final class Victim: Sendable {
    private let daemon = Mutex<DaemonProcess?>(nil)
    private let points: Mutex<[PINKillPoint]>
    private let deaths = Mutex(0)

    init(_ points: [PINKillPoint] = []) { self.points = Mutex(points) }

    var deathCount: Int { deaths.withLock { $0 } }

    func live(_ process: DaemonProcess) { daemon.withLock { $0 = process } }

    func turn(_ request: HTTPRequest, _ pass: @Sendable () async -> HTTPResponse) async -> HTTPResponse {
        if await strike(request, isPassed: false) { return .nothing }
        let answer = await pass()
        return await strike(request, isPassed: true) ? .nothing : answer
    }

    private func strike(_ request: HTTPRequest, isPassed: Bool) async -> Bool {
        let isHere = points.withLock { points in
            guard points.first?.isMet(by: request, isPassed: isPassed) == true else { return false }
            points.removeFirst()
            return true
        }
        guard isHere, let process = daemon.withLock({ $0 }) else { return false }
        await process.kill()
        deaths.withLock { $0 += 1 }
        return true
    }
}

@Suite("A daemon that is killed while a PIN is wanted", .serialized, .timeLimit(.minutes(30)))
struct PINKillTests {
    private let kills = ProcessInfo.processInfo.environment["NFC_TAP_KILLS"].flatMap(Int.init) ?? 8

    /// What a death leaves behind, and who is left to say so.
    private struct Bench {
        let folder: TestFolder
        let victim: Victim
        let sandbox: Sandbox
        let device: SimulatedPINDevice
        let toService: Passage
        let toDevice: Passage

        func sql(_ statement: String) throws -> String {
            try sqlite(folder.path + "/state/journal.sqlite", statement)
        }

        /// Has heard what the service can, so that the PIN is announced to cards.
        func start() async throws -> DaemonProcess {
            let heard = toService.count(.get, "health")
            let daemon = try DaemonProcess(folder)
            victim.live(daemon)
            try await eventually("the service's word") { toService.count(.get, "health") > heard }
            let client = HTTPClient(path: folder.path + "/pos.sock")
            try await eventually("a lane that is ready") {
                let answer = try? await client.send(HTTPClientRequest(.get, "/v1/lanes"), answerWithin: hangLimit)
                return answer.map { String(decoding: $0.body, as: UTF8.self).contains(#""state":"ready""#) } ?? false
            }
            return daemon
        }

        /// Above 50.00 EUR the Mastercard wants it; of 10.70 EUR the issuer does.
        func sell(_ daemon: DaemonProcess, forIssuer: Bool) async throws {
            try await daemon.take(purchase(forIssuer ? 1_070 : 6_000, more: #","detached":true"#), in: folder)
            daemon.present(forIssuer ? "visa" : "mastercard", in: folder)
        }

        /// What the service has booked is what the journal has, payment for payment, and no block is on the disk.
        func expectAgreement() async throws {
            let ledger = await sandbox.ledger
            #expect(ledger.unseen.isEmpty)
            for entry in ledger.transactions {
                let state = try sql("SELECT state FROM payment WHERE id = '\(entry.id)'")
                let wanted = state == "approved" ? entry.authorised : 0
                #expect(entry.outstanding == wanted, "\(entry.id) is \(state) here, \(entry.outstanding) there")
            }
            let known = Set(ledger.transactions.filter { $0.outstanding > 0 }.map(\.id.text))
            let approved = try sql("SELECT id FROM payment WHERE state = 'approved'").split(separator: "\n")
            #expect(Set(approved.map(String.init)) == known, "a sale is lost")
            let sum = ledger.transactions.reduce(0) { $0 + $1.outstanding }
            #expect(try sql("SELECT coalesce(sum(money), 0) FROM ledger") == "\(sum)")
            #expect(try sql("SELECT count(*) FROM pin_attempt WHERE state = 'asked'") == "0")
            #expect(try sql("PRAGMA integrity_check") == "ok")
            #expect(try auditFaults(in: folder) == [])
            try expectNoBlock()
        }

        private func expectNoBlock() throws {
            let said = [toDevice.text, toService.text].joined()
            let secrets = Set(said.matches(of: /"(?:block|account|ksn)":"([^"]{6,})"/).map { String($0.output.1) })
            #expect(!secrets.isEmpty)
            var places: [String] = []
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.hasSuffix(".log") {
                places.append("\(folder.path)/\(name)")
            }
            #expect(!places.isEmpty)
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path + "/state") {
                places.append("\(folder.path)/state/\(name)")
            }
            for place in places {
                let text = String(decoding: try Data(contentsOf: URL(filePath: place)), as: UTF8.self).lowercased()
                for secret in secrets where text.contains(secret.lowercased()) { Issue.record("\(secret) in \(place)") }
            }
        }
    }

    private func configure(_ folder: TestFolder) throws {
        try Data(RecipientKey.sandboxTest.jwk.utf8).write(to: URL(filePath: folder.path + "/pad.jwk"))
        let text = """
            [pos]
            socket = "\(folder.path)/pos.sock"
            [psp]
            socket = "\(folder.path)/way-to-psp.sock"
            answer-timeout = 10
            [journal]
            directory = "\(folder.path)/state"
            [pin-devices.pad]
            socket = "\(folder.path)/way-to-ped.sock"
            key = "\(folder.path)/pad.jwk"
            key-set = "test-aes-dukpt"
            [[lane]]
            name = "main"
            reader = "virtual:\(folder.path)/reader.sock"
            pin-device = "pad"
            """
        try Data(text.utf8).write(to: URL(filePath: folder.path + "/nfc-tapd.conf"))
    }

    private func withBench(_ points: [PINKillPoint], _ body: (Bench) async throws -> Void) async throws {
        let folder = try TestFolder()
        try configure(folder)
        let driver = folder.path + "/ped.sock"
        let device = try #require(
            SimulatedPINDevice(key: try TestRecipient.privateKey(), delay: .milliseconds(50)))
        let server = try SimulatedPINDeviceServer(path: driver, device: device, logger: Shop.quiet)
        async let end: Void = server.run()
        let victim = Victim(points)
        var failure: (any Error)?
        do {
            try await withSandbox(in: folder) { sandbox in
                try await withPassage(
                    at: folder.path + "/way-to-psp.sock", to: folder.path + "/psp.sock", { await victim.turn($0, $1) },
                    { toService in
                        try await withPassage(
                            at: folder.path + "/way-to-ped.sock", to: driver, { await victim.turn($0, $1) },
                            { toDevice in
                                try await body(
                                    Bench(
                                        folder: folder, victim: victim, sandbox: sandbox, device: device,
                                        toService: toService, toDevice: toDevice))
                            })
                    })
            }
        } catch {
            failure = error
        }
        server.shutDown()
        try await end
        if let failure { throw failure }
    }

    @Test(
        "Killed at any step, the books agree, nothing is charged twice, the device stops to ask, and the next sale goes well",
        arguments: PINKillPoint.allCases)
    func killed(at point: PINKillPoint) async throws {
        try await withBench([point]) { bench in
            try await bench.sell(try await bench.start(), forIssuer: point.isForIssuer)
            try await eventually("its death") { bench.victim.deathCount == 1 }
            let last = try await bench.start()
            try await definiteStates(in: bench.folder)
            let error = try bench.sql("SELECT state, coalesce(json_extract(error, '$.code'), '') FROM payment")
            #expect(error == "\(point.end.payment)|interrupted")
            #expect(try bench.sql("SELECT state FROM pin_attempt") == point.end.entry)
            let isReversed = point.end.payment == "reversed"
            #expect((bench.toService.count(.post, "reversals") > 0) == isReversed)
            #expect(await bench.sandbox.ledger.transactions.allSatisfy { $0.outstanding == 0 })
            if point.end.entry == "failed" {
                try await eventually("the device is told to stop") {
                    bench.toDevice.exchanges.contains { $0.method == .delete && $0.status == 200 }
                }
            }
            #expect(await bench.device.count.waiting == 0)

            try await bench.sell(last, forIssuer: point.isForIssuer)
            try await eventually("the next sale") {
                try bench.sql("SELECT count(*) FROM payment WHERE state = 'approved'") == "1"
            }
            await last.stop()
            #expect(try bench.sql("SELECT count(*) FROM payment") == "2")
            try await bench.expectAgreement()
        }
    }

    @Test("Killed again as the start asks or takes back, it comes to the same end")
    func killedTwice() async throws {
        try await withBench([.continuationAnswered]) { bench in
            try await bench.sell(try await bench.start(), forIssuer: true)
            try await eventually("its death") { bench.victim.deathCount == 1 }
            for round in 0..<kills {
                let next = try DaemonProcess(bench.folder)
                try await Task.sleep(for: .milliseconds(round * 40))
                await next.kill()
            }
            let last = try await bench.start()
            try await definiteStates(in: bench.folder)
            await last.stop()
            #expect(try bench.sql("SELECT state FROM payment") == "reversed")
            try await bench.expectAgreement()
        }
    }

    @Test("Killed at any moment of many sales with a PIN, the books agree")
    func killedAtRandom() async throws {
        try await withBench([]) { bench in
            for round in 0..<kills {
                let daemon = try await bench.start()
                try await bench.sell(daemon, forIssuer: round.isMultiple(of: 2))
                try await Task.sleep(for: .microseconds(Int64.random(in: 0...400_000)))
                await daemon.kill()
            }
            let last = try await bench.start()
            try await definiteStates(in: bench.folder)
            await last.stop()
            #expect(try bench.sql("SELECT count(*) FROM payment") == "\(kills)")
            #expect(await bench.device.count.waiting == 0)
            try await bench.expectAgreement()
        }
    }
}
