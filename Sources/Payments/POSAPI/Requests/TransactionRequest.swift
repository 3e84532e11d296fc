// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// Body of `POST /v1/transactions`. Decoding it checks every rule, so that a value of this type can be carried out.
/// It has a stored property for each member.
public struct TransactionRequest: Equatable, Sendable {
    public var type: TransactionType
    /// Name of the lane; `nil` for the only or first one.
    public var lane: String?
    /// Instead of `lane`: several lanes, or the name of a group of the configuration. All of them that are free wait for
    /// the card; the first one decides.
    public var lanes: [String]?
    public var group: String?
    /// What is to be paid or given back; zero for a verification, `.none` for passes alone.
    public var amount: Money
    /// What the amount is made of; their sum is the amount.
    public var items: [Item]?
    public var amountStatus: AmountStatus?
    /// How the amount is captured; with `purchase` only. What is captured later is `preauthorized`.
    public var capture: CaptureOptions?
    /// The card is stored with the payment, as `agreement` says; with `purchase` only.
    public var store: Bool?
    /// Why a card is read without a payment; with `verification` only.
    public var reason: VerificationReason?
    /// How the customer was told that the card is stored; needed with `saveCard`.
    public var consent: String?
    /// What the customer agrees to; needed with `store` and with `saveCard`, where `consent` does not say it.
    public var agreement: AgreementTerms?
    /// With `charge`: which stored card, and why.
    public var charge: ChargeOptions?
    /// With `link` and `handover`: for how long the customer may pay, and where.
    public var link: LinkOptions?
    /// With `refund`: the payment that is given back, or a part of it; without an amount all of it.
    public var of: TransactionID?
    /// With `of`: which card gets the money. No card is asked for where it says nothing, or `none`.
    public var card: RefundCardRule?
    /// With `of`: the till's own words, at most 64 visible characters.
    public var refundReason: String?
    /// A sale of the same order that ended without money, which is tried once more. Amount, items, order and the like are those
    /// of that one where they are missing. Payments only.
    public var retryOf: TransactionID?
    /// The merchant's reference, at most 64 ASCII characters; blanks stand inside only.
    public var order: String?
    /// Seconds within which the card must be presented, 1…600; 60 if not given.
    public var deadline: Int?
    /// When it can begin at the latest, and when the wait for its card ends at the latest. Where a card is read only.
    public var notAfter: Timestamp?
    /// The transaction goes on when its client disconnects.
    public var detached: Bool?

    /// Seconds after the approval within which the POS confirms it, 1…600; unconfirmed it is taken back. Payments only.
    public var confirmWithin: Int?
    /// The same, but only where the same card has paid the same amount on the same lane within the last minutes: a sale
    /// that may be the one before. Payments only.
    public var confirmRepeatWithin: Int?
    /// The order may be paid again: without it a paid one is refused. Payments only.
    public var allowRepeat: Bool?
    /// The customer needs more time for a PIN, or a device that speaks; with `purchase` only.
    public var accessible: Bool?
    /// The passes wanted; with `purchase` in the same tap as the payment.
    public var loyalty: LoyaltyOptions?
    /// Language of what the customer reads, BCP 47.
    public var language: String?
    /// What kind of payment the amount is.
    public var description: AmountDescription?
    /// Applications of a co-badged card in the order in which the shop would have them, as AIDs or RIDs in upper-case
    /// hexadecimal: at most 4 of 5 to 16 bytes. What the card does not have is passed over.
    public var preferredApplications: [String]?
    /// Only checks the request: nothing is written down and no card is asked for.
    public var dryRun: Bool?

    public init(type: TransactionType, amount: Money) {
        self.type = type
        self.amount = amount
    }
}

public enum VerificationReason: String, Codable, CaseIterable, Sendable {
    case lookUp, saveCard, openTab, other
}

