// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Codes

/// Whether a card can pay, asked of it: the payment directory first (PPSE, EMV Contactless Book B 3.3.2), then the applications of
/// each provider that has a kernel (ISO/IEC 7816-4, selection by the first bytes of a name). Nothing is asked of what was found.
struct PaymentQuestion: Sendable {
    enum Turn: Sendable {
        case ask(PaymentQuestion)
        case canPay
        case cannotPay
    }

    /// 2PAY.SYS.DDF01, then RIDs.
    private static let names = [Array("2PAY.SYS.DDF01".utf8)] + PaymentNetwork.providersWithKernel

    private var asked = 0

    /// `nil` for a name that is too long for a command; none is.
    var command: CommandAPDU? {
        guard PaymentQuestion.names.indices.contains(asked) else { return nil }
        return try? .select(PaymentQuestion.names[asked])
    }

    /// Only a plain no counts: 6A82, or 6D00 and 6E00 of a card that knows no SELECT. A blocked payment card says 6A81 or 6283.
    ///
    /// - Parameter isCalledMemory: the reader answers for a card that takes no commands, with words of its own such as 6300.
    func received(_ status: StatusWord, isCalledMemory: Bool) -> Turn {
        switch (status.sw1, status.sw2) {
        case (0x6A, 0x82), (0x6D, _), (0x6E, _): break
        case (0x90, _), (0x61, _), (0x62, _), (0x6A, 0x81): return .canPay
        default: if !isCalledMemory { return .canPay }
        }
        var next = self
        next.asked += 1
        return PaymentQuestion.names.indices.contains(next.asked) ? .ask(next) : .cannotPay
    }
}

extension LoyaltyRead {
    /// Whether the card's UID would become a member number.
    var givesNumber: Bool {
        guard let card = outcome.card else { return false }
        return request.programmes.contains { programme in
            if case .number = programme.uid?.memberNumber(of: card) { true } else { false }
        }
    }

    mutating func answered(
        _ turn: PaymentQuestion.Turn, carrier: Int
    ) -> TapStep<LoyaltySignal, LoyaltyOutcome> {
        switch turn {
        case .ask(let question):
            guard let command = question.command else { return answered(.canPay, carrier: carrier) }
            phase = .asking(question, carrier: carrier)
            return Step(.transmit(command))
        case .canPay: mark(.unsuitable(.paymentCard)) { $0.uid != nil }
        case .cannotPay: readUID()
        }
        return tryCarrier(carrier + 1)
    }

    /// A card that was torn away in that moment, or memory that knows no commands: what is silent twice is memory.
    mutating func lostUnderQuestion(carrier: Int) -> TapStep<LoyaltySignal, LoyaltyOutcome> {
        guard isCalledMemory, let uid = outcome.card?.uid else {
            outcome.payment = .afterRemoval
            mark(.cardLost) { $0.uid != nil }
            return conclude()
        }
        if silent == uid { return answered(.cannotPay, carrier: carrier) }
        silent = uid
        guard mayTryAgain() else { return answered(.canPay, carrier: carrier) }
        phase = .activating
        return TapStep(.activate(fieldOffMilliseconds: 0))
    }

    mutating func readUID() {
        guard let card = outcome.card else { return }
        for (index, programme) in request.programmes.enumerated() {
            guard let membership = programme.uid else { continue }
            switch membership.memberNumber(of: card) {
            case .number(let number): set(index, .delivered, .uid(number))
            case .refused(let reason): set(index, .unsuitable(reason))
            }
        }
    }
}
