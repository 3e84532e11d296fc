// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// A server that answers every connection with the same bytes, whatever was asked, in the way a broken one might.
struct ScriptedServer: Sendable {
    enum Ending: Sendable {
        case close
        /// Keeps the connection open, and silent, until the client leaves.
        case stayOpen
    }

    /// Answers one connection after it has read a request's head, and returns the head.
    static func serve(
        at path: String, _ answer: [UInt8], _ ending: Ending, readsFirst: Bool = true,
        _ body: () async throws -> Void
    ) async throws {
        let listener = try listen(at: path)
        let serving = Task {
            try await blocking {
                let connection = RawSocket(descriptor: accept(listener, nil, nil))
                if readsFirst { _ = connection.read(until: "\r\n\r\n") }
                connection.send(answer)
                if ending == .stayOpen { while connection.read() != nil {} }
            }
        }
        try await body()
        _ = shutdown(listener, Int32(SHUT_RDWR))
        _ = try await serving.value
        _ = close(listener)
    }

    static func listen(at path: String, backlog: Int32 = 8) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let bound = try unsafe RawSocket.withAddress(of: path) { unsafe bind(descriptor, $0, $1) }
        guard bound == 0, Glibc.listen(descriptor, backlog) == 0 else {
            throw RawSocket.Failure(call: "bind", code: errno)
        }
        return descriptor
    }
}
