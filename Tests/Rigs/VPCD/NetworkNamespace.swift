// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The network namespace of another process, which threads of this one can enter. Needs root.
public struct NetworkNamespace: Sendable {
    private let process: String
    private var path: String { process + "/ns/net" }

    public init(of process: Int32) { self.process = "/proc/\(process)" }

    /// How many acknowledgements TCP has held back there so far, which costs whoever waits for them up to 44 ms each.
    public func delayedAcknowledgements() throws -> Int {
        let text = try String(contentsOfFile: process + "/net/netstat", encoding: .utf8)
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("TcpExt:") }.map { $0.split(separator: " ") }
        guard rows.count == 2, let column = rows[0].firstIndex(of: "DelayedACKs"), rows[1].indices.contains(column),
            let count = Int(rows[1][column])
        else { throw RigError.unavailable("DelayedACKs") }
        return count
    }

    /// Moves the calling thread, and it alone, for good. Sockets that it opens from then on are there.
    func enter() throws(RigError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system("open \(path)", errno) }
        defer { _ = close(descriptor) }
        // Not in the Glibc module, which is made without GNU extensions.
        typealias SetNS = @convention(c) (Int32, Int32) -> Int32
        guard let symbol = unsafe dlsym(nil, "setns") else { throw .unavailable("setns") }
        let setns = unsafe unsafeBitCast(symbol, to: SetNS.self)
        let networkNamespace: Int32 = 0x4000_0000
        guard setns(descriptor, networkNamespace) == 0 else { throw .system("setns", errno) }
    }
}
