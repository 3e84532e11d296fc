// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
import Receipt

/// The words of a receipt in one language.
struct ReceiptWords {
    let language: Language

    init(_ language: Language) { self.language = language }

    subscript(_ word: ReceiptWord) -> String { language.text(.receipt(word)) }

    func title(of receipt: Receipt) -> String {
        switch receipt.type {
        case .purchase: self[receipt.isReserved ? .titlePreauthorization : .titlePayment]
        case .link where receipt.status == .open: self[.titleLink]
        case .charge, .link, .handover: self[.titlePayment]
        case .refund: self[receipt.description == .preauthorizationRelease ? .titleRelease : .titleRefund]
        case .verification, .loyalty: self[.titleCheck]
        }
    }

    func name(of copy: Receipt.Copy) -> String {
        switch copy {
        case .customer: self[.copyCustomer]
        case .merchant: self[.copyMerchant]
        }
    }

    func total(of receipt: Receipt) -> String {
        guard receipt.status.isCharged else { return self[receipt.status == .open ? .toPay : .notCharged] }
        return switch receipt.type {
        case .refund: self[.totalRefunded]
        case .purchase where receipt.isReserved: self[.totalReserved]
        case .purchase, .charge, .link, .handover, .verification, .loyalty: self[.total]
        }
    }

    func name(of mode: EntryMode) -> String {
        switch mode {
        case .contactlessEMV: self[.entryChip]
        case .contactlessMagstripe: self[.entryStripe]
        }
    }

    func name(of verification: ChipData.Verification) -> String {
        switch verification {
        case .none: self[.verificationNone]
        case .device: self[.verificationDevice]
        case .signature: self[.verificationSignature]
        case .onlinePIN: self[.verificationOnlinePIN]
        }
    }

    /// - Parameter type: a card check has no payment to speak of.
    func name(of status: Receipt.Status, _ type: TransactionType) -> String {
        switch status {
        case .approved: self[type == .verification ? .statusCardValid : .statusApproved]
        case .released: self[.statusReleased]
        case .partiallyApproved: self[.statusPartiallyApproved]
        case .declined: self[.statusDeclined]
        case .open: self[.statusOpen]
        case .stored: self[.statusStored]
        case .unknown: self[.statusUnknown]
        case .reversing, .reversed: self[.statusReversed]
        case .cancelled: self[.statusCancelled]
        case .notCompleted: self[.statusNotCompleted]
        }
    }

    /// What the customer was asked to do and has not done. What the reader's display says at that moment ("hold it here
    /// again") would be late on paper.
    func text(of message: CardholderMessage) -> String {
        message == .seePhone ? self[.seePhone] : message.text(in: language)
    }

    /// What follows from the status, for the reader of the receipt.
    func explanation(of receipt: Receipt) -> [String] {
        if receipt.type == .verification { return [] }
        let words: [ReceiptWord] =
            switch receipt.status {
            case .approved, .open: []
            case .partiallyApproved: [.restDue]
            case .declined, .cancelled, .notCompleted: [receipt.type == .refund ? .nothingRefunded : .nothingCharged]
            case .released: [.nothingCharged]
            case .stored: [.notYetApproved]
            case .unknown: [.doNotRepeat]
            case .reversing: [.noLongerCounts, .confirmationPending]
            case .reversed: [.noLongerCounts]
            }
        return words.map { self[$0] }
    }
}

extension Receipt {
    /// Whether the amount is set aside and not charged.
    fileprivate var isReserved: Bool {
        account?.captured == nil
            && (account?.held != nil || description?.isPreauthorization == true || amountStatus == .preauthorized)
    }
}