extension TransactionRequest: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case type, lane, lanes, group, amount, currency, items, amountStatus, reason, consent, order, deadline, notAfter
        case detached, loyalty, language, description, preferredApplications, dryRun, confirmWithin
        case confirmRepeatWithin, allowRepeat, of, card, retryOf
        case agreement, credential, initiator, capture, store, expires, accessible, to
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.strictContainer(keyedBy: CodingKeys.self)
        type = try members.decode(TransactionType.self, forKey: .type)
        guard type != .refund || !members.contains(.of) else {
            self = try TransactionRequest(refund: members, decoder)
            return
        }
        guard type != .charge else {
            self = try TransactionRequest(charge: members, decoder)
            return
        }
        guard !type.isPaidElsewhere else {
            self = try TransactionRequest(type, paidElsewhere: members, decoder)
            return
        }
        try members.refuse([.of, .card, .credential, .initiator, .expires, .to], decoder)
        if type != .purchase { try members.refuse([.capture, .store, .accessible], decoder) }
        if type != .verification, type != .purchase { try members.refuse([.agreement], decoder) }
        if type == .verification {
            try members.refuse([.amount, .items, .amountStatus, .description, .retryOf], decoder)
            amount = Money(value: 0, currency: try members.decode(Currency.self, forKey: .currency))
        } else if type == .loyalty {
            try members.refuse(
                [
                    .amount, .currency, .items, .amountStatus, .reason, .consent, .description, .preferredApplications,
                    .retryOf,
                ],
                decoder)
            amount = .none
        } else {
            try members.refuse([.currency, .reason, .consent], decoder)
            retryOf = try members.decodeIfPresent(TransactionID.self, forKey: .retryOf)
            if retryOf != nil, type != .purchase {
                throw decoder.refusal(.requestFieldNotApplicable, at: CodingKeys.retryOf)
            }
            amount =
                retryOf != nil && !members.contains(.amount)
                ? Money.none : try members.decode(Money.self, forKey: .amount)
        }
        lane = try members.decodeIfPresent(String.self, forKey: .lane)
        lanes = try members.decodeIfPresent([String].self, forKey: .lanes)
        group = try members.decodeIfPresent(String.self, forKey: .group)
        items = try members.decodeIfPresent([Item].self, forKey: .items)
        amountStatus = try members.decodeIfPresent(AmountStatus.self, forKey: .amountStatus)
        try readCapture(members, decoder)
        store = try members.decodeIfPresent(Bool.self, forKey: .store)
        reason = try members.decodeIfPresent(VerificationReason.self, forKey: .reason)
        consent = try members.decodeIfPresent(String.self, forKey: .consent)
        agreement = try members.decodeIfPresent(AgreementTerms.self, forKey: .agreement)
        order = try members.decodeIfPresent(String.self, forKey: .order)
        deadline = members.contains(.deadline) ? try members.decodeWhole(Int.self, forKey: .deadline) : nil
        notAfter = try members.decodeTimeWithZone(forKey: .notAfter, decoder)
        detached = try members.decodeIfPresent(Bool.self, forKey: .detached)
        confirmWithin =
            members.contains(.confirmWithin) ? try members.decodeWhole(Int.self, forKey: .confirmWithin) : nil
        confirmRepeatWithin =
            members.contains(.confirmRepeatWithin)
            ? try members.decodeWhole(Int.self, forKey: .confirmRepeatWithin) : nil
        allowRepeat = try members.decodeIfPresent(Bool.self, forKey: .allowRepeat)
        accessible = try members.decodeIfPresent(Bool.self, forKey: .accessible)
        loyalty = try members.decodeIfPresent(LoyaltyOptions.self, forKey: .loyalty)
        language = try members.decodeIfPresent(String.self, forKey: .language)
        description = try members.decodeIfPresent(AmountDescription.self, forKey: .description)
        preferredApplications = try members.decodeIfPresent([String].self, forKey: .preferredApplications)?
            .map { $0.uppercased() }
        dryRun = try members.decodeIfPresent(Bool.self, forKey: .dryRun)
        try check(decoder)
        try checkLoyalty(decoder)
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(type, forKey: .type)
        if type == .verification {
            try members.encode(amount.currency, forKey: .currency)
        } else if type != .loyalty, amount != Money.none {
            try members.encode(amount, forKey: .amount)
        }
        try members.encodeIfPresent(lane, forKey: .lane)
        try members.encodeIfPresent(lanes, forKey: .lanes)
        try members.encodeIfPresent(group, forKey: .group)
        try members.encodeIfPresent(items, forKey: .items)
        try members.encodeIfPresent(amountStatus, forKey: .amountStatus)
        try members.encodeIfPresent(capture, forKey: .capture)
        try members.encodeIfPresent(store, forKey: .store)
        try members.encodeIfPresent(of, forKey: .of)
        try members.encodeIfPresent(retryOf, forKey: .retryOf)
        try members.encodeIfPresent(card, forKey: .card)
        try members.encodeIfPresent(refundReason, forKey: .reason)
        if let charge {
            try members.encode(charge.credential, forKey: .credential)
            try members.encode(charge.agreement, forKey: .agreement)
            try members.encode(charge.initiator, forKey: .initiator)
            try members.encode(charge.reason, forKey: .reason)
            try members.encodeIfPresent(charge.of, forKey: .of)
        }
        try members.encodeIfPresent(link?.expires, forKey: .expires)
        try members.encodeIfPresent(link?.to, forKey: .to)
        try members.encodeIfPresent(agreement, forKey: .agreement)
        if refundReason == nil, charge == nil { try members.encodeIfPresent(reason, forKey: .reason) }
        try members.encodeIfPresent(consent, forKey: .consent)
        try members.encodeIfPresent(order, forKey: .order)
        try members.encodeIfPresent(deadline, forKey: .deadline)
        try members.encodeIfPresent(notAfter, forKey: .notAfter)
        try members.encodeIfPresent(detached, forKey: .detached)
        try members.encodeIfPresent(confirmWithin, forKey: .confirmWithin)
        try members.encodeIfPresent(confirmRepeatWithin, forKey: .confirmRepeatWithin)
        try members.encodeIfPresent(allowRepeat, forKey: .allowRepeat)
        try members.encodeIfPresent(accessible, forKey: .accessible)
        try members.encodeIfPresent(loyalty, forKey: .loyalty)
        try members.encodeIfPresent(language, forKey: .language)
        try members.encodeIfPresent(description, forKey: .description)
        try members.encodeIfPresent(preferredApplications, forKey: .preferredApplications)
        try members.encodeIfPresent(dryRun, forKey: .dryRun)
    }

    private func check(_ decoder: any Decoder) throws {
        if type == .purchase || type == .refund {
            let isCopied = retryOf != nil && amount == Money.none
            // These speak of an amount, and have to be read with it.
            if isCopied, items != nil || capture != nil || store != nil {
                throw decoder.refusal(.requestMissingField, at: CodingKeys.amount)
            }
            if !isCopied, let code = amount.refusalAsTotal { throw decoder.refusal(code, at: CodingKeys.amount) }
            if let items, let code = Item.refusal(of: items, total: amount) {
                throw decoder.refusal(code, at: CodingKeys.items)
            }
        }
        if type == .refund, let amountStatus, amountStatus != .final {
            throw decoder.refusal(.requestFieldNotApplicable, at: CodingKeys.amountStatus)
        }
        try checkDescription(decoder)
        for (seconds, key) in [
            (confirmWithin, CodingKeys.confirmWithin), (confirmRepeatWithin, .confirmRepeatWithin),
        ] {
            guard let seconds else { continue }
            guard type == .purchase || type == .refund else {
                throw decoder.refusal(.requestFieldNotApplicable, at: key)
            }
            guard Limits.confirmSeconds.contains(seconds) else {
                throw decoder.refusal(.requestInvalidField, at: key)
            }
        }
        if allowRepeat != nil, type != .purchase {
            throw decoder.refusal(.requestFieldNotApplicable, at: CodingKeys.allowRepeat)
        }
        try checkCommon(decoder)
        try checkWords(decoder)
        if reason == .openTab, let agreement {
            // A tab ends with its charge.
            guard agreement.once == true else {
                throw decoder.refusal(.requestInvalidField, at: CodingKeys.agreement)
            }
            guard consent == nil else { throw decoder.refusal(.requestFieldConflict, at: CodingKeys.consent) }
            return try checkMaximum(of: agreement, decoder)
        }
        guard reason == .saveCard || store == true else {
            guard agreement == nil else {
                throw decoder.refusal(.requestFieldNotApplicable, at: CodingKeys.agreement)
            }
            return
        }
        if agreement != nil, consent != nil { throw decoder.refusal(.requestFieldConflict, at: CodingKeys.consent) }
        if agreement == nil, (consent ?? "").isEmpty {
            throw decoder.refusal(
                .requestMissingField, at: store == true ? CodingKeys.agreement : CodingKeys.consent)
        }
        if let agreement { try checkMaximum(of: agreement, decoder) }
    }

    private func checkMaximum(of agreement: AgreementTerms, _ decoder: any Decoder) throws {
        if let maximum = agreement.maximum, maximum.currency != amount.currency {
            throw decoder.refusal(.amountCurrencyMismatch, at: CodingKeys.agreement)
        }
    }
}

