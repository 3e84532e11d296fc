// SPDX-License-Identifier: Apache-2.0
/// What an answer is looked up by. The trace number comes round within minutes, so that `answers` looks at more.
struct AnswerKey: Hashable, Sendable {
    let type: MessageType
    let stan: [UInt8]

    /// Of a request.
    init?(to request: ISOMessage) {
        guard let type = request.type.answer, let stan = request[11] else { return nil }
        self.type = type
        self.stan = stan
    }

    /// Of an answer.
    init?(_ answer: ISOMessage) {
        guard !answer.type.isRequestOrAdvice, let stan = answer[11] else { return nil }
        type = answer.type
        self.stan = stan
    }
}

extension ISOMessage {
    /// Whether this is the answer to `request`: type and trace number, and the fields that the packager's `answers` names.
    func answers(_ request: ISOMessage, _ rules: AnswerRules) -> Bool {
        guard type == request.type.answer, self[11] != nil, self[11] == request[11] else { return false }
        return difference(from: request, rules) == nil
    }

    /// The first field that is another one than was sent, or that is missing where it has to be: the transmission time or, where the host leaves that out,
    /// the reference.
    func difference(from request: ISOMessage, _ rules: AnswerRules) -> Int? {
        for field in rules.match {
            if let echoed = self[field], echoed != request[field] { return field }
        }
        let names = rules.match.filter { $0 == 7 || $0 == 37 }
        if names.isEmpty, type.kind == 8 { return nil }
        let needed = names.isEmpty ? rules.match : names
        return needed.contains { self[$0] != nil } ? nil : needed.first
    }

    /// What the answer to a payment says, or how it contradicts what was asked.
    func verdict(on request: ISOMessage, _ codes: HostCodes) -> Result<HostVerdict, Contradicted> {
        guard let code = text(39) else { return .failure(Contradicted(.noCode)) }
        let verdict = codes.verdict(code)
        switch verdict {
        case .approved, .partial: break
        case .declined, .later, .doubtful: return .success(verdict)
        }
        if let currency = self[49], currency != request[49] { return .failure(Contradicted(.currency)) }
        if let code = self[3], code.prefix(2) != request[3]?.prefix(2) { return .failure(Contradicted(.processing)) }
        let isPartial = verdict == .partial
        guard let amount = self[4] else { return isPartial ? .failure(Contradicted(.amount)) : .success(verdict) }
        guard isPartial else { return amount == request[4] ? .success(verdict) : .failure(Contradicted(.amount)) }
        // Both have twelve digits, so that they compare as numbers do.
        let isLess = request[4].map { amount.count == $0.count && amount.lexicographicallyPrecedes($0) } ?? false
        return isLess && amount.contains { $0 != 0x30 } ? .success(verdict) : .failure(Contradicted(.amount))
    }
}

struct Contradicted: Error {
    let by: Contradiction
    init(_ by: Contradiction) { self.by = by }
}
