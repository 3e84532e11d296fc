// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV

/// Limits of the kernel, terminal action analysis and the card's cryptogram.
enum DecisionStory {
    static func sentences(_ facts: TapFacts) -> [String] {
        switch facts.kernel {
        case .visa?, .discover?, .unionPay?: return cardDecides(facts)
        case _: return terminalDecides(facts)
        }
    }

    // MARK: Kernels 3, 6 and 7: the cryptogram comes first (EMV Contactless Book C-3 §5.4 to §5.6)

    private static func cardDecides(_ facts: TapFacts) -> [String] {
        guard facts.exchange(where: \.isProcessingOptions)?.response?.status.isSuccess == true else { return [] }
        guard let type = facts.cryptogram else { return ["The card's cryptogram type cannot be told."] }
        let source =
            facts.card(.cryptogramInformation) == nil
            ? "issuer application data" : "CID \(Hex.string(facts.card(.cryptogramInformation) ?? []))"
        var sentences = ["The card answered with \(name(type)) (\(source))\(counter(facts))."]
        switch type {
        case .arqc: sentences.append("So the issuer decides: online.")
        case .aac: sentences.append("So the transaction is declined.")
        case .tc: sentences += offline(facts)
        }
        return sentences
    }

    private static func offline(_ facts: TapFacts) -> [String] {
        if facts.ttq?.requiresOnlineCryptogram == true {
            return ["The terminal had demanded an online cryptogram, so it goes online all the same."]
        }
        var sentences = ["The terminal had not demanded an online cryptogram, so it may stand."]
        if let expiry = facts.card(.expirationDate).flatMap({ EMVDate(yymmdd: $0) }) {
            sentences.append(
                facts.trace.transaction.date > expiry
                    ? "The application has expired." : "The application has not expired.")
        } else {
            sentences.append("The card gives no expiry date, which counts as expired.")
        }
        if let authentication = facts.authentications.last {
            sentences.append(
                authentication.failure == nil
                    ? "Its signature is right, so it is approved offline."
                    : "Its signature is not right: \(afterFailure(facts)).")
        }
        return sentences
    }

    private static func afterFailure(_ facts: TapFacts) -> String {
        if facts.kernel == .discover { return "the card processing requirements (9F71) say what follows" }
        if facts.bit(.ctq, byte: 1, 0x20), facts.ttq?.isOfflineOnly == false { return "the CTQ sends it online" }
        if facts.bit(.ctq, byte: 1, 0x10), facts.ttq?.supportsContactChip == true {
            return "the CTQ sends it to the contact chip"
        }
        return "it is declined"
    }

    // MARK: Kernels with GENERATE AC

    private static func terminalDecides(_ facts: TapFacts) -> [String] {
        var sentences = facts.kernel == .mastercard ? limits(facts) : []
        guard let command = facts.exchange(where: \.isCryptogramCommand) else { return sentences + checksum(facts) }
        if let tvr = facts.sent(.tvr) ?? facts.terminal(.tvr), let bits = TVR(tvr) {
            sentences.append(verificationResults(tvr))
            sentences += actionCodes(bits, facts)
        }
        let requested = ApplicationCryptogram(rawValue: command.command.p1 & 0xC0)
        let asked = requested.map { name($0) } ?? "a reserved cryptogram"
        let signature = command.command.p1 & 0x10 != 0 ? "with a CDA signature" : "without a CDA signature"
        sentences.append("So the terminal asks for \(asked) \(signature) (P1 \(Hex.string([command.command.p1]))).")
        return sentences + answer(command, requested, facts)
    }

    /// Kernel 2's mag-stripe mode (EMV Contactless Book C-2 S78 to S14).
    private static func checksum(_ facts: TapFacts) -> [String] {
        guard let command = facts.exchange(where: \.isChecksumCommand) else { return [] }
        let reason = "Mag-stripe mode, because the card has no EMV mode (AIP byte 2 bit 8 is 0)."
        guard let response = command.response else { return [reason, "The card left before it answered."] }
        return response.status.isSuccess
            ? [
                reason,
                "The card gave a dynamic check value, which stands in the tracks for the issuer\(counter(facts)).",
            ]
            : [reason, "The card refused: \(response.status) \(CodeNames.statusWord(response.status))."]
    }

    private static func answer(
        _ exchange: TapFacts.Exchange, _ requested: ApplicationCryptogram?, _ facts: TapFacts
    ) -> [String] {
        guard let response = exchange.response else { return ["The card left before it answered."] }
        guard response.status.isSuccess else {
            return ["The card refused: \(response.status) \(CodeNames.statusWord(response.status))."]
        }
        guard let type = facts.cryptogram else { return ["The answer has no cryptogram type."] }
        let relation = type == requested ? "as asked" : "which is less than asked for"
        return ["The card answered with \(name(type)), \(relation)\(counter(facts))."]
    }

