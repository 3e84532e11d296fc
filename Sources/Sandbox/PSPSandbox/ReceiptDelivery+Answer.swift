// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Envelope
import PSPAPI
import PaymentValues

extension ReceiptDelivery {
    /// Opens a customer's address as a service that sends receipts has to, and sends nothing. The address is kept nowhere.
    func answer(from sandbox: isolated Sandbox) -> SandboxAnswer {
        guard sandbox.features.contains(.receipt) else { return .error(403, .receiptSendingNotSupported) }
        guard let plaintext = try? JWE.open(envelope, with: sandbox.key),
            let address = try? WireJSON.decode(
                ReceiptAddress.self, from: plaintext.withSpan { bytes in bytes.indices.map { bytes[$0] } })
        else { return .error(400, .requestInvalidField, field: "envelope") }
        guard address.isFit(for: id, at: sandbox.now().milliseconds / 1_000) else {
            return .error(400, .requestInvalidField, field: "envelope")
        }
        return SandboxAnswer(200, ReceiptDeliveryAnswer(id: id))
    }
}
