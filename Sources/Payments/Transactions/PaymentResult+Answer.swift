// SPDX-License-Identifier: Apache-2.0
public import POSAPI
public import PSPAPI
public import PaymentValues

extension PaymentResult {
    /// What the shop gets to see of the adapter's answer.
    public init(_ answer: AuthorizationAnswer, mode: Mode) {
        let outcome: Outcome =
            switch answer.outcome {
            case .approved: .approved
            case .partial: .partiallyApproved
            case .declined, .pending: .declined
            }
        self.init(mode: mode, outcome: outcome)
        responseCode = answer.responseCode
        approvalCode = answer.approvalCode
        amountApproved = answer.amountApproved
        pspReference = answer.pspReference
        receiptLines = answer.receiptLines
        retry = outcome == .declined ? answer.retry : nil
        receiptURL = answer.receiptURL.flatMap { $0.isCustomerAddress ? $0 : nil }
        guard outcome == .declined else { return }
        reason = answer.responseCode.flatMap(DeclineReason.init(responseCode:))
        next = [.otherCard, .otherMethod, .paymentLink]
        switch answer.action {
        // There is neither a contact slot nor a PIN pad here: never a silent second try.
        case .pinRequired, .useContact:
            action = .useOtherTerminal
            reason = reason ?? .otherInterfaceNeeded
            next = [.otherInterface, .otherCard, .otherMethod]
            guard let end = answer.readKeptUntil else { break }
            (readKeptUntil, next) = (end, Self.nextWithRead)
        case .callIssuer: action = .callIssuer
        case .tryAgain: next = [.retrySameCard, .otherCard, .otherMethod]
        case nil, .some(.none): break
        }
    }

    /// Where another way to pay goes on with what was read.
    static let nextWithRead: [NextStep] = [.otherInterface, .paymentLink, .otherCard, .otherMethod]

    /// Not charged for the shop, and being taken back in case it was booked.
    public static func reversed(_ reason: DeclineReason, mode: Mode) -> PaymentResult {
        var result = PaymentResult(mode: mode, outcome: .declined, reason: reason)
        result.reversal = .pending
        result.next = [.otherMethod]
        return result
    }
}

extension String {
    /// `YYYY-MM`.
    fileprivate var isMonth: Bool {
        let parts = split(separator: "-", omittingEmptySubsequences: false)
        return utf8.count == 7 && parts.count == 2 && parts[0].count == 4
            && parts.allSatisfy { $0.allSatisfy(\.isNumber) }
            && Int(parts[1]).map { (1...12).contains($0) } ?? false
    }
}

extension AuthorizationAnswer {
    /// Whether the answer cannot be one to a demand over `amount`: approved in part without a part, over another amount or
    /// currency, or with a response code that declines.
    func contradicts(_ amount: Money) -> Bool {
        switch outcome {
        case .approved:
            if let approved = amountApproved, approved != amount { return true }
        case .partial:
            guard let approved = amountApproved, approved.currency == amount.currency,
                approved.value > 0, approved.value < amount.value
            else { return true }
        case .declined, .pending: return false
        }
        return responseCode.flatMap(DeclineReason.init(responseCode:)) != nil
    }
}

extension ServiceTerms {
    /// What the answer says of captures and refunds; `nil` where it says nothing. A sum in another currency says nothing.
    init?(_ answer: AuthorizationAnswer, _ amount: Money) {
        let maximum = answer.maximumCapture.flatMap { $0.currency == amount.currency ? $0.value : nil }
        let needsCard = answer.refundCard == .present ? true : nil
        let reference = answer.networkReference.flatMap { $0.isReference(upTo: Limits.orderLength) ? $0 : nil }
        let expires = answer.cardExpires.flatMap { $0.isMonth ? $0 : nil }
        guard answer.captureBefore != nil || maximum != nil || needsCard != nil || reference != nil || expires != nil
        else { return nil }
        self.init(captureBefore: answer.captureBefore, maximumCapture: maximum, refundNeedsCard: needsCard)
        (networkReference, cardExpires) = (reference, expires)
    }
}
