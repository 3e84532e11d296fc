// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PSPAPI
import PaymentValues

/// What was read for a refund that names a payment.
extension TransactionMachine {
    /// From here on it is an operation, which is asked about for as long as it takes and never taken back for want of an answer.
    /// If this process dies before the operation has written `sent`, nothing has left, and the next start ends it.
    mutating func passRefundRead(_ read: Read) {
        var event = event(.paymentAuthorizing)
        event.card = read.request.card
        write(
            [sealed(read)],
            next: .leaving(
                [.publish(completed(read.request.card)), .publish(event), .show(.read)],
                at: now.after(Self.settleTime)),
            then: [.passRefundRead(read.request), .settleReader])
    }
}
