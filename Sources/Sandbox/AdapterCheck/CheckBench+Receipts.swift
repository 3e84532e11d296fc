// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Envelope
import PSPAPI
import PaymentValues

/// The rules of receipts that go to a customer's address. It is one at which nobody is (RFC 2606).
extension CheckBench {
    private static let address = "adapter-check@example.com"

    private func delivery(_ id: TransactionID) throws(Complaint) -> ReceiptDelivery {
        let address = ReceiptAddress(
            txn: id.text, exp: Timestamp.now.milliseconds / 1_000 + 300, email: Self.address)
        guard let envelope = try? JWE.seal(SecretBytes(Self.encode(address)), to: recipient) else {
            throw Complaint("nothing can be sealed to the adapter's key")
        }
        return ReceiptDelivery(id: id, mode: .test, envelope: envelope, language: "en")
    }

    private func send(_ delivery: ReceiptDelivery, key: String) async throws(Complaint) -> Reply<ReceiptDeliveryAnswer>
    {
        try await post("/v1/receipts", Self.encode(delivery), key: key, as: ReceiptDeliveryAnswer.self)
    }

    private func demandTaken(_ delivery: ReceiptDelivery, key: String, _ when: String) async throws(Complaint) {
        let reply = try await send(delivery, key: key)
        guard reply.message?.id == delivery.id else {
            throw Complaint(
                "the receipt, \(when), was answered with \(reply.status)\(Self.unread(reply)), or another id")
        }
    }

    func checkReceipt() async throws(Complaint) {
        try await demandTaken(delivery(approved().request.id), key: TransactionID().text, "sent once")
    }

    func checkReceiptRepeat() async throws(Complaint) {
        let (delivery, key) = (try delivery(try await approved().request.id), TransactionID().text)
        try await demandTaken(delivery, key: key, "sent once")
        try await demandTaken(delivery, key: key, "sent again")
    }

    func checkReceiptOtherTransaction() async throws(Complaint) {
        let key = TransactionID().text
        try await demandTaken(delivery(approved().request.id), key: key, "sent once")
        let reply = try await send(delivery(approved().request.id), key: key)
        guard reply.status == 422 else {
            throw Complaint("the same key for another transaction was answered with \(reply.status)")
        }
    }

    func checkReceiptEnvelope() async throws(Complaint) {
        var delivery = try delivery(try await approved().request.id)
        delivery.envelope = "adapter-check"
        let reply = try await send(delivery, key: TransactionID().text)
        guard (400..<500).contains(reply.status) else {
            throw Complaint("an envelope that cannot be opened was answered with \(reply.status)")
        }
    }
}
