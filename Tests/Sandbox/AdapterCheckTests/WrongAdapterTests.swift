// SPDX-License-Identifier: Apache-2.0
import AdapterCheck
import Envelope
import Foundation
import LocalHTTP
import PaymentValues
import TestSupport
import Testing

/// An adapter in another language, right in all but one rule: the check finds that one and no other.
@Suite(.serialized) struct WrongAdapterTests {
    /// Rules that one socket without a restart can break.
    static let alone = CheckRule.allCases.filter { ![.replicas, .replicaRace, .restart].contains($0) }

    private func failed(_ findings: [CheckFinding]) -> [CheckRule] {
        findings.filter { $0.verdict == .fail }.map(\.rule)
    }

    @Test("The check fails for the rule that is broken, and for no other", arguments: alone)
    func fails(_ rule: CheckRule) async throws {
        #expect(failed(try await WrongAdapter.check(rule.rawValue)) == [rule])
    }

    @Test("Replicas that do not share what they know are found", arguments: [CheckRule.replicas, .replicaRace])
    func replicas(_ rule: CheckRule) async throws {
        #expect(failed(try await WrongAdapter.check(rule.rawValue, replicas: 2)) == [rule])
    }

    @Test func `an adapter that forgets when it is killed is found`() async throws {
        #expect(failed(try await WrongAdapter.check(CheckRule.restart.rawValue, restarts: true)) == [.restart])
    }

    @Test func `the same adapter without a fault keeps every rule, with replicas and over a death`() async throws {
        let findings = try await WrongAdapter.check("none", replicas: 2, restarts: true)
        #expect(findings.filter { $0.verdict != .pass } == [])
        #expect(findings.map(\.rule) == CheckRule.allCases)
    }
}

/// `wrong_adapter.py`, once for each replica, on one store.
actor WrongAdapter {
    private let folder: URL
    private let rule: String
    private let sockets: [String]
    private var running: [Process] = []

    private init(_ rule: String, replicas: Int) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "nfc-tap-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.folder = folder
        self.rule = rule
        sockets = (0..<replicas).map { folder.appending(path: "\($0).sock").path() }
    }

    /// What the check finds in an adapter that breaks `rule`.
    static func check(_ rule: String, replicas: Int = 1, restarts: Bool = false) async throws -> [CheckFinding] {
        let adapter = try WrongAdapter(rule, replicas: replicas)
        do {
            let findings = try await adapter.findings(restarts)
            await adapter.end()
            return findings
        } catch {
            await adapter.end()
            throw error
        }
    }

    private func findings(_ restarts: Bool) async throws -> [CheckFinding] {
        try await start()
        var check = AdapterCheck(
            sockets: sockets, amount: Money(value: 900, currency: try #require(Currency("EUR"))),
            recipient: .sandboxTest)
        // Only the adapter that serves one connection after the other ever lets it pass.
        if rule == CheckRule.idleConnections.rawValue { check.answerTime = .seconds(3) }
        if restarts {
            check.restart = { [self] in
                do {
                    try await start()
                    return true
                } catch {
                    return false
                }
            }
        }
        return await check.run { _ in }
    }

    /// Kills what runs, and starts it again.
    private func start() async throws {
        kill()
        for socket in sockets {
            if FileManager.default.fileExists(atPath: socket) { try FileManager.default.removeItem(atPath: socket) }
            let process = Process()
            process.executableURL = URL(filePath: Peer.python)
            process.arguments = [
                Self.program, socket, folder.appending(path: "store.db").path(), rule,
            ]
            try process.run()
            running.append(process)
        }
        for socket in sockets { try await awaitServer(socket) }
    }

    private func kill() {
        Process.end(running)
        running = []
    }

    private func end() {
        kill()
        try? FileManager.default.removeItem(at: folder)
    }

    private static let program = Checkout.file("Tests/Contract/wrong_adapter.py").path()
}

extension Process {
    /// Ends all of them before any is waited for: Foundation notices the end of one only when those started after it have
    /// ended too, and `waitUntilExit` returns on no other thread than the one that started the process.
    /// Killed, because a child of a thread of the pool inherits that it takes no other signal.
    static func end(_ processes: [Process]) {
        for process in processes where process.isRunning { kill(process.processIdentifier, SIGKILL) }
        for process in processes { while process.isRunning { usleep(2_000) } }
    }
}

/// Until a server takes connections there.
func awaitServer(_ path: String) async throws {
    for _ in 0..<1_800 {
        do throws(HTTPClientError) {
            _ = try await HTTPClient(path: path).connect()
            return
        } catch {
            try await Task.sleep(for: .milliseconds(50))
        }
    }
    Issue.record("nobody listens at \(path)")
}
