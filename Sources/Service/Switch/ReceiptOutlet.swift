// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import PSPAPI
import PaymentValues

/// What a program that sends receipts is told: a transaction as the books have it, and where the customer wants its receipt.
struct ReceiptOrder: Encodable, Equatable, Sendable {
    struct Card: Encodable, Equatable, Sendable {
        var scheme: String?
        var last4: String
    }

    var transaction: String
    var merchant: String
    /// `sale`, `preauth` or `refund`.
    var kind: String
    var amount: Money
    /// `approved`, `declined` or `reversed`.
    var state: String
    var card: Card?
    var approvalCode: String?
    /// RFC 3339, of the decision.
    var decidedAt: String?
    /// BCP 47.
    var language: String?
    var email: String?
    var phone: String?

    /// A time as the database writes it, `2026-11-28 19:05:44.1+00`, in RFC 3339.
    static func time(_ text: String) -> String {
        let zone = text.suffix(3)
        let isWhole = zone.first == "+" || zone.first == "-"
        return text.replacing(" ", with: "T") + (isWhole ? ":00" : "")
    }
}

/// The operator's own program that sends receipts: HTTP at a Unix socket, `POST /receipts`, with the key of the wish in `Idempotency-Key`.
struct ReceiptOutlet: Sendable {
    enum Outcome: Equatable, Sendable {
        case taken
        /// Nothing will be sent; its status.
        case refused(Int)
        /// Nobody took it: it was handed on to nobody.
        case unreached
        case unknown
    }

    private let client: HTTPClient
    private let patience: Duration

    init(path: String, answerWithin patience: Duration = .seconds(5)) {
        (client, self.patience) = (HTTPClient(path: path), patience)
    }

    func send(_ order: ReceiptOrder, key: String) async -> Outcome {
        guard let body = try? WireJSON.encode(order) else { return .refused(0) }
        let fields: HTTPFields = ["Content-Type": "application/json", "Idempotency-Key": key]
        do throws(HTTPClientError) {
            let answer = try await client.send(
                HTTPClientRequest(.post, "/receipts", fields: fields, body: body), answerWithin: patience)
            return switch answer.status {
            case 200...299: .taken
            case 400...499: .refused(answer.status)
            default: .unknown
            }
        } catch {
            if case .notConnected = error { return .unreached }
            return .unknown
        }
    }
}
