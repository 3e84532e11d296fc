// SPDX-License-Identifier: Apache-2.0
import PaymentValues

extension TransactionRequest {
    /// What a link may say, and a hand-over besides.
    private static func allowed(_ type: TransactionType) -> Set<CodingKeys> {
        let ofLink: Set<CodingKeys> = [.type, .amount, .order, .retryOf, .expires, .allowRepeat, .language, .dryRun]
        return type == .link ? ofLink : ofLink.union([.to])
    }

    init(
        _ type: TransactionType, paidElsewhere members: KeyedDecodingContainer<CodingKeys>, _ decoder: any Decoder
    ) throws {
        let allowed = Self.allowed(type)
        try members.refuse(CodingKeys.allCases.filter { !allowed.contains($0) }, decoder)
        self.init(type: type, amount: .none)
        retryOf = try members.decodeIfPresent(TransactionID.self, forKey: .retryOf)
        if retryOf == nil || members.contains(.amount) {
            amount = try members.decode(Money.self, forKey: .amount)
            if let code = amount.refusalAsTotal { throw decoder.refusal(code, at: CodingKeys.amount) }
        }
        let seconds =
            members.contains(.expires)
            ? try members.decodeWhole(Int.self, forKey: .expires)
            : type == .link ? Limits.defaultLinkSeconds : Limits.defaultHandoverSeconds
        guard (type == .link ? Limits.linkSeconds : Limits.handoverSeconds).contains(seconds) else {
            throw decoder.refusal(.requestInvalidField, at: CodingKeys.expires)
        }
        link = LinkOptions(expires: seconds)
        if type == .handover {
            let name = try members.decode(String.self, forKey: .to)
            guard name.isReference(upTo: Limits.terminalNameLength) else {
                throw decoder.refusal(.requestInvalidField, at: CodingKeys.to)
            }
            link?.to = name
        }
        order = try members.decodeIfPresent(String.self, forKey: .order)
        allowRepeat = try members.decodeIfPresent(Bool.self, forKey: .allowRepeat)
        language = try members.decodeIfPresent(String.self, forKey: .language)
        dryRun = try members.decodeIfPresent(Bool.self, forKey: .dryRun)
        if let order, !order.isOrder || order.namesCard {
            throw decoder.refusal(.requestInvalidField, at: CodingKeys.order)
        }
        if let language, !language.isReference(upTo: Limits.languageLength) {
            throw decoder.refusal(.requestInvalidField, at: CodingKeys.language)
        }
    }
}
