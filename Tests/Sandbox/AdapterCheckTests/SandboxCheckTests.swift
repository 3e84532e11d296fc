// SPDX-License-Identifier: Apache-2.0
import AdapterCheck
import Envelope
import Foundation
import LocalHTTP
import Logging
import PSPAPI
import PaymentValues
import TestSupport
import Testing

@testable import PSPSandbox

/// Our own adapters keep the rules that we ask others to keep.
@Suite(.serialized) struct SandboxCheckTests {
    private static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "nfc-tap-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    private func serve(
        _ sandboxes: [(Sandbox, String)], _ body: () async throws -> Void
    ) async throws {
        guard let (sandbox, path) = sandboxes.first else { return try await body() }
        let server = try SandboxServer(path: path, sandbox: sandbox, logger: Self.quiet)
        let serving = Task { try await server.run() }
        do {
            try await serve(Array(sandboxes.dropFirst()), body)
        } catch {
            serving.cancel()
            throw error
        }
        server.shutDown()
        try await serving.value
    }

    private func findings(_ sockets: [String]) async throws -> [CheckFinding] {
        let amount = Money(value: 900, currency: try #require(Currency("EUR")))
        return await AdapterCheck(sockets: sockets, amount: amount, recipient: .sandboxTest).run { _ in }
    }

    @Test(
        "D6: without a server one rule fails and the others are not tried, and what was not asked for is not tried either"
    )
    func withoutServer() async throws {
        try await withFolder { folder in
            let nowhere = try await findings([folder.appending(path: "nobody.sock").path()])
            #expect(nowhere.filter { $0.verdict == .fail }.map(\.rule) == [.health])
            #expect(nowhere.dropFirst().allSatisfy { $0.verdict == .notTried })
            let path = folder.appending(path: "a.sock").path()
            try await serve([(Sandbox(key: try TestRecipient.privateKey()), path)]) {
                let findings = try await findings([path])
                let untried = findings.filter { $0.verdict == .notTried }
                #expect(untried.map(\.rule) == [.replicas, .replicaRace, .restart])
                #expect(untried.allSatisfy { $0.note?.hasPrefix("give --") == true })
                #expect(!findings.contains { $0.verdict == .notSupported })
            }
        }
    }

    @Test func `the sandbox keeps every rule`() async throws {
        try await withFolder { folder in
            let path = folder.appending(path: "a.sock").path()
            try await serve([(Sandbox(key: try TestRecipient.privateKey()), path)]) {
                let findings = try await findings([path])
                #expect(findings.filter { $0.verdict == .fail } == [])
                #expect(findings.filter { $0.verdict != .pass }.map(\.rule) == [.replicas, .replicaRace, .restart])
            }
        }
    }

    @Test func `two sandboxes on one store keep the rules of replicas`() async throws {
        try await withFolder { folder in
            let key = try TestRecipient.privateKey()
            let store = folder.appending(path: "store.db").path()
            let sockets = ["a", "b"].map { folder.appending(path: $0 + ".sock").path() }
            try await serve(sockets.map { (try Sandbox(key: key, storePath: store), $0) }) {
                let findings = try await findings(sockets)
                #expect(findings.filter { $0.verdict != .pass }.map(\.rule) == [.restart])
            }
        }
    }

    @Test func `two sandboxes without a common store are found, and what they cannot do is not held against them`()
        async throws
    {
        try await withFolder { folder in
            let key = try TestRecipient.privateKey()
            let sockets = ["a", "b"].map { folder.appending(path: $0 + ".sock").path() }
            let sandboxes = sockets.map { (Sandbox(key: key, features: [.sale, .verify]), $0) }
            try await serve(sandboxes) {
                let findings = try await findings(sockets)
                #expect(findings.filter { $0.verdict == .fail }.map(\.rule) == [.replicas])
                #expect(findings.first { $0.rule == .capture }?.verdict == .notSupported)
            }
        }
    }

    @Test("Behind a proxy replicas show at one socket", arguments: [true, false])
    func proxy(isShared: Bool) async throws {
        try await withFolder { folder in
            let key = try TestRecipient.privateKey()
            let sockets = ["a", "b"].map { folder.appending(path: $0 + ".sock").path() }
            let store = folder.appending(path: "store.db").path()
            let sandboxes = try sockets.map { socket in
                (try isShared ? Sandbox(key: key, storePath: store) : Sandbox(key: key), socket)
            }
            let front = folder.appending(path: "front.sock").path()
            let configuration = folder.appending(path: "haproxy.cfg")
            try Data(
                """
                defaults
                    mode http
                    timeout connect 2s
                    timeout client 60s
                    timeout server 60s
                frontend front
                    bind unix@\(front)
                    default_backend sandboxes
                backend sandboxes
                    balance roundrobin
                    server a unix@\(sockets[0])
                    server b unix@\(sockets[1])

                """.utf8
            ).write(to: configuration)
            try await serve(sandboxes) {
                let proxy = Process()
                proxy.executableURL = URL(filePath: "/usr/sbin/haproxy")
                proxy.arguments = ["-db", "-f", configuration.path()]
                try proxy.run()
                defer { Process.end([proxy]) }
                try await awaitServer(front)
                let failed = try await findings([front]).filter { $0.verdict == .fail }.map(\.rule)
                if isShared {
                    #expect(failed == [])
                } else {
                    #expect(failed.contains(.keyRepeat) && failed.contains(.query), "\(failed)")
                }
            }
        }
    }

    @Test func `the adapter in fifty lines keeps the rules of what it supports`() async throws {
        try await withFolder { folder in
            let path = folder.appending(path: "a.sock").path()
            let process = Process()
            process.executableURL = URL(filePath: Peer.python)
            let example = Checkout.file("docs/examples/adapter.py").path()
            process.arguments = [example, path]
            try process.run()
            defer { Process.end([process]) }
            try await awaitServer(path)
            let findings = try await findings([path])
            #expect(findings.filter { $0.verdict == .fail } == [])
            #expect(findings.filter { $0.verdict == .pass }.count == 21)
        }
    }
}
