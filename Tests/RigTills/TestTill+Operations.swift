// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import PSPAPI
import PaymentValues
import TestSupport

/// What follows an approval, by the contract's rules: asked for until there is a final answer, under one id.
extension TestTill {
    enum OperationBelief: String, Sendable {
        case approved, declined
        /// There was no final answer in time: it stays an open item.
        case open
    }

    func capture(_ value: Int64, of payment: TransactionID, final: Bool) async throws -> OperationBelief {
        let request = CaptureRequest(id: OperationID(), mode: .test, amount: try Self.euro(value), final: final)
        return try await carryOut("captures", on: payment, request, request.id.text)
    }

    func release(_ value: Int64, of payment: TransactionID) async throws -> OperationBelief {
        let request = ReleaseRequest(id: OperationID(), mode: .test, amount: try Self.euro(value))
        return try await carryOut("releases", on: payment, request, request.id.text)
    }

    func refund(_ value: Int64, of payment: TransactionID) async throws -> OperationBelief {
        let request = RefundRequest(id: TransactionID(), mode: .test, amount: try Self.euro(value))
        return try await carryOut("refunds", on: payment, request, request.id.text)
    }

    private func carryOut(
        _ path: String, on payment: TransactionID, _ message: some Encodable, _ id: String
    ) async throws -> OperationBelief {
        let fields: HTTPFields = ["Content-Type": "application/json", "Idempotency-Key": id]
        let post = HTTPClientRequest(
            .post, "/v1/authorizations/\(payment)/\(path)", fields: fields, body: try WireJSON.encode(message))
        let deadline = ContinuousClock.now.advanced(by: hangLimit)
        var (request, pause) = (post, Duration.milliseconds(150))
        repeat {
            let got = try? await client.send(request, answerWithin: patience)
            if let got, got.status == 200,
                let answer = try? WireJSON.decode(AdapterOperationAnswer.self, from: got.body),
                answer.outcome != .pending
            {
                return answer.outcome == .approved ? .approved : .declined
            }
            // Refused before anything was begun.
            if let got, [400, 403, 422].contains(got.status) { return .declined }
            request = got?.status == 404 ? post : HTTPClientRequest(.get, "/v1/operations/\(id)")
            try await Task.sleep(for: pause)
            pause = min(pause * 2, .seconds(2))
        } while ContinuousClock.now < deadline
        return .open
    }
}
