// SPDX-License-Identifier: Apache-2.0
import PSPAPI
import PaymentValues

/// The rules of what follows an approval. A hold is ten times the amount of the check, so that parts of it are whole amounts.
extension CheckBench {
    private func held() async throws(Complaint) -> TransactionID {
        try await approved(.preauth, times: 10).request.id
    }

    private func demandApproved(_ answer: AdapterOperationAnswer?, _ what: String) throws(Complaint) {
        guard answer?.outcome == .approved else {
            throw Complaint("\(what) was \(answer?.outcome.rawValue ?? "refused"), not approved")
        }
    }

    private func demandRefused(_ answer: AdapterOperationAnswer?, _ what: String) throws(Complaint) {
        guard let answer, answer.outcome != .declined else { return }
        throw Complaint("\(what) was \(answer.outcome.rawValue)")
    }

    private func captureRequest(_ value: Int64) -> CaptureRequest {
        CaptureRequest(id: OperationID(), mode: .test, amount: money(value), final: true)
    }

    func checkUnknownOperation() async throws(Complaint) {
        let status = try await status(ofOperation: OperationID().text).status
        guard status == 404 else { throw Complaint("an operation that never came: answered with \(status)") }
    }

    func checkCapture() async throws(Complaint) {
        let answer = try await capture(amount.value * 6, of: try await held())
        try demandApproved(answer, "a capture of a part")
    }

    func checkOperationAnswer(_ rule: CheckRule) async throws(Complaint) {
        let payment = try await held()
        let request = captureRequest(amount.value * 6)
        let answer = try await settled("captures", on: payment, request, key: request.id.text)
        guard let answer else { throw Complaint("a capture of a part was refused") }
        if rule == .operationID, answer.id != request.id { throw Complaint("the answer has another id") }
        guard rule == .operationAmount else { return }
        guard answer.outcome != .partial else { throw Complaint("a capture was carried out in part") }
        guard answer.amountDone.map({ $0 == request.amount }) ?? true else {
            throw Complaint("\(request.amount) was asked for; amountDone is another amount")
        }
    }

    func checkOperationRepeat() async throws(Complaint) {
        let payment = try await held()
        let request = captureRequest(amount.value * 6)
        let first = try await settled("captures", on: payment, request, key: request.id.text)
        for _ in 0..<3 {
            let reply = try await operate("captures", on: payment, request, key: request.id.text)
            guard reply.status == 200, reply.message == first else {
                throw Complaint("sent again: answered with \(reply.status) and not with the first answer")
            }
        }
    }

    func checkOperationOtherBody() async throws(Complaint) {
        let payment = try await held()
        var request = captureRequest(amount.value * 2)
        _ = try await settled("captures", on: payment, request, key: request.id.text)
        request.amount = money(amount.value * 3)
        let status = try await operate("captures", on: payment, request, key: request.id.text).status
        guard status == 422 else { throw Complaint("another body under the same key was answered with \(status)") }
    }

    func checkOperationQuery() async throws(Complaint) {
        let payment = try await held()
        let request = captureRequest(amount.value * 6)
        let first = try await settled("captures", on: payment, request, key: request.id.text)
        for _ in 0..<3 {
            let reply = try await status(ofOperation: request.id.text)
            guard reply.status == 200, reply.message == first else {
                throw Complaint("asked by GET: answered with \(reply.status) and not with the first answer")
            }
        }
    }

    func checkCaptureBounded() async throws(Complaint) {
        let (request, answer) = try await approved(.preauth, times: 10)
        let limit = max(request.amount.value, answer.maximumCapture?.value ?? 0)
        try demandRefused(try await capture(limit + 1, of: request.id), "a capture of more than can be captured")
    }

    func checkCaptureOnce() async throws(Complaint) {
        let payment = try await held()
        try demandApproved(try await capture(amount.value * 6, of: payment), "a final capture")
        try demandRefused(try await capture(amount.value, of: payment), "a capture after the final one")
    }

