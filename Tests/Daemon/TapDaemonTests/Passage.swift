// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import Synchronization
import TestSupport

@testable import TapDaemon

/// Stands between a daemon and a service that is real: passes on what comes, keeps what was said, and lets a test do
/// otherwise.
final class Passage: Sendable {
    /// What was asked, and what was answered: a status of 0 where nothing was.
    struct Exchange: Sendable {
        let method: HTTPMethod
        let path: [String]
        let key: String?
        let request: String
        let status: Int
        let answer: String
    }

    /// What a test does with a request: `pass` gives the answer of the service.
    typealias Turn = @Sendable (HTTPRequest, _ pass: @Sendable () async -> HTTPResponse) async -> HTTPResponse

    private let kept = Mutex<[Exchange]>([])

    var exchanges: [Exchange] { kept.withLock { $0 } }

    /// Every body that went through, in both directions.
    var text: String { exchanges.map { $0.request + "\n" + $0.answer }.joined(separator: "\n") }

    func count(_ method: HTTPMethod, _ last: String) -> Int {
        exchanges.count { $0.method == method && $0.path.last == last }
    }

    fileprivate func answer(_ request: HTTPRequest, from path: String, _ turn: Turn) async -> HTTPResponse {
        let response = await turn(request) { await Passage.pass(request, to: path) }
        var answer = (status: 0, text: "")
        switch response.body {
        case .bytes(let bytes): answer = (response.status, String(decoding: bytes, as: UTF8.self))
        case .verbatim(let bytes): answer.text = String(decoding: bytes, as: UTF8.self)
        case .secret, .events: break
        }
        kept.withLock {
            $0.append(
                Exchange(
                    method: request.method, path: request.path, key: request.fields.only("Idempotency-Key"),
                    request: request.text ?? "", status: answer.status, answer: answer.text))
        }
        return response
    }

    /// A service that is not there is no answer here either.
    private static func pass(_ request: HTTPRequest, to path: String) async -> HTTPResponse {
        var target = "/" + request.path.joined(separator: "/")
        if !request.query.isEmpty {
            target += "?" + request.query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        }
        var fields = HTTPFields()
        for name in ["Content-Type", "Idempotency-Key"] {
            if let value = request.fields.only(name) { fields.set(name, value) }
        }
        let message = HTTPClientRequest(request.method, target, fields: fields, body: request.body)
        do throws(HTTPClientError) {
            let answer = try await HTTPClient(path: path).send(message, answerWithin: hangLimit)
            return .json(answer.status, answer.body)
        } catch {
            return .nothing
        }
    }
}

extension HTTPResponse {
    /// The connection is closed without a word.
    static var nothing: HTTPResponse { verbatim("") }

    static func verbatim(_ text: String) -> HTTPResponse {
        HTTPResponse(status: 200, body: .verbatim(Array(text.utf8)))
    }
}

/// What listens at `path` passes on to the service at `service`, for the length of `body`.
func withPassage(
    at path: String, to service: String, _ turn: @escaping Passage.Turn = { await $1() },
    _ body: (Passage) async throws -> Void
) async throws {
    let passage = Passage()
    var limits = HTTPLimits()
    (limits.connections, limits.connectionsPerUser, limits.bodyBytes) = (256, 256, 1 << 20)
    let server = HTTPServer(socket: try ListeningSocket(path: path), limits: limits, logger: Shop.quiet) {
        await passage.answer($0, from: service, turn)
    }
    async let end: Void = server.run()
    var failure: (any Error)?
    do { try await body(passage) } catch { failure = error }
    server.shutDown(grace: .zero)
    try await end
    if let failure { throw failure }
}
