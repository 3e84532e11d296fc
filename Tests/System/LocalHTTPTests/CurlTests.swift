// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocalHTTP
import TestSupport
import Testing

/// The same server as people at a shell see it.
@Suite(
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl"), "needs curl"), .timeLimit(.minutes(5)))
struct CurlTests {
    /// Standard output and the exit code.
    private func curl(_ path: String, _ arguments: String...) async throws -> (String, Int32) {
        try await blocking {
            let run = try Peer.run(
                "/usr/bin/curl", ["--silent", "--max-time", "20", "--unix-socket", path] + arguments)
            return (run.output, run.status)
        }
    }

    @Test func `curl asks and is answered`() async throws {
        try await withServer(handler: echo) { path, _ in
            let (text, code) = try await curl(path, "--json", "{\"a\":1}", "http://localhost/v1/transactions?wait=1")
            #expect(text == "POST [\"v1\", \"transactions\"] [wait=1] {\"a\":1}")
            #expect(code == 0)
        }
    }

    @Test func `curl reads events as they come and sees the end of the stream`() async throws {
        let queue = EventQueue()
        for number in 0..<3 { queue.send(ServerSentEvent(id: "\(number)", name: "n", data: "d")) }
        queue.finish()
        try await withServer(handler: { _ in .events(queue) }) { path, _ in
            let (text, code) = try await curl(path, "--no-buffer", "http://localhost/v1/events")
            #expect(text == "id: 0\nevent: n\ndata: d\n\nid: 1\nevent: n\ndata: d\n\nid: 2\nevent: n\ndata: d\n\n")
            #expect(code == 0)
        }
    }

    @Test func `curl is told what is too large, also when it would ask first`() async throws {
        try await withServer(handler: echo) { path, _ in
            try await withFolder { folder in
                try Data(count: 2_000_000).write(to: URL(fileURLWithPath: folder + "/large"))
                let (text, code) = try await curl(
                    path, "--data-binary", "@\(folder)/large", "--write-out", "%{http_code}", "http://localhost/")
                #expect(text.hasSuffix("413"), "\(text)")
                #expect(text.contains("http.bodyTooLarge"))
                #expect(code == 0)
            }
        }
    }

    @Test func `curl speaks HTTP/1.0 in vain`() async throws {
        try await withServer(handler: echo) { path, _ in
            let (text, _) = try await curl(path, "--http1.0", "--write-out", "%{http_code}", "http://localhost/")
            #expect(text.hasSuffix("505"), "\(text)")
        }
    }
}
