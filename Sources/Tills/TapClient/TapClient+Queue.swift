// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
public import POSAPI
public import PaymentValues

/// Store and forward.
extension TapClient {
    /// What is stored and not answered yet.
    public func queue() async throws(TapClientError) -> QueueStatus {
        try await call(HTTPClientRequest(.get, "/v1/queue"))
    }

    /// Forwards at once what waits, and returns what waits then.
    @discardableResult
    public func flushQueue() async throws(TapClientError) -> QueueStatus {
        try await call(HTTPClientRequest(.post, "/v1/queue/flush"))
    }

    /// Opens a batch of the oldest stored payments, for administrators. One is open at a time, and what is in it is not
    /// forwarded.
    ///
    /// - Parameter size: at most so many, 1…100; 100 without it.
    /// - Throws: `queue.empty`, `queue.batch_open`.
    public func openBatch(size: Int? = nil) async throws(TapClientError) -> QueueBatch {
        try await callWithBody("/v1/queue/batches", BatchRequest(size: size))
    }

    /// The open batch again: its first answer may have been lost.
    /// - Throws: `queue.batch_closed`, `queue.batch_unknown`.
    public func batch(_ id: String) async throws(TapClientError) -> QueueBatch {
        try await call(HTTPClientRequest(.get, "/v1/queue/batches/\(HTTPClientRequest.percentEncoded(id))"))
    }

    /// Puts the payments of the open batch back; loses none.
    /// - Throws: `queue.batch_closed`, `queue.batch_unknown`.
    public func resetBatch(_ id: String) async throws(TapClientError) -> BatchAnswer {
        try await call(
            HTTPClientRequest(.post, "/v1/queue/batches/\(HTTPClientRequest.percentEncoded(id))/reset"))
    }

    /// Lets the payments of the open batch go, against the payment service's receipt.
    ///
    /// - Parameter token: the receipt, a JWS in compact form.
    /// - Throws: `queue.token_invalid`, `queue.token_expired`, `queue.token_mismatch` where it is for another batch.
    public func resolveBatch(_ id: String, token: String) async throws(TapClientError) -> BatchAnswer {
        try await callWithBody(
            "/v1/queue/batches/\(HTTPClientRequest.percentEncoded(id))/resolve", BatchResolution(token: token))
    }

    /// Declines a stored payment, within a minute of its tap. Nobody is charged then.
    /// - Throws: `queue.decline_too_late`, `queue.in_batch`, `queue.not_stored`.
    @discardableResult
    public func decline(_ id: TransactionID) async throws(TapClientError) -> Transaction {
        try await call(HTTPClientRequest(.post, "/v1/transactions/\(id)/decline"))
    }

    /// Payments that nobody can end by proof, the oldest first.
    public func openItems() async throws(TapClientError) -> OpenItemList {
        try await call(HTTPClientRequest(.get, "/v1/open-items"))
    }

    /// Says how an open item ended, for administrators.
    ///
    /// - Parameters:
    ///   - amount: with `charged`, how much that was, where it was less than what was asked for.
    ///   - note: where that is known from, in one line, without a card number.
    /// - Throws: `open_item.not_open`, `open_item.ended`, `open_item.already_settled`, `open_item.amount_impossible`,
    ///   `auth.admin_required`.
    @discardableResult
    public func settle(
        _ id: TransactionID, as outcome: Settlement.Outcome, amount: Money? = nil, note: String
    ) async throws(TapClientError) -> Transaction {
        let demand = SettlementRequest(outcome, amount: amount, note: note)
        return try await callWithBody("/v1/open-items/\(id)/settlement", demand)
    }

    func callWithBody<Message: Decodable>(
        _ target: String, _ body: some Encodable
    ) async throws(TapClientError) -> Message {
        try await call(
            HTTPClientRequest(
                .post, target, fields: ["Content-Type": "application/json"], body: try Self.encode(body)))
    }
}
