// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocalHTTP
import PSPAPI
import PaymentValues
import Testing

@testable import PSPSandbox

/// Several sandboxes on one file are replicas of one adapter: what came to one has come to all of them.
struct SharedStoreTests {
    private func withStore(_ body: (String) async throws -> Void) async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "nfc-tap-\(UUID().uuidString).db").path()
        defer {
            for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) }
        }
        try await body(path)
    }

    private func withReplicas(
        now: @escaping @Sendable () -> Timestamp = { .now }, _ body: (SandboxBench, SandboxBench) async throws -> Void
    ) async throws {
        try await withStore { path in
            try await SandboxBench.run(store: path, now: now) { first in
                try await SandboxBench.run(store: path, now: now) { second in try await body(first, second) }
            }
        }
    }

    @Test func `the same sale at both replicas at once is booked once, and both answer alike in the end`() async throws
    {
        try await withReplicas { first, second in
            let requests = try (0..<12).map { _ in try SandboxBench.request(1_200) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for request in requests {
                    for bench in [first, second] {
                        group.addTask {
                            let status = try await bench.authorize(request).status
                            #expect([200, 409].contains(status))
                        }
                    }
                }
                try await group.waitForAll()
            }
            for request in requests {
                #expect(try await first.authorize(request).body == second.authorize(request).body)
            }
            #expect(try await first.ledger().transactions.count == 12)
            #expect(try await second.ledger() == first.ledger())
        }
    }

    @Test func `what one replica booked the other tells, bounds and reverses`() async throws {
        try await withReplicas { first, second in
            let id = try await first.approved(2_000)
            #expect(try await second.get("/v1/authorizations/\(id)").status == 200)
            let operation = OperationID()
            let answer = try await second.capture(1_500, of: id, final: false, id: operation)
            #expect(try await first.operation(operation) == answer)
            #expect(try await first.capture(1_500, of: id).reason == .tooMuch)
            #expect(try await first.reverse(id).status == 200)
            #expect(try await second.entry(id).outstanding == 0)
        }
    }

    @Test func `a key with another body is refused by the other replica too`() async throws {
        try await withReplicas { first, second in
            var request = try SandboxBench.request(1_200)
            _ = try await first.answer(to: request)
            request.order = "changed"
            #expect(try await second.authorize(request).status == 422)
        }
    }

    @Test func `a request whose replica died is running until its lease is over, and is then taken over`() async throws
    {
        let clock = Clock()
        try await withStore { path in
            let request = try SandboxBench.request(1_200)
            let body = try WireJSON.encode(request)
            let dead = try Sandbox(key: try TestRecipient.privateKey(), storePath: path, now: { clock.now })
            let name = RequestName(path: "v1/authorizations", key: request.id.text)
            #expect(try await dead.begin(name, body: body) == .new)
            try await SandboxBench.run(store: path, now: { clock.now }) { (bench) async throws in
                #expect(try await bench.authorize(request).status == 409)
                clock.advance(61)
                #expect(try await bench.answer(to: request).outcome == .approved)
                #expect(try await bench.ledger().transactions.map(\.authorised) == [1_200])
            }
        }
    }

    @Test("W11: a lease whose clock was put back holds nobody up until that time has come again")
    func clockBack() async throws {
        try await withStore { path in
            let name = RequestName(path: "v1/authorizations", key: "P-1")
            let clock = Clock()
            let dead = try Sandbox(key: try TestRecipient.privateKey(), storePath: path, now: { clock.now })
            #expect(try await dead.begin(name, body: [1]) == .new)
            let next = try Sandbox(key: try TestRecipient.privateKey(), storePath: path, now: { clock.now })
            clock.advance(-10)
            #expect(
                try await next.begin(name, body: [1]) == .running, "a time server does as much to one that is at work")
            clock.advance(-3_600)
            #expect(try await next.begin(name, body: [2]) == .otherContent)
            #expect(try await next.begin(name, body: [1]) == .new)
            #expect(try await next.begin(name, body: [1]) == .running, "it was taken over once")
            clock.advance(61)
            #expect(try await next.begin(name, body: [1]) == .new)
        }
    }

    @Test func `a replica that died after it had booked is not booked again`() async throws {
        let clock = Clock()
        try await withStore { path in
            let request = try SandboxBench.request(1_200)
            let dead = try Sandbox(key: try TestRecipient.privateKey(), storePath: path, now: { clock.now })
            let name = RequestName(path: "v1/authorizations", key: request.id.text)
            let body = try WireJSON.encode(request)
            #expect(try await dead.begin(name, body: body) == .new)
            let booked = try await dead.authorize(request)
            try await SandboxBench.run(store: path, now: { clock.now }) { (bench) async throws in
                clock.advance(61)
                #expect(try await bench.authorize(request).body == booked.body)
                #expect(try await bench.ledger().transactions.count == 1)
            }
        }
    }

    @Test func `a store that cannot be opened says so, and one that is no store is not used`() throws {
        let key = try TestRecipient.privateKey()
        #expect(throws: StoreError.self) { try Sandbox(key: key, storePath: "/nonexistent/store.db") }
        let path = FileManager.default.temporaryDirectory.appending(path: "nfc-tap-\(UUID().uuidString).txt")
        try Data(repeating: 0x41, count: 4_096).write(to: path)
        defer { try? FileManager.default.removeItem(at: path) }
        #expect(throws: StoreError.self) { try Sandbox(key: key, storePath: path.path()) }
    }
}
