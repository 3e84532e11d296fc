// SPDX-License-Identifier: Apache-2.0
import AdapterCheck
import Envelope
import LocalHTTP
import PSPAPI
import PaymentValues
import ReaderVirtual
import TestSupport

/// A till with the rules of the contract: it waits, asks, sends again what was never seen, and takes back what it cannot be sure of.
struct TestTill: Sendable {
    let client: HTTPClient
    /// What it seals to.
    var recipient = RecipientKey.sandboxTest
    /// As long as it waits before it takes a payment back.
    var patience = Duration.seconds(20)

    /// Whose sales these are, and the reader with its card; by default each sale has a new card.
    var terminal = AuthorizationRequest.Terminal(id: "00000001", merchant: "adapter-check", capabilities: [])
    var reader: VirtualReaderControl?

    init(_ path: String) { client = HTTPClient(path: path) }

    enum Belief: Equatable, Sendable {
        /// In minor units.
        case approved(Int64)
        case declined
        case reversed
    }

    struct Got: Sendable {
        let status: Int
        let answer: AuthorizationAnswer?
    }

    func sale(_ value: Int64, _ type: AuthorizationRequest.Kind = .sale) async throws -> AuthorizationRequest {
        try TestSale.make(
            try Self.euro(value), type: type, id: TransactionID(), recipient: recipient, reader: reader,
            terminal: terminal)
    }

    static func euro(_ value: Int64) throws -> Money {
        guard let currency = Currency("EUR") else { throw Hung(description: "no such currency") }
        return Money(value: value, currency: currency)
    }

    /// The body of an answer at another socket.
    func text(_ path: String, _ target: String) async throws -> String {
        let answer = try await HTTPClient(path: path).send(HTTPClientRequest(.get, target), answerWithin: patience)
        return String(decoding: answer.body, as: UTF8.self)
    }

    func status(_ path: String, _ target: String) async throws -> Int {
        try await HTTPClient(path: path).send(HTTPClientRequest(.get, target), answerWithin: patience).status
    }

    /// As `GET /v1/keys` gives them.
    func keys() async throws -> RecipientKeySet {
        let answer = try await client.send(HTTPClientRequest(.get, "/v1/keys"), answerWithin: patience)
        return try RecipientKeySet(json: answer.body)
    }

    func post(_ request: AuthorizationRequest) async throws -> Got {
        let fields: HTTPFields = ["Content-Type": "application/json", "Idempotency-Key": request.id.text]
        return try await send(
            HTTPClientRequest(.post, "/v1/authorizations", fields: fields, body: try WireJSON.encode(request)))
    }

    private func send(_ request: HTTPClientRequest) async throws -> Got {
        let answer = try await client.send(request, answerWithin: patience)
        let message = answer.status == 200 ? try? WireJSON.decode(AuthorizationAnswer.self, from: answer.body) : nil
        return Got(status: answer.status, answer: message)
    }

    /// Pays, and says what it believes in the end.
    ///
    /// - Parameter cancels: takes an approval back, as a customer who changes his mind.
    func pay(_ request: AuthorizationRequest, cancels: Bool) async throws -> Belief {
        let deadline = ContinuousClock.now.advanced(by: patience)
        var (isDoubtful, pause) = (false, Duration.milliseconds(150))
        var got = try? await post(request)
        while ContinuousClock.now < deadline {
            if let answer = got?.answer, answer.outcome != .pending {
                switch answer.outcome {
                case .approved, .partial:
                    if cancels { return try await reverse(request, .customerCancel) }
                    return .approved(answer.amountApproved?.value ?? request.amount.value)
                case .declined, .pending: return isDoubtful ? try await reverse(request, .timeout) : .declined
                }
            }
            // 421 to the first request: handed on to nobody.
            if got?.status == 421, !isDoubtful { return .declined }
            if got == nil || (got?.status ?? 0) >= 500 { isDoubtful = true }
            try await Task.sleep(for: pause)
            pause = min(pause * 2, .seconds(2))
            got = try? await send(HTTPClientRequest(.get, "/v1/authorizations/\(request.id)"))
            if got?.status == 404 { got = try? await post(request) }
        }
        return try await reverse(request, .timeout)
    }

    func reverse(_ request: AuthorizationRequest, _ reason: ReversalRequest.Reason) async throws -> Belief {
        let fields: HTTPFields = ["Content-Type": "application/json", "Idempotency-Key": request.id.text]
        let body = try WireJSON.encode(ReversalRequest(reason: reason))
        var pause = Duration.milliseconds(200)
        try await eventually("an acknowledgement of a reversal") {
            let answer = try? await client.send(
                HTTPClientRequest(.post, "/v1/authorizations/\(request.id)/reversals", fields: fields, body: body),
                answerWithin: .seconds(10))
            if let answer, [200, 202].contains(answer.status) { return true }
            try await Task.sleep(for: pause)
            pause = min(pause * 2, .seconds(3))
            return false
        }
        return .reversed
    }
}
