// SPDX-License-Identifier: Apache-2.0
import PaymentValues

/// A charge of a stored card.
extension TransactionRequest {
    /// What it may say.
    private static var ofCharge: Set<CodingKeys> {
        [.type, .credential, .agreement, .initiator, .reason, .of, .amount, .order, .allowRepeat, .language, .dryRun]
    }

    init(charge members: KeyedDecodingContainer<CodingKeys>, _ decoder: any Decoder) throws {
        try members.refuse(CodingKeys.allCases.filter { !Self.ofCharge.contains($0) }, decoder)
        self.init(type: .charge, amount: try members.decode(Money.self, forKey: .amount))
        let wish = ChargeOptions(
            try members.decode(StoredCardID.self, forKey: .credential),
            under: try members.decode(AgreementID.self, forKey: .agreement),
            try members.decode(ChargeOptions.Initiator.self, forKey: .initiator),
            try members.decode(ChargeOptions.Reason.self, forKey: .reason),
            of: try members.decodeIfPresent(TransactionID.self, forKey: .of))
        charge = wish
        order = try members.decodeIfPresent(String.self, forKey: .order)
        allowRepeat = try members.decodeIfPresent(Bool.self, forKey: .allowRepeat)
        language = try members.decodeIfPresent(String.self, forKey: .language)
        dryRun = try members.decodeIfPresent(Bool.self, forKey: .dryRun)
        if let code = amount.refusalAsTotal { throw decoder.refusal(code, at: CodingKeys.amount) }
        if wish.reason.needsOriginal, wish.of == nil {
            throw decoder.refusal(.requestMissingField, at: CodingKeys.of)
        }
        if !wish.reason.needsOriginal, wish.of != nil {
            throw decoder.refusal(.requestFieldNotApplicable, at: CodingKeys.of)
        }
        try checkCommon(decoder)
    }
}
