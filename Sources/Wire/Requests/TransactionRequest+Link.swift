// SPDX-License-Identifier: Apache-2.0
extension TransactionRequest {
    /// What a link may say.
    private static var ofLink: Set<CodingKeys> {
        [.type, .amount, .order, .retryOf, .expires, .allowRepeat, .language, .dryRun]
    }

    init(link members: KeyedDecodingContainer<CodingKeys>, _ decoder: any Decoder) throws {
        try members.refuse(CodingKeys.allCases.filter { !Self.ofLink.contains($0) }, decoder)
        self.init(type: .link, amount: .none)
        retryOf = try members.decodeIfPresent(TransactionID.self, forKey: .retryOf)
        if retryOf == nil || members.contains(.amount) {
            amount = try members.decode(Money.self, forKey: .amount)
            if let code = amount.refusalAsTotal { throw decoder.refusal(code, at: CodingKeys.amount) }
        }
        let seconds =
            members.contains(.expires)
            ? try members.decodeWhole(Int.self, forKey: .expires) : Limits.defaultLinkSeconds
        guard Limits.linkSeconds.contains(seconds) else {
            throw decoder.refusal(.requestInvalidField, at: CodingKeys.expires)
        }
        link = LinkWish(expires: seconds)
        order = try members.decodeIfPresent(String.self, forKey: .order)
        allowRepeat = try members.decodeIfPresent(Bool.self, forKey: .allowRepeat)
        language = try members.decodeIfPresent(String.self, forKey: .language)
        dryRun = try members.decodeIfPresent(Bool.self, forKey: .dryRun)
        if let order, !order.isReference(upTo: Limits.orderLength) {
            throw decoder.refusal(.requestInvalidField, at: CodingKeys.order)
        }
        if let language, !language.isReference(upTo: Limits.languageLength) {
            throw decoder.refusal(.requestInvalidField, at: CodingKeys.language)
        }
    }
}
