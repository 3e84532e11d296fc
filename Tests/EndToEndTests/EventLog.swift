// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What a shop's daemon tells those who listen, from the moment of listening on.
final class EventLog {
    private let process = Process()
    private let file: URL
    private let shop: Shop

    init(of shop: Shop) throws {
        self.shop = shop
        file = shop.folder.appending(path: "events-\(UUID().uuidString.prefix(8)).log")
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        process.executableURL = URL(filePath: "/usr/bin/curl")
        process.arguments = ["-sSNi", "--unix-socket", shop.posSocket, "http://localhost/v1/events"]
        process.standardOutput = try FileHandle(forWritingTo: file)
        try process.run()
        // Nothing that comes later is missed once the head of the answer is there.
        try shop.eventually("an event stream") { self.text.contains("200 OK") }
    }

    deinit {
        // Not SIGTERM: a program started from a thread of the pool has that blocked, and curl does not change it.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    func count(_ name: String) -> Int { text.split(separator: "\n").count { $0 == "event: \(name)" } }

    /// Waits until events of that name have come more often than `before` times.
    func awaits(_ name: String, beyond before: Int = 0) throws {
        try shop.eventually(name) { self.count(name) > before }
    }

    private var text: String { (try? String(contentsOf: file, encoding: .utf8))?.replacing("\r", with: "") ?? "" }
}
