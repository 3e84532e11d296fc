// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Envelope
import Foundation
import Glibc
import Journal
import LocalHTTP
import PSPSandbox
import PaymentValues
import ReaderCore
import ReaderVirtual
import TestSupport
import Testing

@testable import TapDaemon

/// The daemon as a process of its own, so that it can be killed.
final class DaemonProcess: Sendable {
    private let process: Process
    private let errors: URL

    init(_ folder: TestFolder) throws {
        errors = URL(filePath: folder.path + "/nfc-tapd-\(UUID().uuidString.prefix(8)).log")
        _ = FileManager.default.createFile(atPath: errors.path, contents: nil)
        process = Process()
        let products = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        process.executableURL = products.appending(path: "nfc-tapd")
        process.arguments = ["--config", folder.path + "/nfc-tapd.conf", "--runtime-directory", folder.path]
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
    }

    /// Whether it runs, and what it said last.
    var state: String {
        let said = (try? String(contentsOf: errors, encoding: .utf8)) ?? ""
        let end = process.isRunning ? "runs" : "ended with \(process.terminationStatus)"
        return end + "; " + said.split(separator: "\n").suffix(3).joined(separator: " | ")
    }

    /// Asks until it takes the transaction; it may still be starting.
    func take(_ request: String, in folder: TestFolder) async throws {
        let fields: HTTPFields = ["Content-Type": "application/json", "Idempotency-Key": UUID().uuidString]
        let message = HTTPClientRequest(.post, "/v1/transactions", fields: fields, body: Array(request.utf8))
        let client = HTTPClient(path: folder.path + "/pos.sock")
        var last = "no answer"
        do {
            try await eventually("a daemon that takes transactions") {
                do {
                    let answer = try await client.send(message, answerWithin: hangLimit)
                    last = String(decoding: answer.body, as: UTF8.self)
                    return answer.status == 201
                } catch {
                    last = "\(error)"
                    return false
                }
            }
        } catch {
            Issue.record("\(last); the daemon \(state)")
            throw error
        }
    }

    /// A card comes to its reader.
    func present(_ card: String, in folder: TestFolder) {
        let present = try? VirtualReaderSocket.send(
            "present \(card)", to: folder.path + "/reader.sock",
            until: monotonicNow().advanced(byMilliseconds: 60_000))
        #expect(present == "ok")
    }

    /// Ends it as the kernel does: nothing is finished, nothing flushed.
    func kill() async {
        Glibc.kill(process.processIdentifier, SIGKILL)
        await end()
    }

    func stop() async {
        process.terminate()
        await end()
    }

    private func end() async {
        while process.isRunning { try? await Task.sleep(for: .milliseconds(2)) }
    }
}

@Suite("A daemon that is killed", .timeLimit(.minutes(30)))
struct KillTests {
    private let kills = ProcessInfo.processInfo.environment["NFC_TAP_KILLS"].flatMap(Int.init) ?? 12

    private func configure(_ folder: TestFolder) throws {
        let text = """
            [pos]
            socket = "\(folder.path)/pos.sock"
            [psp]
            socket = "\(folder.path)/psp.sock"
            answer-timeout = 1
            [journal]
            directory = "\(folder.path)/state"
            [[lane]]
            name = "main"
            reader = "virtual:\(folder.path)/reader.sock"
            """
        try Data(text.utf8).write(to: URL(filePath: folder.path + "/nfc-tapd.conf"))
    }

    /// Every second time at a write to the journal, the first, the second and so on in turns; else at any moment.
    private func awaitDeath(_ round: Int, _ folder: TestFolder, _ watch: FileWatch?) async throws {
        if round.isMultiple(of: 2), let watch {
            watch.awaitWrites(round / 2 % 40 + 1, milliseconds: 300)
        } else {
            try await Task.sleep(for: .microseconds(Int64.random(in: 0...120_000)))
        }
    }

    @Test(
        """
        §10.4, acceptance test 10: killed at every step of the journal, every transaction ends in a definite state, \
        nobody is charged for what the shop did not see approved, and the audit chain holds
        """)
    func killed() async throws {
        let folder = try TestFolder()
        try configure(folder)
        var lastStates: [String: Int] = [:]
        let amounts: [Int64] = [1_000, 1_051, 1_093, 1_094, 1_095, 1_096, 1_097, 1_098, 1_099, 1_100, 1_200]
        let timing = SandboxTiming(slow: .milliseconds(200), late: .seconds(2))
        try await withSandbox(in: folder, timing) { sandbox in
            for round in 0..<kills {
                let daemon = try DaemonProcess(folder)
                let watch = FileWatch(folder.path + "/state/journal.sqlite-wal")
                let value = amounts[round % amounts.count]
                let order = "K-\(value)-\(UUID().uuidString.prefix(8))"
                try await daemon.take(purchase(value, order: order, more: #","detached":true"#), in: folder)
                daemon.present("visa", in: folder)
                try await awaitDeath(round, folder, watch)
                await daemon.kill()
                let state = try sqlite(
                    folder.path + "/state/journal.sqlite", "SELECT state FROM payment ORDER BY id DESC LIMIT 1")
                lastStates[state, default: 0] += 1
            }
            print("killed \(kills) times, in states \(lastStates.sorted { $0.key < $1.key })")
            let last = try DaemonProcess(folder)
            try await definiteStates(in: folder)
            await last.stop()
            let ledger = await sandbox.ledger
            #expect(ledger.unseen.isEmpty)
            for entry in ledger.transactions {
                let state = try sqlite(
                    folder.path + "/state/journal.sqlite", "SELECT state FROM payment WHERE id = '\(entry.id)'")
                #expect(
                    entry.outstanding == (state == "approved" ? entry.authorised : 0),
                    "\(entry.id) is \(state) here, \(entry.outstanding) there")
            }
        }
        let path = folder.path + "/state/journal.sqlite"
        #expect(try sqlite(path, "SELECT count(*) FROM payment") == "\(kills)")
        #expect(try sqlite(path, "PRAGMA integrity_check") == "ok")
        #expect(try auditFaults(in: folder) == [])
        // Chance decides where a death falls; so many cannot all have missed a step.
        if kills >= 200 {
            for state in ["armed", "reading", "sent", "approved"] { #expect(lastStates[state] ?? 0 > 0, "\(state)") }
        }
    }
}

func auditFaults(in folder: TestFolder) throws -> [AuditFault] { try verified(folder).faults }

/// Waits until every transaction has an end.
func definiteStates(in folder: TestFolder) async throws {
    let open =
        "SELECT count(*) FROM payment WHERE state NOT IN "
        + "('approved', 'declined', 'failed', 'cancelled', 'reversed')"
    try await eventually("definite states") { try sqlite(folder.path + "/state/journal.sqlite", open) == "0" }
}
