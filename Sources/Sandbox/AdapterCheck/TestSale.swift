// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
package import Envelope
package import PSPAPI
package import PaymentValues
import ReaderCore
package import ReaderVirtual
import TapSession
import TerminalFile

/// A sale with a test card in software, sealed as a daemon seals it.
package enum TestSale {
    /// The terminal of the sales unless another is named.
    package static let terminal = AuthorizationRequest.Terminal(
        id: "00000001", merchant: "adapter-check", capabilities: [])

    /// - Parameters:
    ///   - reader: with a card in its field, whose counter goes on; by default one with a new card.
    ///   - terminal: whose sale it is.
    package static func make(
        _ amount: Money, type: AuthorizationRequest.Kind, id: TransactionID, recipient: RecipientKey,
        now: Timestamp = .now, reader: VirtualReaderControl? = nil,
        terminal: AuthorizationRequest.Terminal = TestSale.terminal
    ) throws(Complaint) -> AuthorizationRequest {
        let date = now.components
        var result: PaymentTapResult?
        do {
            let control = try reader ?? freshCard()
            let tap = PaymentTap(
                authentication: TerminalFile.test.authentication,
                transaction: EMV.Transaction(
                    amount: UInt64(max(0, amount.value)), currency: amount.currency.numeric,
                    exponent: UInt8(clamping: amount.currency.exponent), country: 276,
                    type: type == .refund ? .refund : .purchase,
                    date: EMVDate(year: date.year, month: date.month, day: date.day),
                    time: EMVTime(hour: date.hour, minute: date.minute, second: date.second), sequenceCounter: 1),
                binding: CardRecord.Binding(
                    transaction: id.text, reader: "adapter-check", amount: UInt64(max(0, amount.value)),
                    currency: amount.currency.code, issuedAt: UInt64(max(0, now.milliseconds / 1_000))),
                recipient: recipient, deadlines: TapDeadlines(card: monotonicNow().advanced(byMilliseconds: 5_000)))
            try tap.run(on: VirtualReader(control), cancellation: TapCancellation()) { _ in
            } deliver: {
                result = $0
            }
        } catch {
            throw Complaint("the test card could not be read: \(error)")
        }
        guard let read = result?.read,
            let card = MaskedCard(
                scheme: read.account.scheme, last4: read.account.lastFour, masked: read.account.masked)
        else { throw Complaint("the test card gave no account") }
        return AuthorizationRequest(
            id: id, mode: .test, type: type, amount: amount, entryMode: .contactlessEMV, cvm: .noCVM,
            emv: read.clearTags.hex, card: card, envelope: read.envelope,
            terminal: terminal, order: "adapter-check")
    }

    private static func freshCard() throws -> VirtualReaderControl {
        let control = try VirtualReaderControl { CardCatalogue.card(named: $0) }
        try control.obey("present visa")
        return control
    }

    /// A reader with a new card in its field.
    static func reader(with card: String) throws(Complaint) -> VirtualReaderControl {
        do {
            let control = try VirtualReaderControl { CardCatalogue.card(named: $0) }
            try control.obey("present \(card)")
            return control
        } catch {
            throw Complaint("the test card could not be presented: \(error)")
        }
    }
}
