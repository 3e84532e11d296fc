// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV

/// Why this cardholder verification method.
enum VerificationStory {
    static func sentences(_ facts: TapFacts) -> [String] {
        guard facts.exchange(where: \.isProcessingOptions)?.response?.status.isSuccess == true,
            let cvm = facts.trace.outcome.outcome.cvm
        else { return [] }
        let result = "Result: \(words(cvm))."
        switch facts.kernel {
        case .visa?, .unionPay?: return qualifiers(facts) + [result]
        case .mastercard?: return list(facts) + [result]
        case .discover?: return requirements(facts) + [result]
        case _: return results(facts) + [result]
        }
    }

    static func words(_ cvm: EMV.Outcome.CVM) -> String {
        switch cvm {
        case .noCVM: "no cardholder verification"
        case .obtainSignature: "obtain a signature"
        case .onlinePIN: "online PIN"
        case .confirmationCodeVerified: "verified on the consumer device"
        }
    }

    // MARK: Kernels 3 and 7 (EMV Contactless Book C-3 §5.7)

    private static func qualifiers(_ facts: TapFacts) -> [String] {
        let required = facts.ttq?.requiresCVM == true
        let demand = demand(required: required)
        guard facts.cryptogram != .aac else { return [] }
        guard facts.trace.transaction.type != .refund else { return ["A refund is not verified."] }
        guard let ctq = facts.card(.ctq) else { return [demand, "The card sent no CTQ, so the terminal chooses."] }
        var sentences = [demand]
        let bits = BitTable.cardTransactionQualifiers.meanings(ctq).map(\.text)
        sentences.append("CTQ \(Hex.string(ctq)): \(bits.isEmpty ? "nothing set" : bits.joined(separator: "; ")).")
        sentences.append(choice(facts, required: required))
        return sentences
    }

    /// Kernel 6: the card's own requirements (9F71).
    private static func requirements(_ facts: TapFacts) -> [String] {
        guard let value = facts.card(.cardProcessingRequirements) else { return [] }
        let bits = BitTable.cardProcessingRequirements.meanings(value).map(\.text)
        return [
            demand(required: facts.ttq?.requiresCVM == true),
            "Card processing requirements (9F71) \(Hex.string(value)): "
                + "\(bits.isEmpty ? "nothing set" : bits.joined(separator: "; ")).",
        ]
    }

    private static func demand(required: Bool) -> String {
        required
            ? "The terminal demands a verification (TTQ byte 2 bit 7)."
            : "The terminal demands none (TTQ byte 2 bit 7 is 0)."
    }

    private static func choice(_ facts: TapFacts, required: Bool) -> String {
        let ttq = facts.ttq
        if facts.bit(.ctq, byte: 1, 0x80), ttq?.supportsOnlinePIN == true {
            return
                "The card asks for an online PIN and the reader has it (TTQ byte 1 bit 3): online PIN, which also means going online."
        }
        if facts.bit(.ctq, byte: 2, 0x80) {
            return facts.card(.cardAuthenticationRelatedData) == nil
                ? "The card says that the device verified its holder, which only an online cryptogram can confirm."
                : "The card says that the device verified its holder, and its signed copy of the CTQ (9F69) has to agree."
        }
        if facts.bit(.ctq, byte: 1, 0x40), ttq?.supportsSignature == true {
            return "The card asks for a signature and the reader has it (TTQ byte 1 bit 2)."
        }
        return required
            ? "No method that the card asks for is there, so the transaction is declined."
            : "The card asks for none that the reader has, and none is required."
    }

    // MARK: Kernel 2 (EMV Contactless Book C-2, CVM)

