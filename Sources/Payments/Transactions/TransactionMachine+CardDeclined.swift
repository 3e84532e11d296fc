// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PSPAPI
import PaymentValues

/// The end of a payment whose card, or deny list, said no: nothing is sent. Where the card wanted a PIN that nobody can enter here, what
/// it gave stays in memory, sealed, for minutes: a link or another terminal goes on with it.
extension TransactionMachine {
    /// How long: a minute less than its envelope is good for.
    static let keptReadTime: Duration = .seconds(240)

    mutating func declined(
        _ card: MaskedCard?, _ chip: ChipData?, _ reason: DeclineReason, _ read: KeptRead?
    ) {
        var result = PaymentResult(mode: transaction.mode, outcome: .declined, reason: reason)
        result.next = [.otherCard, .otherMethod, .paymentLink]
        if read != nil {
            (result.reason, result.action) = (.otherInterfaceNeeded, .useOtherTerminal)
            result.next = PaymentResult.nextWithRead
            result.readKeptUntil = now.wall.advanced(bySeconds: Self.keptReadTime.components.seconds)
        }
        var declined = change(.declined)
        (declined.result, declined.card, declined.chip) = (result, card, chip)
        var event = event(.paymentDeclined)
        (event.result, event.card) = (result, card)
        let kept = read.map { Outward.keepRead($0, until: now.after(Self.keptReadTime)) }
        leave([declined], [.publish(self.event(.readCompleted)), .publish(event)], [kept].compactMap(\.self))
    }
}
