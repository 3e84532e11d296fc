// SPDX-License-Identifier: Apache-2.0
import Foundation
import Linux
import TestSupport
import Testing

/// docs/examples/haproxy-centre.cfg as it is printed, before replicas in a few lines of another language. Its rules are haproxy's own: configuration
/// manual 2.6, stick-table, option http-buffer-request, on-error.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct ProxyTests {
    private struct Seen: Decodable {
        let statuses: [Int]
        let neighbour: [Int]
        let flooder: Int
        let ends: [String: Int]
        let afterwards: Int
        let halves: Int
        let tills: [String]
        let nobody: Int
        let lost: Int
    }

    private func run() throws -> Seen {
        let output = FileManager.default.temporaryDirectory.appending(path: "proxy-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: output.path(), contents: nil)
        defer { try? FileManager.default.removeItem(at: output) }
        let handle = try FileHandle(forWritingTo: output)
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "proxy.py").path()
        let example = Checkout.file("docs/examples/haproxy-centre.cfg").path()
        let started = try StartedProgram(Peer.python, [script, example], output: handle.fileDescriptor)
        #expect(started.waitUntilEnded())
        try handle.close()
        return try JSONDecoder().decode(Seen.self, from: Data(contentsOf: output))
    }

    @Test(
        "S3: the documented proxy holds requests in halves, counts connections by certificate, and drops no replica for one bad check"
    )
    func documented() throws {
        let seen = try run()
        // A check of each replica was answered by 503 meanwhile.
        #expect(seen.statuses == [200])
        // 296 connections with one certificate: 256 are held until their time is over, and none reaches a replica.
        #expect(seen.ends == ["408": 256, "refused": 40])
        #expect(seen.halves == 0)
        #expect(seen.flooder == 0 && seen.afterwards == 200)
        #expect(seen.neighbour.allSatisfy { $0 == 200 })
        // What a till writes into X-Till itself is not believed.
        #expect(seen.tills == ["till-1", "till-2"])
        // Replicas that are sick for good, and one that is gone.
        #expect(seen.nobody == 421)
        #expect(seen.lost <= 3)
    }
}
