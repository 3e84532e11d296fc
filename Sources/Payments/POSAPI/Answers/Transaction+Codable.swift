// SPDX-License-Identifier: Apache-2.0
import PaymentValues

extension Transaction: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, type, mode, state, lane, amount, order, createdAt, updatedAt, card, result, loyalty, error, cancelledBy
        case history, events, details, chip, confirmation, message, settlement
        case number, of, retryOf, cashier, till, account, alternatives, credential, earlier, link
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        type = try members.decode(TransactionType.self, forKey: .type)
        amount =
            type == .loyalty
            ? .none : try members.decode(Money.self, forKey: .amount)
        id = try members.decode(TransactionID.self, forKey: .id)
        mode = try members.decode(Mode.self, forKey: .mode)
        state = try members.decode(TransactionState.self, forKey: .state)
        lane = try members.decode(String.self, forKey: .lane)
        order = try members.decodeIfPresent(String.self, forKey: .order)
        createdAt = try members.decode(Timestamp.self, forKey: .createdAt)
        updatedAt = try members.decode(Timestamp.self, forKey: .updatedAt)
        card = try members.decodeIfPresent(MaskedCard.self, forKey: .card)
        details = try members.decodeIfPresent(TransactionDetails.self, forKey: .details)
        chip = try members.decodeIfPresent(ChipData.self, forKey: .chip)
        result = try members.decodeIfPresent(PaymentResult.self, forKey: .result)
        loyalty = try members.decodeIfPresent(LoyaltyResult.self, forKey: .loyalty)
        error = try members.decodeIfPresent(ErrorDetail.self, forKey: .error)
        cancelledBy = try members.decodeIfPresent(Canceller.self, forKey: .cancelledBy)
        message = try members.decodeIfPresent(CardholderMessage.self, forKey: .message)
        confirmation = try members.decodeIfPresent(Confirmation.self, forKey: .confirmation)
        settlement = try members.decodeIfPresent(Settlement.self, forKey: .settlement)
        number = try members.decodeIfPresent(Int64.self, forKey: .number)
        of = try members.decodeIfPresent(TransactionID.self, forKey: .of)
        retryOf = try members.decodeIfPresent(TransactionID.self, forKey: .retryOf)
        cashier = try members.decodeIfPresent(String.self, forKey: .cashier)
        till = try members.decodeIfPresent(TillName.self, forKey: .till)
        account = try members.decodeIfPresent(PaymentAccount.self, forKey: .account)
        credential = try members.decodeIfPresent(StoredCard.self, forKey: .credential)
        earlier = try members.decodeIfPresent([EarlierTransaction].self, forKey: .earlier)
        link = try members.decodeIfPresent(OpenLink.self, forKey: .link)
        // A kind of a later version leads nowhere here.
        let offers = (try? members.decodeIfPresent([Alternative].self, forKey: .alternatives)) ?? []
        offersLink = offers.contains { $0.kind == .paymentLink }
        offeredTerminals = offers.compactMap(\.request.to)
        history = try members.decode([Step].self, forKey: .history)
        events = try members.decodeIfPresent([Event].self, forKey: .events)
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(id, forKey: .id)
        try members.encode(type, forKey: .type)
        try members.encode(mode, forKey: .mode)
        try members.encode(state, forKey: .state)
        try members.encode(lane, forKey: .lane)
        // A read of passes is about no amount, and its answer does not mention one.
        if type != .loyalty { try members.encode(amount, forKey: .amount) }
        try members.encodeIfPresent(order, forKey: .order)
        try members.encode(createdAt, forKey: .createdAt)
        try members.encode(updatedAt, forKey: .updatedAt)
        try members.encodeIfPresent(card, forKey: .card)
        try members.encodeIfPresent(details, forKey: .details)
        try members.encodeIfPresent(chip, forKey: .chip)
        try members.encodeIfPresent(result, forKey: .result)
        try members.encodeIfPresent(loyalty, forKey: .loyalty)
        try members.encodeIfPresent(error, forKey: .error)
        try members.encodeIfPresent(cancelledBy, forKey: .cancelledBy)
        try members.encodeIfPresent(message, forKey: .message)
        try members.encodeIfPresent(confirmation, forKey: .confirmation)
        try members.encodeIfPresent(settlement, forKey: .settlement)
        try members.encodeIfPresent(number, forKey: .number)
        try members.encodeIfPresent(of, forKey: .of)
        try members.encodeIfPresent(retryOf, forKey: .retryOf)
        try members.encodeIfPresent(alternatives, forKey: .alternatives)
        try members.encodeIfPresent(cashier, forKey: .cashier)
        try members.encodeIfPresent(till, forKey: .till)
        try members.encodeIfPresent(account, forKey: .account)
        try members.encodeIfPresent(credential, forKey: .credential)
        try members.encodeIfPresent(earlier, forKey: .earlier)
        try members.encodeIfPresent(link, forKey: .link)
        try members.encode(history, forKey: .history)
        try members.encodeIfPresent(events, forKey: .events)
    }
}