extension TransactionRequest {
    /// What a customer agrees to, where a card is to be stored. Words that a till told in its own form are an agreement
    /// without a regular interval.
    public var terms: AgreementTerms? {
        if type == .verification, reason == .openTab { return agreement }
        guard type == .verification && reason == .saveCard || store == true else { return nil }
        if let agreement { return agreement }
        return consent.map { AgreementTerms(.unscheduled, text: $0, language: language ?? "und") }
    }

    /// Of members that mean the same in every type that has them.
    func checkCommon(_ decoder: any Decoder) throws {
        if let language, !language.isReference(upTo: Limits.languageLength) {
            throw decoder.refusal(.requestInvalidField, at: CodingKeys.language)
        }
        if let preferredApplications, !preferredApplications.areApplications {
            throw decoder.refusal(.requestInvalidField, at: CodingKeys.preferredApplications)
        }
        if let deadline, !Limits.deadlineSeconds.contains(deadline) {
            throw decoder.refusal(.requestInvalidField, at: CodingKeys.deadline)
        }
        if let order, !order.isOrder || order.namesCard {
            throw decoder.refusal(.requestInvalidField, at: CodingKeys.order)
        }
        try checkLanes(decoder)
    }

    /// A person may type a card number into any text. Kept ones are read without this question: what an earlier version has taken stays
    /// readable.
    private func checkWords(_ decoder: any Decoder) throws {
        let words: [(String?, CodingKeys)] =
            [(consent, .consent), (agreement?.text, .agreement)] + (items ?? []).map { ($0.label, .items) }
        for (text, key) in words where text?.namesCard == true {
            throw decoder.refusal(.requestInvalidField, at: key)
        }
    }

