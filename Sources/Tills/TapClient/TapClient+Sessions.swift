// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
public import POSAPI
public import PaymentValues

/// Sessions of lanes that stand alone, for machines. Each call can be sent again: the same wish changes nothing.
extension TapClient {
    /// At most 100, the latest first.
    ///
    /// - Parameter isOpen: only those whose money may still move.
    /// - Throws: `auth.role_missing` for who is neither machine nor cashier.
    public func sessions(
        isOpen: Bool = false, lane: String? = nil, reference: String? = nil
    ) async throws(TapClientError) -> SessionList {
        var query = ["open=\(isOpen)"]
        if let lane { query.append("lane=\(HTTPClientRequest.percentEncoded(lane))") }
        if let reference { query.append("reference=\(HTTPClientRequest.percentEncoded(reference))") }
        return try await call(HTTPClientRequest(.get, "/v1/sessions?\(query.joined(separator: "&"))"))
    }

    /// - Throws: `transaction.unknown` where there is none.
    public func session(_ id: TransactionID) async throws(TapClientError) -> Session {
        try await call(HTTPClientRequest(.get, "/v1/sessions/\(id)"))
    }

    /// How a lane that stands alone stands.
    ///
    /// - Throws: `standing.not_configured` for a lane that does not.
    public func standing(_ lane: String) async throws(TapClientError) -> StandingLane {
        try await call(HTTPClientRequest(.get, "/v1/lanes/\(HTTPClientRequest.percentEncoded(lane))/standing"))
    }

    /// Says that the machine has the session, under the machine's own name for it.
    ///
    /// - Throws: `session.claimed` under another name, `session.over` where the approval was taken back.
    public func claim(_ id: TransactionID, reference: String) async throws(TapClientError) -> Session {
        try await callWithBody("/v1/sessions/\(id)/claim", ClaimRequest(reference: reference))
    }

    /// Takes what was used and gives the rest back.
    ///
    /// - Parameters:
    ///   - amount: in minor units of the session's currency; 0 gives all of it back.
    ///   - upTo: takes what is held where that is less.
    /// - Returns: the session; `settling` where nobody knows yet how the capture ends.
    /// - Throws: `capture.too_much` with the limit, `session.not_claimed`, `session.over`.
    public func commit(
        _ id: TransactionID, amount: Int64, upTo: Bool = false
    ) async throws(TapClientError) -> Session {
        try await callWithBody("/v1/sessions/\(id)/commit", CommitRequest(amount: amount, upTo: upTo))
    }

    /// Gives all of it back.
    ///
    /// - Throws: `session.over` where it was committed.
    public func releaseSession(_ id: TransactionID) async throws(TapClientError) -> Session {
        try await call(HTTPClientRequest(.post, "/v1/sessions/\(id)/release"))
    }

    /// Moves the time when the hold goes back to so many seconds from now.
    ///
    /// - Throws: `session.not_claimed`, `session.over`.
    public func keep(_ id: TransactionID, seconds: Int) async throws(TapClientError) -> Session {
        try await callWithBody("/v1/sessions/\(id)/keep", KeepRequest(seconds: seconds))
    }

    /// Holds so much in all, in minor units.
    ///
    /// - Throws: `amount.too_large` with the limit, `session.not_claimed`, `session.over`.
    public func increase(_ id: TransactionID, total: Int64) async throws(TapClientError) -> Session {
        try await callWithBody("/v1/sessions/\(id)/increase", IncreaseRequest(total: total))
    }
}
