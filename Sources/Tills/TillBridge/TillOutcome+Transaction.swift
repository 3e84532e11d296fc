// SPDX-License-Identifier: Apache-2.0
import ECR
import Linux
import POSAPI
import PaymentValues
import TapClient

extension TillOutcome {
    /// What the end of a transaction is for a till; `nil` while it has none.
    ///
    /// - Parameter receipts: for the till's printer, of an approval.
    init?(_ transaction: Transaction, in language: Language, receipts: [TillReceipt] = []) {
        switch transaction.state {
        case .created, .preparing, .armed, .reading, .sealed, .sent, .unknown: return nil
        case .approved: self = .approved(TillApproval(transaction, receipts: receipts))
        case .declined:
            var refusal = TillRefusal(declined: transaction.result, in: language)
            refusal.aid = transaction.chip?.aid
            self = .notPaid(refusal)
        case .cancelled:
            let isByPerson = [.administrator, .shutdown, .cashier].contains(transaction.cancelledBy)
            self = .notPaid(TillRefusal(isByPerson ? .cancelledByOperator : .cancelledByCustomer))
        case .failed: self = .notPaid(TillRefusal(transaction.error, in: language))
        case .reversing, .reversed: self = .notPaid(TillRefusal(.takenBack))
        // Cannot come of what a till asks for: nothing is stored that has to be confirmed.
        case .stored, .delivered, .completed: self = .notPaid(TillRefusal(.failed))
        }
    }
}

extension TillApproval {
    init(_ transaction: Transaction, receipts: [TillReceipt]) {
        let end = transaction.history.last { $0.state == .approved }?.at ?? transaction.updatedAt
        self.init(
            amount: (transaction.result?.amountApproved ?? transaction.amount).value,
            maskedCard: transaction.card.map { Self.hidden($0.masked) },
            authorisation: transaction.result?.approvalCode, aid: transaction.chip?.aid,
            network: transaction.card.flatMap { TillNetwork(rawValue: $0.scheme) },
            reference: transaction.number.map(String.init) ?? transaction.id.text,
            time: TillTime(end), receipts: receipts)
    }

    /// With a star for each hidden digit, whichever sign hides it, and no blanks.
    private static func hidden(_ masked: String) -> String {
        String(masked.compactMap { $0 == " " ? nil : $0.isASCII && $0.isNumber ? $0 : "*" })
    }
}

extension TillTime {
    /// The time of day in the shop.
    init(_ timestamp: Timestamp) {
        let local = LocalTime(at: Int(timestamp.milliseconds / 1_000))
        self.init(
            month: UInt8(clamping: local.month), day: UInt8(clamping: local.day), hour: UInt8(clamping: local.hour),
            minute: UInt8(clamping: local.minute), second: UInt8(clamping: local.second))
    }
}

extension TillRefusal {
    init(declined result: PaymentResult?, in language: Language) {
        let reason = result?.reason
        let code = result?.responseCode.flatMap { UInt8($0) }.flatMap { (1...99).contains($0) ? $0 : nil }
        switch reason {
        // What accuses the customer is told to nobody at a till.
        case .lostCard, .stolenCard, .suspectedFraud:
            self.init(.declined, hostCode: 5, text: DeclineReason.notAccepted.text(in: language))
        case .referToIssuer: self.init(.callIssuer, hostCode: code, text: reason?.text(in: language))
        case .invalidCard: self.init(.notAccepted, hostCode: code, text: reason?.text(in: language))
        case .expiredCard: self.init(.expiredCard, hostCode: code, text: reason?.text(in: language))
        case .notPermitted: self.init(.notPermitted, hostCode: code, text: reason?.text(in: language))
        case .limitExceeded: self.init(.limitExceeded, hostCode: code, text: reason?.text(in: language))
        case .otherInterfaceNeeded: self.init(.otherInterface, hostCode: code, text: reason?.text(in: language))
        case .hostTimeout, .issuerUnavailable: self.init(.hostTimeout, text: reason?.text(in: language))
        case .cancelledAfterSending: self.init(.cancelledByOperator, text: reason?.text(in: language))
        case .notConfirmed, .reversed: self.init(.takenBack, text: reason?.text(in: language))
        case .notAccepted, .invalidTransaction, .insufficientFunds, .wrongPIN, .cardDeclined, .notAcceptedHere,
            .linkExpired, .handoverExpired, nil:
            self.init(.declined, hostCode: code, text: reason?.text(in: language))
        }
    }

    init(_ error: ErrorDetail?, in language: Language) {
        let code = error.flatMap { ErrorCode(rawValue: $0.code) }
        self.init(TillRefusal.reason(code), text: language.text(error))
    }

    private static func reason(_ code: ErrorCode?) -> Reason {
        switch code {
        case .readerBusy, .orderUnresolved, .orderPaid: .busy
        case .readerDetached, .readerInUse, .readerServiceUnavailable, .readerServiceMismatch, .readerAccessDenied,
            .readerWorkerMissing, .readerFaulty, .readerModelUnsupported, .readerUnsupported, .laneUnknown:
            .readerGone
        case .authRoleMissing, .authDelegationRefused, .laneNotYours, .termsNotAccepted, .termsRevoked,
            .termsOtherVersion, .sessionNotOwner,
            .offlineNotAllowed:
            .notPermitted
        case .amountCurrencyMismatch, .amountCurrencyUnknown, .amountCurrencyNotAccepted: .currency
        case .amountTooLarge, .amountTotalNotPositive: .amount
        case .pspUnreachable, .clockUnbelievable: .serviceAway
        case .pspNoAnswer: .hostTimeout
        case .readTimedOut, .pinTimedOut: .deadline
        case .readCancelled: .cancelledByCustomer
        case .readOtherInterface: .otherInterface
        case .readCardUnsupported: .notAccepted
        default: .failed
        }
    }
}

extension TillProgress {
    /// `nil` for what nobody at a till has to know.
    init?(_ event: Event, in language: Language) {
        let step: Step
        switch event.name {
        case .readReadyForTap: step = .cardAwaited
        case .readCardDetected: step = .cardDetected
        case .readRetry: step = event.message == .seePhone ? .unlockPhone : .cardNotReadable
        case .readRemoveCard: step = .removeCard
        case .readCancelled: step = .cancelled
        case .paymentAuthorizing, .pinRequested: step = .authorising
        case .paymentDeclined: step = .declined
        case .paymentUnknown: step = .unknown
        case .paymentReversed: step = .reversed
        default: return nil
        }
        self.init(step, text: language.text(event))
    }
}