    private func checkLanes(_ decoder: any Decoder) throws {
        if let lane, !lane.isReference(upTo: Limits.orderLength) {
            throw decoder.refusal(.requestInvalidField, at: CodingKeys.lane)
        }
        if let lanes {
            guard lane == nil else { throw decoder.refusal(.requestFieldConflict, at: CodingKeys.lanes) }
            guard (1...Limits.lanes).contains(lanes.count), Set(lanes).count == lanes.count,
                lanes.allSatisfy({ $0.isReference(upTo: Limits.orderLength) })
            else { throw decoder.refusal(.requestInvalidField, at: CodingKeys.lanes) }
        }
        if let group {
            guard lane == nil, lanes == nil else {
                throw decoder.refusal(.requestFieldConflict, at: CodingKeys.group)
            }
            guard group.isReference(upTo: Limits.orderLength) else {
                throw decoder.refusal(.requestInvalidField, at: CodingKeys.group)
            }
        }
    }

    private func checkLoyalty(_ decoder: any Decoder) throws {
        switch type {
        case .purchase: break
        case .loyalty:
            if loyalty?.stopOnPass != nil {
                throw decoder.refusal(.requestFieldNotApplicable, at: CodingKeys.loyalty)
            }
        case .refund, .verification, .charge, .link, .handover:
            if loyalty != nil { throw decoder.refusal(.requestFieldNotApplicable, at: CodingKeys.loyalty) }
        }
    }

    private func checkDescription(_ decoder: any Decoder) throws {
        if description != nil, amount == Money.none {
            throw decoder.refusal(.requestMissingField, at: CodingKeys.amount)
        }
        if let description, !description.suits(type, amount, amountStatus) {
            throw decoder.refusal(.amountDescriptionConflict, at: CodingKeys.description)
        }
        // A sum that may still change is never called final.
        if let items, items.contains(where: { $0.kind == .pending }), amountStatus ?? .final == .final {
            throw decoder.refusal(.amountDescriptionConflict, at: CodingKeys.items)
        }
    }
}

extension KeyedDecodingContainer where Key: CodingKey {
    /// RFC 3339 with its zone; `nil` where it is not there.
    func decodeTimeWithZone(forKey key: Key, _ decoder: any Decoder) throws -> Timestamp? {
        guard let text = try decodeIfPresent(String.self, forKey: key) else { return nil }
        guard let time = Timestamp(withZone: text) else { throw decoder.refusal(.requestInvalidField, at: key) }
        return time
    }

    func refuse(_ keys: [Key], _ decoder: any Decoder) throws {
        if let key = keys.first(where: { contains($0) }) {
            throw decoder.refusal(.requestFieldNotApplicable, at: key)
        }
    }
}

extension [String] {
    /// 1 to 4 AIDs or RIDs in upper-case hexadecimal, none twice.
    fileprivate var areApplications: Bool {
        let isIdentifier = { (text: String) in
            text.utf8.count % 2 == 0 && Limits.applicationIdentifierLength.contains(text.utf8.count / 2)
                && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x46).contains($0) }
        }
        return (1...Limits.preferredApplications).contains(count) && Set(self).count == count
            && allSatisfy(isIdentifier)
    }
}
