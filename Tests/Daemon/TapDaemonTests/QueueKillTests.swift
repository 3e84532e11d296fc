// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Foundation
import LocalHTTP
import PSPSandbox
import PaymentValues
import ReaderCore
import ReaderVirtual
import TestSupport
import Testing

@testable import TapDaemon

@Suite("A daemon that is killed while it stores and forwards", .timeLimit(.minutes(30)))
struct QueueKillTests {
    private let kills = ProcessInfo.processInfo.environment["NFC_TAP_KILLS"].flatMap(Int.init) ?? 8

    private func configure(_ folder: TestFolder) throws {
        let terminal = try Checkout.text("docs/examples/terminal-test.json")
            .replacing(#""floor": 0"#, with: #""floor": 100000"#)
        try Data(terminal.utf8).write(to: URL(filePath: folder.path + "/terminal.json"))
        let text = """
            [pos]
            socket = "\(folder.path)/pos.sock"
            [psp]
            socket = "\(folder.path)/psp.sock"
            answer-timeout = 1
            [journal]
            directory = "\(folder.path)/state"
            [terminal]
            file = "\(folder.path)/terminal.json"
            [offline]
            count = 1000
            per-card = 1000
            [[offline.currency]]
            code = "EUR"
            amount = 4000
            total = 999999
            [[lane]]
            name = "main"
            reader = "virtual:\(folder.path)/reader.sock"
            """
        try Data(text.utf8).write(to: URL(filePath: folder.path + "/nfc-tapd.conf"))
    }

    private func sqlite(_ folder: TestFolder, _ sql: String) throws -> String {
        try TapDaemonTests.sqlite(folder.path + "/state/journal.sqlite", sql)
    }

    /// Asks until the daemon takes the payment; it may still be starting.
    private func pay(_ value: Int64, _ folder: TestFolder) async throws {
        let fields: HTTPFields = ["Content-Type": "application/json", "Idempotency-Key": UUID().uuidString]
        let body = Array(purchase(value, more: #","detached":true"#).utf8)
        let request = HTTPClientRequest(.post, "/v1/transactions", fields: fields, body: body)
        let client = HTTPClient(path: folder.path + "/pos.sock")
        try await eventually("a daemon that takes transactions") {
            (try? await client.send(request, answerWithin: hangLimit))?.status == 201
        }
        let present = try? VirtualReaderSocket.send(
            "present visa-afl", to: folder.path + "/reader.sock",
            until: monotonicNow().advanced(byMilliseconds: 60_000))
        #expect(present == "ok")
    }

    @Test(
        """
        Acceptance test 10: killed at every step while it stores and while it forwards, every stored payment is charged \
        exactly once, and no other one at all
        """)
    func killed() async throws {
        let folder = try TestFolder()
        try configure(folder)
        // Reached once, so that payments may be stored.
        try await withSandbox(in: folder) { _ in
            let daemon = try DaemonProcess(folder)
            try await eventually("contact") {
                (try? sqlite(folder, "SELECT count(*) FROM online_contact")) == "1"
            }
            await daemon.stop()
        }
        for round in 0..<kills {
            let daemon = try DaemonProcess(folder)
            let watch = FileWatch(folder.path + "/state/journal.sqlite-wal")
            // With lost, doubled and torn answers among them.
            try await pay([1_000, 1_094, 1_095, 1_096, 1_200][round % 5], folder)
            if round.isMultiple(of: 2), let watch {
                watch.awaitWrites(round / 2 % 40 + 1, milliseconds: 300)
            } else {
                try await eventually("an end") {
                    try sqlite(folder, "SELECT state FROM payment ORDER BY id DESC LIMIT 1") == "stored"
                }
            }
            await daemon.kill()
        }
        try await withSandbox(in: folder) { sandbox in
            for round in 0..<kills {
                let daemon = try DaemonProcess(folder)
                if let watch = FileWatch(folder.path + "/state/journal.sqlite-wal") {
                    watch.awaitWrites(round % 20 + 1, milliseconds: 300)
                }
                await daemon.kill()
            }
            let last = try DaemonProcess(folder)
            try await eventually("an empty queue") { try sqlite(folder, "SELECT count(*) FROM queue_record") == "0" }
            await last.stop()
            let ledger = await sandbox.ledger
            #expect(ledger.transactions.count >= kills / 2)
            for entry in ledger.transactions {
                let state = try sqlite(folder, "SELECT state FROM payment WHERE id = '\(entry.id)'")
                #expect(state == "approved" && entry.outstanding == entry.amount.value, "\(entry.id) is \(state)")
            }
            let charged = try sqlite(folder, "SELECT count(*) FROM payment WHERE state = 'approved'")
            #expect(charged == "\(ledger.transactions.count)")
        }
        let open = "SELECT count(*) FROM payment WHERE state NOT IN ('approved', 'failed', 'cancelled')"
        #expect(try sqlite(folder, open) == "0")
        #expect(try sqlite(folder, "SELECT count(*) FROM payment WHERE authorization IS NOT NULL") == "0")
        #expect(try sqlite(folder, "PRAGMA integrity_check") == "ok")
    }
}
