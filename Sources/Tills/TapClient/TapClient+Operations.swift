// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
public import POSAPI
public import PaymentValues

/// What becomes of an approved payment: captures, adjustments, releases, refunds that name it.
extension TapClient {
    /// Takes what a payment holds, or a part of it.
    ///
    /// - Parameters:
    ///   - key: the same again makes no second capture.
    ///   - wait: seconds to wait for its end.
    /// - Throws: `capture.too_much`, `capture.expired`, `operation.pending` and the like.
    public func capture(
        _ id: TransactionID, _ demand: CaptureRequest = CaptureRequest(), key: String, wait: Int = 30
    ) async throws(TapClientError) -> PaymentOperation {
        try await operate(id, "captures", try Self.encode(demand), key, wait)
    }

    /// Has another sum held from now on, or the same one for longer.
    public func adjust(
        _ id: TransactionID, _ demand: AdjustmentRequest, key: String, wait: Int = 30
    ) async throws(TapClientError) -> PaymentOperation {
        try await operate(id, "adjustments", try Self.encode(demand), key, wait)
    }

    /// Gives up what a payment holds, or a part of it.
    public func release(
        _ id: TransactionID, _ demand: ReleaseRequest = ReleaseRequest(), key: String, wait: Int = 30
    ) async throws(TapClientError) -> PaymentOperation {
        try await operate(id, "releases", try Self.encode(demand), key, wait)
    }

    /// Gives a payment back without its card, or a part of it.
    ///
    /// - Parameter request: of type `refund`, with `of`.
    /// - Throws: `refund.too_much`, `refund.not_captured` and the like.
    public func refund(
        _ request: TransactionRequest, key: String, wait: Int = 30
    ) async throws(TapClientError) -> Transaction {
        try await call(
            post("/v1/transactions", try Self.encode(request), key, wait), answerWithin: answerTime + .seconds(wait))
    }

    /// What a capture, an adjustment or a release would do. Nothing is written down, and the payment service is not asked.
    ///
    /// - Throws: what the request itself would be refused with.
    public func tryCapture(
        _ id: TransactionID, _ demand: CaptureRequest = CaptureRequest()
    ) async throws(TapClientError) -> OperationDryRun {
        try await call(post("/v1/transactions/\(id)/captures", try Self.encode(Tried(demand)), TransactionID().text, 0))
    }

    public func tryAdjust(
        _ id: TransactionID, _ demand: AdjustmentRequest
    ) async throws(TapClientError) -> OperationDryRun {
        try await call(
            post("/v1/transactions/\(id)/adjustments", try Self.encode(Tried(demand)), TransactionID().text, 0))
    }

    public func tryRelease(
        _ id: TransactionID, _ demand: ReleaseRequest = ReleaseRequest()
    ) async throws(TapClientError) -> OperationDryRun {
        try await call(post("/v1/transactions/\(id)/releases", try Self.encode(Tried(demand)), TransactionID().text, 0))
    }

    /// The same of a refund.
    ///
    /// - Parameter request: of type `refund`, with `of`.
    public func tryRefund(_ request: TransactionRequest) async throws(TapClientError) -> OperationDryRun {
        var request = request
        request.dryRun = true
        return try await call(post("/v1/transactions", try Self.encode(request), TransactionID().text, 0))
    }

    public func operation(_ id: OperationID, wait: Int = 0) async throws(TapClientError) -> PaymentOperation {
        try await call(
            HTTPClientRequest(.get, "/v1/operations/\(id)?wait=\(wait)"), answerWithin: answerTime + .seconds(wait))
    }

    /// Operations on a payment, oldest first.
    public func operations(of id: TransactionID) async throws(TapClientError) -> [PaymentOperation] {
        let list: OperationList = try await call(HTTPClientRequest(.get, "/v1/transactions/\(id)/operations"))
        return list.operations
    }

    /// Takes an operation back, if nothing of it has been sent.
    public func withdraw(_ id: OperationID) async throws(TapClientError) -> WithdrawalAnswer {
        try await call(HTTPClientRequest(.delete, "/v1/operations/\(id)"))
    }

    /// Says how an operation without an answer has ended, for administrators.
    public func resolve(
        _ id: OperationID, _ demand: ResolutionRequest
    ) async throws(TapClientError) -> PaymentOperation {
        try await callWithBody("/v1/operations/\(id)/resolution", demand)
    }

    private func operate(
        _ id: TransactionID, _ call: String, _ body: [UInt8], _ key: String, _ wait: Int
    ) async throws(TapClientError) -> PaymentOperation {
        try await self.call(
            post("/v1/transactions/\(id)/\(call)", body, key, wait), answerWithin: answerTime + .seconds(wait))
    }

    private func post(_ path: String, _ body: [UInt8], _ key: String, _ wait: Int) -> HTTPClientRequest {
        HTTPClientRequest(
            .post, path,
            fields: ["Content-Type": "application/json", "Idempotency-Key": key, "Prefer": "wait=\(wait)"], body: body)
    }
}
