// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
public import POSAPI
public import PaymentValues

/// Stored cards and agreements: for administrators and the group of `[credentials]`.
extension TapClient {
    /// - Parameter token: the payment service's name for the card; `nil` for all that are not deleted, newest first.
    public func storedCards(token: String? = nil) async throws(TapClientError) -> [StoredCard] {
        let query = token.map { "?token=\(HTTPClientRequest.percentEncoded($0))" } ?? ""
        let list: StoredCardList = try await call(HTTPClientRequest(.get, "/v1/credentials\(query)"))
        return list.credentials
    }

    public func storedCard(_ id: StoredCardID) async throws(TapClientError) -> StoredCard {
        try await call(HTTPClientRequest(.get, "/v1/credentials/\(id)"))
    }

    /// No charge from here on; the payment service is made to forget the card until it says that it has.
    public func deleteStoredCard(_ id: StoredCardID) async throws(TapClientError) -> StoredCard {
        try await call(HTTPClientRequest(.delete, "/v1/credentials/\(id)"))
    }

    /// A further agreement about a stored card.
    ///
    /// - Parameter key: the same again makes no second agreement.
    public func agree(
        _ terms: AgreementTerms, about id: StoredCardID, key: String
    ) async throws(TapClientError) -> Agreement {
        try await call(
            HTTPClientRequest(
                .post, "/v1/credentials/\(id)/agreements",
                fields: ["Content-Type": "application/json", "Idempotency-Key": key], body: try Self.encode(terms)))
    }

    /// No charge under it from here on.
    public func endAgreement(_ id: AgreementID) async throws(TapClientError) -> Agreement {
        try await call(HTTPClientRequest(.delete, "/v1/agreements/\(id)"))
    }
}
