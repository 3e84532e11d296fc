// SPDX-License-Identifier: Apache-2.0
/// A text for people. Its name is the key in the message files.
public enum TextKey: Hashable, Sendable {
    case errorMessage(ErrorCode), errorResolution(ErrorCode)
    /// The same without a word about payments (requirement 31); only for errors whose usual text has such a word.
    case neutralMessage(ErrorCode), neutralResolution(ErrorCode)
    /// For a code that this version does not know.
    case unknownErrorMessage, unknownErrorResolution
    case decline(DeclineReason)
    case cardholder(CardholderMessage)
    /// Only for actions that ask something of the customer.
    case action(LoyaltyResult.CustomerAction)
    /// Only for events that a customer is told of.
    case event(EventName)
    /// What whoever has started a payment from a command is told meanwhile.
    case progress(ProgressWord)
    /// The words of a command's result.
    case summary(SummaryWord)
    /// How the daemon is, and what waits there.
    case status(StatusPhrase)
    case state(TransactionState)
    /// What can be offered after a payment that failed.
    case next(NextStep)
    case helpTitle(HelpTopic)
    /// Paragraphs.
    case helpText(HelpTopic)
    case holding(HoldingPlace)
    case receipt(ReceiptWord)
    /// The words of an end of day's report.
    case report(ReportWord)
    case openEntry(OpenEntry.Kind)
    case decimalSeparator, dateTime

    /// What stands in braces in a text: `{amount}`.
    public enum Placeholder: String, CaseIterable, Sendable {
        case address, amount, clock, code, command, date, day, frequency, month, name, note, payments, percent, year
    }

    public var name: String {
        switch self {
        case .errorMessage(let code): "error.\(code.rawValue).message"
        case .errorResolution(let code): "error.\(code.rawValue).resolution"
        case .neutralMessage(let code): "error.\(code.rawValue).neutralMessage"
        case .neutralResolution(let code): "error.\(code.rawValue).neutralResolution"
        case .unknownErrorMessage: "error.unknown.neutralMessage"
        case .unknownErrorResolution: "error.unknown.neutralResolution"
        case .decline(let reason): "decline.\(reason.rawValue)"
        case .cardholder(let message): "cardholder.\(message.rawValue)"
        case .action(let action): "action.\(action.rawValue)"
        case .event(let event): "event.\(event.rawValue)"
        case .progress(let word): "progress.\(word.rawValue)"
        case .summary(let word): "summary.\(word.rawValue)"
        case .status(let word): "status.\(word.rawValue)"
        case .state(let state): "state.\(state.rawValue)"
        case .next(let step): "next.\(step.rawValue)"
        case .helpTitle(let topic): "help.\(topic.rawValue).title"
        case .helpText(let topic): "help.\(topic.rawValue).text"
        case .holding(let place): "holding.\(place.rawValue)"
        case .receipt(let word): "receipt.\(word.rawValue)"
        case .report(let word): "report.\(word.rawValue)"
        case .openEntry(let kind): "report.open.\(kind.rawValue)"
        case .decimalSeparator: "format.decimalSeparator"
        case .dateTime: "format.dateTime"
        }
    }

    /// The message of the till in the browser that says the same; `nil` for a text that has a key of its own.
    public var tillName: String? {
        switch self {
        case .decline(let reason): "reason.\(reason.rawValue)"
        case .next(let step): "next.\(step.rawValue)"
        case .summary(.readKept): "till.readKept"
        case .cardholder(.approved): "approved"
        case .cardholder(.welcome): "welcome"
        case .cardholder(.presentCard), .event(.readReadyForTap): "hold"
        case .event(.readRetry): "again"
        case .event(.readRemoveCard): "read"
        case .event(.linkOpened): "link"
        case .receipt(.digital): "receipt"
        case .receipt(.copyCustomer): "till.customerCopy"
        case .receipt(.copyMerchant): "till.merchantCopy"
        case .receipt(.order): "day.order"
        case .receipt(.tip): "till.tip"
        case .receipt(.released): "word.released"
        case _: nil
        }
    }

