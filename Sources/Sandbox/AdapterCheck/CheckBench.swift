// SPDX-License-Identifier: Apache-2.0
import Envelope
import LocalHTTP
import PSPAPI
import PaymentValues

/// What an adapter did that it must not do.
package struct Complaint: Error {
    let text: String

    init(_ text: String) { self.text = text }
}

/// An answer, with what it holds.
struct Reply<Message: Decodable & Equatable & Sendable>: Sendable {
    let status: Int
    let message: Message?
}

/// An adapter at one or several sockets, and the messages that a daemon sends there.
struct CheckBench: Sendable {
    let clients: [HTTPClient]
    let amount: Money
    let recipient: RecipientKey

    /// For an answer.
    let time: Duration

    /// The same message with a member that no version knows.
    static func withUnknownMember(_ body: [UInt8]) -> [UInt8] {
        body.dropLast() + Array(#","x-later":{"known":[false]}}"#.utf8)
    }

    /// - Parameter factor: of the amount of the check.
    func sale(
        _ type: AuthorizationRequest.Kind = .sale, times factor: Int64 = 1, id: TransactionID = TransactionID()
    ) throws(Complaint) -> AuthorizationRequest {
        try TestSale.make(
            Money(value: amount.value * factor, currency: amount.currency), type: type, id: id, recipient: recipient)
    }

    func money(_ value: Int64) -> Money { Money(value: value, currency: amount.currency) }

    /// - Parameter replica: any place in `clients`, also past its end.
    func post<Message: Decodable & Equatable & Sendable>(
        _ target: String, _ body: [UInt8], key: String, at replica: Int = 0, as type: Message.Type
    ) async throws(Complaint) -> Reply<Message> {
        let fields: HTTPFields = ["Content-Type": "application/json", "Idempotency-Key": key]
        return try await send(HTTPClientRequest(.post, target, fields: fields, body: body), replica, type)
    }

    func get<Message: Decodable & Equatable & Sendable>(
        _ target: String, at replica: Int = 0, as type: Message.Type
    ) async throws(Complaint) -> Reply<Message> {
        try await send(HTTPClientRequest(.get, target), replica, type)
    }

    func delete<Message: Decodable & Equatable & Sendable>(
        _ target: String, as type: Message.Type
    ) async throws(Complaint) -> Reply<Message> {
        try await send(HTTPClientRequest(.delete, target), 0, type)
    }

    private func send<Message: Decodable & Equatable & Sendable>(
        _ request: HTTPClientRequest, _ replica: Int, _ type: Message.Type
    ) async throws(Complaint) -> Reply<Message> {
        let what = "\(request.method.rawValue) \(request.target)"
        let answer: HTTPClientAnswer
        do throws(HTTPClientError) {
            answer = try await clients[replica % clients.count].send(request, answerWithin: time)
        } catch {
            throw Complaint("\(what) was not answered: \(error)")
        }
        guard answer.status == 200 || answer.status == 202 else { return Reply(status: answer.status, message: nil) }
        return Reply(status: answer.status, message: try? WireJSON.decode(type, from: answer.body))
    }

    static func encode(_ message: some Encodable) throws(Complaint) -> [UInt8] {
        do throws(WireError) { return try WireJSON.encode(message) } catch { throw Complaint("\(error)") }
    }

    // MARK: - Sales

    func authorize(
        _ request: AuthorizationRequest, at replica: Int = 0
    ) async throws(Complaint) -> Reply<AuthorizationAnswer> {
        try await post(
            "/v1/authorizations", Self.encode(request), key: request.id.text, at: replica, as: AuthorizationAnswer.self)
    }

    func status(of id: TransactionID, at replica: Int = 0) async throws(Complaint) -> Reply<AuthorizationAnswer> {
        try await get("/v1/authorizations/\(id)", at: replica, as: AuthorizationAnswer.self)
    }

    /// The final answer: what is still running is asked about as a daemon does.
    func settled(
        _ request: AuthorizationRequest, at replica: Int = 0
    ) async throws(Complaint) -> AuthorizationAnswer {
        var reply = try await authorize(request, at: replica)
        for _ in 0..<Self.questions {
            let isRunning = reply.status == 202 || reply.status == 409 || reply.message?.outcome == .pending
            guard isRunning else { break }
            await pause()
            reply = try await status(of: request.id, at: replica)
        }
        guard reply.status == 200, let answer = reply.message else {
            throw Complaint("POST /v1/authorizations was answered with \(reply.status)\(Self.unread(reply))")
        }
        return answer
    }

    /// A sale that was approved.
    func approved(
        _ type: AuthorizationRequest.Kind = .sale, times factor: Int64 = 1, at replica: Int = 0
    ) async throws(Complaint) -> (request: AuthorizationRequest, answer: AuthorizationAnswer) {
        let request = try sale(type, times: factor)
        let answer = try await settled(request, at: replica)
        guard answer.outcome == .approved else {
            throw Complaint(
                "\(request.type) over \(request.amount) was answered with \(answer.outcome.rawValue); choose an amount that you approve with --amount"
            )
        }
        return (request, answer)
    }

    /// - Returns: whether it was acknowledged in a way that a daemon takes for one.
    func reverse(_ request: AuthorizationRequest, at replica: Int = 0) async throws(Complaint) -> Reply<ReversalAnswer>
    {
        let message = ReversalRequest(reason: .timeout, amount: request.amount)
        return try await post(
            "/v1/authorizations/\(request.id)/reversals", Self.encode(message), key: request.id.text, at: replica,
            as: ReversalAnswer.self)
    }

    func demandAcknowledged(_ reply: Reply<ReversalAnswer>) throws(Complaint) {
        guard reply.message != nil else {
            throw Complaint(
                "the reversal was answered with \(reply.status)\(Self.unread(reply)); a daemon sends it for ever")
        }
    }

    // MARK: - Operations

    func operate(
        _ part: String, on payment: TransactionID, _ message: some Encodable, key: String
    ) async throws(Complaint) -> Reply<AdapterOperationAnswer> {
        try await post(
            "/v1/authorizations/\(payment)/\(part)", Self.encode(message), key: key, as: AdapterOperationAnswer.self)
    }

    func status(ofOperation id: String) async throws(Complaint) -> Reply<AdapterOperationAnswer> {
        try await get("/v1/operations/\(id)", as: AdapterOperationAnswer.self)
    }

    /// The final answer; `nil` where it was refused by its status.
    func settled(
        _ part: String, on payment: TransactionID, _ message: some Encodable, key: String
    ) async throws(Complaint) -> AdapterOperationAnswer? {
        var reply = try await operate(part, on: payment, message, key: key)
        for _ in 0..<Self.questions {
            guard reply.status == 202 || reply.status == 409 || reply.message?.outcome == .pending else { break }
            await pause()
            reply = try await status(ofOperation: key)
        }
        if (400..<500).contains(reply.status) { return nil }
        guard reply.status == 200, let answer = reply.message else {
            throw Complaint("POST …/\(part) was answered with \(reply.status)\(Self.unread(reply))")
        }
        return answer
    }

    func capture(
        _ value: Int64, of payment: TransactionID, final: Bool = true
    ) async throws(Complaint) -> AdapterOperationAnswer? {
        let request = CaptureRequest(id: OperationID(), mode: .test, amount: money(value), final: final)
        return try await settled("captures", on: payment, request, key: request.id.text)
    }

    func refund(
        _ value: Int64, of payment: TransactionID, id: TransactionID = TransactionID()
    ) async throws(Complaint) -> AdapterOperationAnswer? {
        let request = RefundRequest(id: id, mode: .test, amount: money(value))
        return try await settled("refunds", on: payment, request, key: id.text)
    }

    static let questions = 60

    /// Between two questions about what is still running. A cancelled one ends early, which does no harm.
    func pause() async { try? await Task.sleep(for: .milliseconds(500)) }

    static func unread<Message>(_ reply: Reply<Message>) -> String {
        reply.status == 200 || reply.status == 202 ? " and a body that cannot be read" : ""
    }
}
