// SPDX-License-Identifier: Apache-2.0
import PaymentValues

/// A refund that names a payment.
extension TransactionRequest {
    /// What it may say.
    private static var ofLinkedRefund: Set<CodingKeys> {
        [.type, .of, .card, .amount, .reason, .order, .language, .dryRun]
    }

    /// What one may say besides for which a card is read.
    private static var ofRead: Set<CodingKeys> {
        [.lane, .lanes, .group, .deadline, .notAfter, .detached, .preferredApplications]
    }

    /// Whether a card is read for it.
    public var asksForCard: Bool {
        type != .charge && !type.isPaidElsewhere
            && (of == nil || card.map { $0 != RefundCardRule.none } ?? false)
    }

    init(refund members: KeyedDecodingContainer<CodingKeys>, _ decoder: any Decoder) throws {
        self.init(
            type: .refund, amount: try members.decodeIfPresent(Money.self, forKey: .amount) ?? Money.none)
        of = try members.decode(TransactionID.self, forKey: .of)
        card = try members.decodeIfPresent(RefundCardRule.self, forKey: .card)
        let allowed = asksForCard ? Self.ofLinkedRefund.union(Self.ofRead) : Self.ofLinkedRefund
        try members.refuse(CodingKeys.allCases.filter { !allowed.contains($0) }, decoder)
        refundReason = try members.decodeIfPresent(String.self, forKey: .reason)
        order = try members.decodeIfPresent(String.self, forKey: .order)
        language = try members.decodeIfPresent(String.self, forKey: .language)
        lane = try members.decodeIfPresent(String.self, forKey: .lane)
        lanes = try members.decodeIfPresent([String].self, forKey: .lanes)
        group = try members.decodeIfPresent(String.self, forKey: .group)
        deadline = members.contains(.deadline) ? try members.decodeWhole(Int.self, forKey: .deadline) : nil
        notAfter = try members.decodeTimeWithZone(forKey: .notAfter, decoder)
        detached = try members.decodeIfPresent(Bool.self, forKey: .detached)
        preferredApplications = try members.decodeIfPresent([String].self, forKey: .preferredApplications)?
            .map { $0.uppercased() }
        dryRun = try members.decodeIfPresent(Bool.self, forKey: .dryRun)
        try checkLinkedRefund(decoder)
    }

    private func checkLinkedRefund(_ decoder: any Decoder) throws {
        if amount != Money.none, let code = amount.refusalAsTotal { throw decoder.refusal(code, at: CodingKeys.amount) }
        // Another card than that of the payment: somebody has to say why.
        if card == .any, refundReason == nil { throw decoder.refusal(.requestMissingField, at: CodingKeys.reason) }
        if let refundReason {
            guard (1...Limits.orderLength).contains(refundReason.unicodeScalars.count), refundReason.isNote else {
                throw decoder.refusal(.requestInvalidField, at: CodingKeys.reason)
            }
        }
        try checkCommon(decoder)
    }
}