    func checkCaptureSeveral() async throws(Complaint) {
        let payment = try await held()
        for _ in 0..<2 {
            let answer = try await capture(amount.value * 4, of: payment, final: false)
            try demandApproved(answer, "a capture that is not final")
        }
        let answer = try await capture(amount.value * 4, of: payment, final: false)
        try demandRefused(answer, "a capture of more than was left")
    }

    func checkAdjustment() async throws(Complaint) {
        let payment = try await held()
        let request = AdjustmentRequest(id: OperationID(), mode: .test, total: money(amount.value * 12))
        let answer = try await settled("adjustments", on: payment, request, key: request.id.text)
        try demandApproved(answer, "an adjustment")
        try demandRefused(
            try await capture(amount.value * 12 + 1, of: payment), "a capture of more than the adjusted total")
        try demandApproved(try await capture(amount.value * 12, of: payment), "a capture of the adjusted total")
    }

    func checkRelease() async throws(Complaint) {
        let payment = try await held()
        func release(_ value: Int64) async throws(Complaint) -> AdapterOperationAnswer? {
            let request = ReleaseRequest(id: OperationID(), mode: .test, amount: money(value))
            return try await settled("releases", on: payment, request, key: request.id.text)
        }
        try demandApproved(try await release(amount.value * 6), "a release of a part")
        try demandRefused(try await release(amount.value * 5), "a release of more than was left")
        let answer = try await capture(amount.value * 5, of: payment)
        try demandRefused(answer, "a capture of what had been released")
    }

    func checkRefund() async throws(Complaint) {
        let (request, _) = try await approved(times: 3)
        try demandApproved(try await refund(amount.value, of: request.id), "a refund of a part")
    }

    func checkRefundBounded() async throws(Complaint) {
        let (request, _) = try await approved(times: 3)
        try demandRefused(try await refund(amount.value * 4, of: request.id), "a refund of more than was captured")
        try demandApproved(try await refund(amount.value * 2, of: request.id), "a refund of a part")
        try demandRefused(try await refund(amount.value * 2, of: request.id), "a refund of more than was left")
        try demandApproved(try await refund(amount.value, of: request.id), "a refund of the rest")
    }

    /// Who cannot compare cards declines them all.
    func checkRefundOtherCard() async throws(Complaint) {
        let (payment, _) = try await approved(times: 3)
        func refund(_ card: String) async throws(Complaint) -> AdapterOperationAnswer? {
            let read = try TestSale.make(
                money(amount.value), type: .refund, id: TransactionID(), recipient: recipient,
                reader: try TestSale.reader(with: card))
            let request = RefundRequest(
                id: read.id, mode: .test, amount: read.amount, card: .same, authorization: read)
            return try await settled("refunds", on: payment.id, request, key: read.id.text)
        }
        try demandRefused(try await refund("mastercard"), "a refund with another card")
        if let answer = try await refund("visa"), answer.outcome == .declined, answer.reason == .otherCard {
            throw Complaint("a refund with the card of the payment was declined as another card's")
        }
        let spent = try await self.refund(amount.value * 2, of: payment.id)
        try demandApproved(spent, "a refund of what nobody had given back")
    }

    func checkRefundReversal() async throws(Complaint) {
        let (request, _) = try await approved(times: 3)
        let id = TransactionID()
        try demandApproved(try await refund(amount.value * 3, of: request.id, id: id), "a refund of all")
        let message = ReversalRequest(reason: .customerCancel, amount: money(amount.value * 3))
        for _ in 0..<2 {
            let reply = try await post(
                "/v1/authorizations/\(id)/reversals", Self.encode(message), key: id.text, as: ReversalAnswer.self)
            try demandAcknowledged(reply)
        }
        try demandApproved(
            try await refund(amount.value * 3, of: request.id), "a refund after the first was taken back")
    }
}
