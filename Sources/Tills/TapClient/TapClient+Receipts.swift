// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
public import POSAPI
public import PaymentValues
public import Receipt

extension TapClient {
    /// The receipt of a transaction that has come to its end.
    ///
    /// - Parameter language: `nil` for the one that the request named for its customer, else English.
    /// - Throws: `receipt.not_available` while the end is open, and for reads of passes.
    public func receipt(
        of id: TransactionID, copy: Receipt.Copy = .customer, language: Language? = nil
    ) async throws(TapClientError) -> Receipt {
        var request = HTTPClientRequest(.get, Self.target(id, copy, language))
        request.fields.set("Accept", "application/json")
        return try await call(request)
    }

    /// The same for a printer, in lines of at most `width` characters.
    public func receiptText(
        of id: TransactionID, copy: Receipt.Copy = .customer, language: Language? = nil, width: Int = 42,
        withCode: Bool = false
    ) async throws(TapClientError) -> String {
        let code = withCode ? "&code=blocks" : ""
        var request = HTTPClientRequest(.get, Self.target(id, copy, language) + "&width=\(width)\(code)")
        request.fields.set("Accept", "text/plain")
        return try await text(request)
    }

    /// The same as the commands of a receipt printer (ESC/POS), to be sent to it as they are.
    public func receiptCommands(
        of id: TransactionID, copy: Receipt.Copy = .customer, language: Language? = nil, width: Int = 42
    ) async throws(TapClientError) -> [UInt8] {
        var request = HTTPClientRequest(.get, Self.target(id, copy, language) + "&width=\(width)")
        request.fields.set("Accept", "application/vnd.nfc-tap.escpos")
        return try await bytes(request)
    }

    /// Whether a request would be accepted just now. Nothing is written down, and no card is asked for.
    public func check(_ request: TransactionRequest) async throws(TapClientError) -> DryRunAnswer {
        var request = request
        request.dryRun = true
        let fields: HTTPFields = ["Content-Type": "application/json", "Idempotency-Key": TransactionID().text]
        return try await call(
            HTTPClientRequest(.post, "/v1/transactions", fields: fields, body: try Self.encode(request)))
    }

    private static func target(_ id: TransactionID, _ copy: Receipt.Copy, _ language: Language?) -> String {
        "/v1/transactions/\(id)/receipt?copy=\(copy.rawValue)" + (language.map { "&language=\($0.rawValue)" } ?? "")
    }
}
