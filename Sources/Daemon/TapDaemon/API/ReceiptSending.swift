// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Configuration
import Envelope
import Journal
import LocalHTTP
import POSAPI
import PSPAPI
import PaymentValues

/// Receipts that go to a customer's address by the payment service. The address leaves this machine sealed, and is written down nowhere.
extension PointOfSaleAPI {
    /// Whether the payment service has said that it sends receipts.
    var sendsReceipts: Bool { health.supports?.contains(AdapterFeature.receipt.rawValue) == true }

    /// `POST /v1/transactions/{id}/receipt`.
    func sendReceipt(
        _ id: TransactionID, _ request: HTTPRequest, _ caller: Caller
    ) async throws(ErrorBody) -> HTTPResponse {
        let wish = try request.message(ReceiptRequest.self)
        let transaction = try await known(id)
        try await requireOwn(id, caller)
        guard transaction.type != .loyalty, transaction.state.isSettled, transaction.mode == settings.snapshot.mode
        else {
            throw ErrorBody(.receiptNotAvailable, transaction: id)
        }
        let services = runner.paymentServices
        let service: AskedService?
        do throws(JournalError) { service = try await runner.service(of: id) } catch {
            throw ErrorBody(ErrorCode(error), transaction: id)
        }
        // Another service knows nothing of the transaction, and its customer has given it no address.
        guard sendsReceipts, service ?? services.current == services.current,
            let link = services.link(to: services.current),
            let envelope = seal(wish, of: id)
        else { throw ErrorBody(.receiptSendingNotSupported, transaction: id) }
        let delivery = ReceiptDelivery(
            id: id, mode: transaction.mode, envelope: envelope, language: transaction.details?.language)
        if let refusal = await link.deliver(delivery) { throw ErrorBody(refusal, transaction: id) }
        return HTTPResponse(status: 204)
    }

    /// `nil` where there is no key to seal it to.
    private func seal(_ wish: ReceiptRequest, of id: TransactionID) -> String? {
        let seconds = profiles.now().milliseconds / 1_000
        var address = ReceiptAddress(txn: id.text, exp: seconds &+ ReceiptDelivery.life)
        switch wish.address {
        case .email(let email): address.email = email
        case .phone(let phone): address.phone = phone
        }
        guard let plaintext = try? WireJSON.encode(address) else { return nil }
        return try? JWE.seal(SecretBytes(plaintext), to: profiles.currentTerminal().recipient)
    }
}

extension ReceiptDelivery {
    /// Seconds for which an envelope may wait to be opened.
    fileprivate static let life: Int64 = 300
}

extension AdapterLink {
    /// Hands a customer's wish for a receipt on. Where nobody knows whether it was taken, it is sent a second time with the same key and the same bytes, which a
    /// payment service carries out once.
    ///
    /// - Returns: why it was not taken; `nil` where it was.
    fileprivate func deliver(_ delivery: ReceiptDelivery) async -> ErrorCode? {
        guard let body = try? WireJSON.encode(delivery) else { return .pspRefused }
        let key = TransactionID().text
        let first = await deliver(delivery, body, key)
        return first == .pspUnreachable ? await deliver(delivery, body, key) : first
    }

    private func deliver(_ delivery: ReceiptDelivery, _ body: [UInt8], _ key: String) async -> ErrorCode? {
        do throws(HTTPClientError) {
            let answer = try await client.send(post("/v1/receipts", key, body), answerWithin: times.query)
            switch answer.status {
            // Only a body that says so: a proxy answers 200, too.
            case 200, 202:
                let said = try? WireJSON.decode(ReceiptDeliveryAnswer.self, from: answer.body)
                return said?.id == delivery.id ? nil : .pspUnreachable
            case 400...499: return .pspRefused
            default: return .pspUnreachable
            }
        } catch {
            return .pspUnreachable
        }
    }
}