    private static func list(_ facts: TapFacts) -> [String] {
        let amount = facts.trace.transaction.amount
        let limit = facts.configuredAmount(.readerCVMLimit)
        let exceeds = amount > limit
        let comparison =
            "The amount is \(exceeds ? "over" : "not over") the CVM limit of \(facts.amount(limit)) (DF8126)."
        if facts.exchange(where: \.isChecksumCommand) != nil {
            let tag = exceeds ? "DF811E" : "DF812C"
            return [comparison, "In mag-stripe mode the reader's configuration says what is verified (\(tag))."]
        }
        let onDevice =
            facts.bit(.aip, byte: 1, 0x02) && (facts.configured(.kernelConfiguration)?.first ?? 0) & 0x20 != 0
        if onDevice {
            return [
                comparison,
                exceeds
                    ? "Card and reader know on-device verification, so the device has verified its holder."
                    : "Card and reader know on-device verification, which is not needed.",
            ]
        }
        guard facts.bit(.aip, byte: 1, 0x10) else {
            return [comparison, "The card does not support cardholder verification (AIP byte 1 bit 5)."]
        }
        guard let value = facts.card(.cvmList), let list = CVMList(value) else {
            return [comparison, "The card has no usable CVM list (8E)."]
        }
        let capabilities = facts.terminal(.terminalCapabilities) ?? []
        let methods = BitTable.terminalCapabilities.meanings(capabilities, in: 1..<2).map(\.text)
        return [comparison, "So the reader offers: \(methods.isEmpty ? "nothing" : methods.joined(separator: ", "))."]
            + rules(list, facts, capabilities) + results(facts)
    }

    /// Every rule up to the one that ends the walk, by EMV's own selection on a list of that rule alone.
    private static func rules(_ list: CVMList, _ facts: TapFacts, _ capabilities: [UInt8]) -> [String] {
        let transaction = facts.trace.transaction
        var conditions = CVMConditions(
            amount: transaction.amount, otherAmount: transaction.otherAmount ?? 0, transactionType: transaction.type,
            terminalType: TerminalType(rawValue: facts.terminal(.terminalType)?.first ?? 0),
            isApplicationCurrency: facts.card(.applicationCurrency).flatMap { BCD.decode($0) }
                == UInt64(transaction.currency),
            capabilities: capabilities.count > 1 ? capabilities[1] : 0)
        var sentences: [String] = []
        for (index, rule) in list.rules.enumerated() {
            let start =
                "Rule \(index + 1) (\(CVMMeaning.method(rule.method)), \(CVMMeaning.condition(rule.condition, list)))"
            if succeeds(rule, list, conditions) { return sentences + ["\(start) applies."] }
            let isOffered = CVMMethod(rawValue: rule.method).map { $0 != .fail && conditions.supports($0) } ?? false
            // A method that everybody has shows whether the condition holds.
            conditions.capabilities |= 0x08
            let holds = succeeds(CVMList.Rule(code: 0x1F, condition: rule.condition), list, conditions)
            conditions.capabilities = capabilities.count > 1 ? capabilities[1] : 0
            if !holds || rule.condition == 0x03 && !isOffered {
                sentences.append(
                    "\(start) is passed over: \(rule.condition == 0x03 ? "the reader does not have it" : "its condition does not hold")."
                )
            } else {
                sentences.append("\(start) fails\(rule.appliesSucceeding ? ", and the next one is tried" : "").")
                if !rule.appliesSucceeding { return sentences }
            }
        }
        return sentences + ["No rule is left."]
    }

    private static func succeeds(_ rule: CVMList.Rule, _ list: CVMList, _ conditions: CVMConditions) -> Bool {
        let amounts = [list.x, list.y].flatMap { amount in
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: amount >> $0) }
        }
        guard let alone = CVMList(amounts + [rule.code, rule.condition]) else { return false }
        let selection = CVMSelection.walk(alone, conditions)
        return !selection.tvr.contains(.cardholderVerificationFailed)
    }

    // MARK: Any kernel

    private static func results(_ facts: TapFacts) -> [String] {
        guard let value = facts.terminal(.cvmResults), value.count == 3 else { return [] }
        let meaning = CVMMeaning.results(value)
        return ["CVM results (9F34) \(Hex.string(value)): \(meaning.map(\.text).joined(separator: ", "))."]
    }
}
