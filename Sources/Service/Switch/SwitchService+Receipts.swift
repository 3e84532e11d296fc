// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Envelope
import Logging
import PSPAPI
import PaymentValues
import PostgreSQL

/// Receipts that go to a customer's address. The address is opened here, handed to the program that sends receipts, and written down nowhere.
extension SwitchService {
    /// - Parameter key: of this wish alone: under it the receipt of one transaction is handed on, and no other.
    func sendReceipt(
        _ delivery: ReceiptDelivery, key: String, merchant: String?
    ) async throws(DatabaseError) -> SwitchAnswer {
        guard let outlet else { return .error(403, .receiptSendingNotSupported) }
        guard delivery.mode == mode else { return .error(403, .pspRefused, field: "mode") }
        guard var order = try await receiptOrder(delivery.id), merchant == nil || merchant == order.merchant else {
            return .error(404, .transactionUnknown, field: "id")
        }
        guard ["approved", "declined", "reversed"].contains(order.state) else {
            return .error(403, .receiptNotAvailable, field: "id")
        }
        let opened: SecretBytes
        do throws(OpeningRefusal) { opened = try await keys.open(delivery.envelope) } catch {
            switch error {
            case .busy: return .busy
            case .unavailable: return .unknown
            case .unknownKey, .unreadable: return .error(400, .requestInvalidField, field: "envelope")
            }
        }
        let bytes = opened.withSpan { span in span.indices.map { span[$0] } }
        guard let address = try? WireJSON.decode(ReceiptAddress.self, from: bytes),
            address.isFit(for: delivery.id, at: now().milliseconds / 1_000)
        else { return .error(400, .requestInvalidField, field: "envelope") }
        switch try await store.askForReceipt(key, of: delivery.id.text, merchant: order.merchant) {
        case .other: return .reused
        case .taken: return SwitchAnswer(200, ReceiptDeliveryAnswer(id: delivery.id))
        case .open: break
        }
        (order.email, order.phone, order.language) = (address.email, address.phone, delivery.language)
        switch await outlet.send(order, key: key) {
        case .taken:
            try await store.noteReceiptTaken(key, merchant: order.merchant)
            return SwitchAnswer(200, ReceiptDeliveryAnswer(id: delivery.id))
        case .refused(let status):
            logger.warning(
                "a receipt was refused by the program that sends them",
                metadata: ["id": "\(delivery.id)", "status": "\(status)"])
            return .error(403, .pspRefused)
        case .unreached:
            logger.error("the program that sends receipts cannot be reached: see --receipts")
            return .busy
        case .unknown:
            logger.error("the program that sends receipts has not said whether it takes one")
            return .unknown
        }
    }

    /// - Returns: what a receipt says of it; `nil` for what there is not.
    private func receiptOrder(_ id: TransactionID) async throws(DatabaseError) -> ReceiptOrder? {
        if let known = try await store.payment(id.text) {
            guard let amount = try known.money else { return nil }
            let card = known.row["last4"].map { ReceiptOrder.Card(scheme: known.row["scheme"], last4: $0) }
            return ReceiptOrder(
                transaction: id.text, merchant: known.merchant, kind: known.row.text("kind"), amount: amount,
                state: known.state, card: card, approvalCode: known.row["approval"],
                decidedAt: known.row["decided"].map(ReceiptOrder.time))
        }
        // A linked refund is a transaction at the till, and an operation here.
        guard let known = try await store.operation(id.text), known.kind == "refund",
            let currency = Currency(known.row.text("currency"))
        else { return nil }
        return ReceiptOrder(
            transaction: id.text, merchant: known.merchant, kind: known.kind,
            amount: Money(value: try known.row.whole("amount"), currency: currency), state: known.state,
            decidedAt: known.row["decided"].map(ReceiptOrder.time))
    }
}