    /// Keys that have a text, in the language's own file or in the till's.
    ///
    /// - Parameter language: those that are not complete lack what an administrator or a programmer reads.
    public static func required(in language: Language) -> [TextKey] {
        let codes = ErrorCode.allCases.filter { language.isComplete || $0.isToldAtTill }
        return [.unknownErrorMessage, .unknownErrorResolution, .decimalSeparator, .dateTime]
            + codes.flatMap { [.errorMessage($0), .errorResolution($0)] }
            + DeclineReason.allCases.map(TextKey.decline) + CardholderMessage.allCases.map(TextKey.cardholder)
            + LoyaltyResult.CustomerAction.allCases.filter { $0 != .nothing }.map(TextKey.action)
            + [.readReadyForTap, .readRetry, .readRemoveCard, .linkOpened].map(TextKey.event)
            + ProgressWord.allCases.map(TextKey.progress)
            + SummaryWord.allCases.map(TextKey.summary) + StatusPhrase.allCases.map(TextKey.status)
            + TransactionState.allCases.map(TextKey.state)
            + NextStep.allCases.map(TextKey.next)
            + HelpTopic.allCases.flatMap { [.helpTitle($0), .helpText($0)] }
            + HoldingPlace.allCases.map(TextKey.holding) + ReceiptWord.allCases.map(TextKey.receipt)
            + ReportWord.allCases.map(TextKey.report) + OpenEntry.Kind.allCases.map(TextKey.openEntry)
    }

    /// Keys that a file may have; all files have the same of them, where they have the error.
    public static func optional(in language: Language) -> [TextKey] {
        let codes = ErrorCode.allCases.filter { language.isComplete || $0.isToldAtTill }
        return codes.flatMap { [.neutralMessage($0), .neutralResolution($0)] }
    }
}

/// Where on a reader the card is held.
public enum HoldingPlace: String, CaseIterable, Sendable {
    case copperLoop, stick, lights, top, behindSlot, besideDisplay, besideSlot, symbol
}

/// The words of a receipt.
public enum ReceiptWord: String, CaseIterable, Sendable {
    case test, date, terminal, order, number, requested, notCharged, pending
    case application, entry, verification, account, defaultAccount, approvalCode, sequenceNumber, reference
    case signature, statement, digital, scanToPay, payUntil, toPay, notSupported, kernel
    case titlePayment, titlePreauthorization, titleRefund, titleRelease, titleCheck, titleLink
    case copyCustomer, copyMerchant
    case total, totalRefunded, totalReserved
    case entryChip, entryStripe
    case verificationNone, verificationDevice, verificationSignature, verificationOnlinePIN
    case statusApproved, statusCardValid, statusPartiallyApproved, statusDeclined, statusStored, statusUnknown
    case statusReversed, statusCancelled, statusNotCompleted, statusOpen
    case restDue, nothingCharged, nothingRefunded, notYetApproved, doNotRepeat, noLongerCounts, confirmationPending
    case seePhone
    /// `{note}` is the item's own note, `{date}` the day of the first payment.
    case firstOn
    case dueLater, amountPending
    case instalments, membership, reserved, reservedUpTo, surchargeAmount, surchargePercent, reservationReleased
    case weekly, monthly, yearly
    /// What became of the sum since its approval.
    case tip, held, released, pendingCapture, pendingRefund, statusReleased
    /// Of a refund: which payment it gives back.
    case ofSale
    /// Over an address in letters.
    case receiptAt, payAt
    /// The number under which a till reverses.
    case receiptNumber
}

/// The words of an end of day's report: short, for a narrow roll of paper.
public enum ReportWord: String, CaseIterable, Sendable {
    case endOfDay, copy, test, payments, ofThisTips, reversed, refunds, corrected, held, released, handedOver, net
    case declined, cancelledCount, openTitle, openMore
    /// What the payment service says of the day.
    case service, serviceAsked, serviceBalanced, serviceDiffers, serviceUnconfirmed, serviceContradiction
    case ours, theirs, elsewhere, settled, dayOpen, dayClosed
}