    /// Kernel 2 compares with "over" (EMV Contactless Book C-2 S456).
    private static func limits(_ facts: TapFacts) -> [String] {
        guard facts.exchange(where: \.isProcessingOptions)?.response?.status.isSuccess == true else { return [] }
        let amount = facts.trace.transaction.amount
        let onDevice =
            facts.bit(.aip, byte: 1, 0x02) && (facts.configured(.kernelConfiguration)?.first ?? 0) & 0x20 != 0
        let tag: Tag = onDevice ? .transactionLimitWithDeviceCVM : .transactionLimitWithoutDeviceCVM
        let limit = facts.configuredAmount(tag)
        let floor = facts.configuredAmount(.readerFloorLimit)
        return [
            "The amount is \(amount > limit ? "over" : "not over") the transaction limit of \(facts.amount(limit)) (\(tag))"
                + " and \(amount > floor ? "over" : "not over") the floor limit of \(facts.amount(floor)) (DF8123)."
        ]
    }

    private static func verificationResults(_ tvr: [UInt8]) -> String {
        let bits = BitTable.tvr.meanings(tvr).map(\.text)
        return "TVR \(Hex.string(tvr)): \(bits.isEmpty ? "nothing set" : bits.joined(separator: "; "))."
    }

    /// Terminal action analysis (EMV Book 3 §10.7): which code hits.
    private static func actionCodes(_ tvr: TVR, _ facts: TapFacts) -> [String] {
        func code(_ tag: Tag) -> TVR {
            facts.configured(tag).flatMap { TVR($0) } ?? defaultCode(tag, facts.kernel)
        }
        func issuer(_ tag: Tag) -> TVR? { facts.card(tag).flatMap { TVR($0) } }
        let denial = code(.terminalActionCodeDenial).union(issuer(.issuerActionCodeDenial) ?? [])
        guard tvr.isDisjoint(with: denial) else {
            return ["A denial code (TAC or IAC) has bits in common with it: \(common(tvr, denial))."]
        }
        let type = facts.terminal(.terminalType)?.first ?? 0
        let terminal = "The terminal (9F35 \(Hex.string([type]))) is \(CodeNames.terminalType(type))"
        let start = "No denial code (TAC, IAC) has a bit in common with it."
        if TerminalType(rawValue: type).isOnlineOnly { return [start, "\(terminal), so the issuer has to be asked."] }
        let isOffline = TerminalType(rawValue: type).isOfflineOnly
        let codes = code(isOffline ? .terminalActionCodeDefault : .terminalActionCodeOnline).union(
            issuer(isOffline ? .issuerActionCodeDefault : .issuerActionCodeOnline) ?? [])
        let word = isOffline ? "default" : "online"
        let hit =
            tvr.isDisjoint(with: codes)
            ? "no \(word) code (TAC, IAC) has a bit in common with the TVR"
            : "\(word) codes (TAC, IAC) have bits in common with the TVR: \(common(tvr, codes))"
        return [start, "\(terminal); \(hit)."]
    }

    /// What the kernels use where the terminal has no action codes (EMV Contactless Book C-2 Table 4.4; the values of
    /// kernels 4 and 5 are unverified).
    private static func defaultCode(_ tag: Tag, _ kernel: KernelIdentifier?) -> TVR {
        switch (kernel, tag) {
        case (.mastercard?, _): TVR(rawValue: 0x84_0000_000C)
        case (.americanExpress?, .terminalActionCodeDefault): TVR(rawValue: 0xDC_5084_0000)
        case (.americanExpress?, .terminalActionCodeDenial): TVR(rawValue: 0x00_1000_0000)
        case (.americanExpress?, _): TVR(rawValue: 0xDE_00FC_9800)
        case (.jcb?, .terminalActionCodeDefault): TVR(rawValue: 0x90_4000_8000)
        case (.jcb?, .terminalActionCodeDenial): TVR(rawValue: 0x04_1000_0000)
        case (.jcb?, _): TVR(rawValue: 0x90_6000_9000)
        case _: []
        }
    }

    private static func common(_ tvr: TVR, _ codes: TVR) -> String {
        BitTable.tvr.meanings(tvr.intersection(codes).bytes).map(\.text).joined(separator: "; ")
    }

    // MARK: Words

    static func name(_ type: ApplicationCryptogram) -> String {
        switch type {
        case .aac: "an AAC (declined)"
        case .tc: "a TC (approved offline)"
        case .arqc: "an ARQC (authorisation requested)"
        }
    }

    private static func counter(_ facts: TapFacts) -> String {
        guard let value = facts.card(.atc), value.count == 2 else { return "" }
        return "; it is the card's transaction \(UInt16(value[0]) << 8 | UInt16(value[1]))"
    }
}
