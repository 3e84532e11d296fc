// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import PaymentValues
import Synchronization

@testable import TapDaemon

/// An adapter on a real socket whose answers a test decides.
final class ScriptedAdapter: Sendable {
    /// A request as it arrived.
    struct Seen: Sendable {
        let method: HTTPMethod
        let path: [String]
        let key: String?
        let body: [UInt8]
        let at: Timestamp
        /// What had arrived before.
        let before: [HTTPMethod: [[String]]]

        var text: String { String(decoding: body, as: UTF8.self) }

        /// How many requests of that method, whose path ends so, came earlier.
        func earlier(_ method: HTTPMethod, _ last: String = "authorizations") -> Int {
            (before[method] ?? []).count { $0.last == last }
        }
    }

    private let seen = Mutex<[Seen]>([])

    /// All requests but those about health, keys and profile.
    var requests: [Seen] { seen.withLock { $0 } }

    fileprivate func note(_ request: HTTPRequest) -> Seen {
        seen.withLock { all in
            let new = Seen(
                method: request.method, path: request.path, key: request.fields.only("Idempotency-Key"),
                body: request.body, at: .now,
                before: Dictionary(grouping: all, by: \.method).mapValues { $0.map(\.path) })
            all.append(new)
            return new
        }
    }
}

extension HTTPResponse {
    static func text(_ status: Int, _ text: String) -> HTTPResponse { .json(status, Array(text.utf8)) }
}

/// Serves such an adapter for the length of `body`.
func withAdapter(
    in folder: TestFolder, at name: String = "psp.sock", keyLife: Int64? = nil, limits: HTTPLimits = HTTPLimits(),
    connections: ConnectionCount? = nil,
    health: String = #"{"status":"ok","protocolVersions":["v1"],"supports":["sale"]}"#,
    answer: @escaping @Sendable (ScriptedAdapter.Seen) -> HTTPResponse,
    _ body: (ScriptedAdapter) async throws -> Void
) async throws {
    let adapter = ScriptedAdapter()
    let server = HTTPServer(
        socket: try ListeningSocket(path: "\(folder.path)/\(name)"), limits: limits, logger: Shop.quiet,
        connections: connections
    ) {
        if $0.path.last == "health" {
            let life = keyLife.map { #","keyLife":\#($0)}"# } ?? "}"
            return .text(200, health.dropLast() + life)
        }
        if $0.path.last == "keys" || $0.path.last == "profile" { return .text(404, "{}") }
        return answer(adapter.note($0))
    }
    async let end: Void = server.run()
    var failure: (any Error)?
    do { try await body(adapter) } catch { failure = error }
    server.shutDown(grace: .zero)
    try await end
    if let failure { throw failure }
}
