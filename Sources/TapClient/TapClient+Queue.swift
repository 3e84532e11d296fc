import LocalHTTP
public import Wire

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

    /// Opens a batch of the oldest stored payments. One is open at a time.
    /// - Parameter size: at most so many; 100 without it.
    public func openBatch(size: Int? = nil) async throws(TapClientError) -> QueueBatch {
        try await callWithBody("/v1/queue/batches", BatchRequest(size: size))
    }

    /// The open batch again.
    public func batch(_ id: String) async throws(TapClientError) -> QueueBatch {
        try await call(HTTPClientRequest(.get, "/v1/queue/batches/\(HTTPClientRequest.percentEncoded(id))"))
    }

    /// Puts the payments of the open batch back; loses none.
    public func resetBatch(_ id: String) async throws(TapClientError) -> BatchAnswer {
        try await call(
            HTTPClientRequest(.post, "/v1/queue/batches/\(HTTPClientRequest.percentEncoded(id))/reset"))
    }

    /// Lets the payments of the open batch go, against the payment service's receipt.
    public func resolveBatch(_ id: String, token: String) async throws(TapClientError) -> BatchAnswer {
        try await callWithBody(
            "/v1/queue/batches/\(HTTPClientRequest.percentEncoded(id))/resolve", BatchResolution(token: token))
    }

    /// Declines a stored payment, within a minute.
    @discardableResult
    public func decline(_ id: TransactionID) async throws(TapClientError) -> Transaction {
        try await call(HTTPClientRequest(.post, "/v1/transactions/\(id)/decline"))
    }

    private func callWithBody<Message: Decodable>(
        _ target: String, _ body: some Encodable
    ) async throws(TapClientError) -> Message {
        try await call(
            HTTPClientRequest(
                .post, target, fields: ["Content-Type": "application/json"], body: try Self.encode(body)))
    }
}
