// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Codes
import EMV

/// Limits, directory, candidates and kernel (EMV Contactless Book B §3.1 to §3.4).
enum SelectionStory {
    // MARK: Pre-processing

    static func limits(_ facts: TapFacts) -> [String] {
        var sentences: [String] = []
        for (index, prepared) in facts.analysis.combinations.enumerated() {
            let isWanted = facts.analysis.applications.contains { $0.matching.contains(index) }
            if let reason = refusal(prepared, facts) {
                sentences.append("\(name(prepared)) is left out: \(reason).")
            } else if isWanted {
                sentences += limits(prepared, facts)
            }
        }
        if !facts.analysis.combinations.contains(where: \.isAllowed) {
            sentences.append("No combination is left, so the transaction goes to another interface.")
        }
        return sentences
    }

    private static func name(_ prepared: SelectionAnalysis.PreparedCombination) -> String {
        "\(Hex.string(prepared.combination.aid)) with \(CodeNames.kernelName(prepared.combination.kernel))"
    }

    private static func refusal(_ prepared: SelectionAnalysis.PreparedCombination, _ facts: TapFacts) -> String? {
        let amount = facts.trace.transaction.amount
        let limits = prepared.combination.limits
        if !prepared.coversType { return "it is not configured for this transaction type" }
        if !prepared.hasKernel { return "this terminal has no such kernel" }
        guard prepared.indicators.contactlessNotAllowed else { return nil }
        if let limit = limits.transactionLimit, amount >= limit {
            return "the amount reaches the transaction limit of \(facts.amount(limit))"
        }
        return limits.zeroAmountAllowed == false
            ? "an amount of zero is not allowed"
            : "an amount of zero needs an online cryptogram from an offline-only reader"
    }

    private static func limits(_ prepared: SelectionAnalysis.PreparedCombination, _ facts: TapFacts) -> [String] {
        let limits = prepared.combination.limits
        let indicators = prepared.indicators
        var parts: [String] = []
        if let limit = limits.transactionLimit { parts.append("under the transaction limit of \(facts.amount(limit))") }
        if let limit = limits.floorLimit ?? limits.terminalFloorLimit.map({ UInt64($0) }) {
            let relation = indicators.floorLimitExceeded ? "over" : "not over"
            parts.append("\(relation) the floor limit of \(facts.amount(limit))")
        }
        if let limit = limits.cvmRequiredLimit {
            let relation = indicators.cvmLimitExceeded ? "at or over" : "under"
            parts.append("\(relation) the CVM limit of \(facts.amount(limit))")
        }
        guard !parts.isEmpty else {
            return ["\(name(prepared)): no limits at this stage; the kernel compares its own."]
        }
        var sentences = ["\(name(prepared)): the amount is \(parts.joined(separator: ", "))."]
        if indicators.statusCheckRequested { sentences.append("One unit of currency asks for a status check.") }
        if indicators.zeroAmount { sentences.append("An amount of zero asks for an online cryptogram.") }
        if let ttq = indicators.ttq { sentences.append(demands(ttq)) }
        return sentences
    }

    private static func demands(_ ttq: TTQ) -> String {
        let online = ttq.requiresOnlineCryptogram ? "an online cryptogram" : "no online cryptogram"
        let verification = ttq.requiresCVM ? "a cardholder verification" : "no cardholder verification"
        return "So the terminal's TTQ \(Hex.string(ttq.bytes)) demands \(online) and \(verification)."
    }

    // MARK: Directory

    static func card(_ facts: TapFacts) -> [String] {
        guard let activation = facts.activation else {
            return [facts.trace.interruption.map { "No card: \($0)." } ?? "No card was asked for."]
        }
        var sentences: [String] = []
        if facts.earlierTaps > 0 {
            sentences.append("This is tap \(facts.earlierTaps + 1); the taps before had no result.")
        }
        sentences.append("A card of \(Phrase.card(activation)) answered.")
        guard let directory = facts.exchanges.first(where: { $0.command.isDirectorySelection }) else {
            return sentences
        }
        guard let response = directory.response else { return sentences + ["It left before it gave its directory."] }
        guard response.status.isSuccess else {
            return sentences + [
                "It has no contactless directory: \(response.status) \(CodeNames.statusWord(response.status))."
            ]
        }
        switch facts.analysis.applications.count {
        case 0: sentences.append("Its directory has no usable entry.")
        case 1: sentences.append("Its directory has one application.")
        case let count: sentences.append("Its directory has \(count) applications.")
        }
        return sentences + facts.analysis.applications.map { entry($0, facts) }
    }

    private static func entry(_ application: SelectionAnalysis.ListedApplication, _ facts: TapFacts) -> String {
        let label = application.label.map { " \"\(CardText.ascii($0))\"" } ?? ""
        let order = application.priority == 0 ? "no priority" : "priority \(application.priority)"
        let start = "\(Hex.string(application.adfName))\(label), \(order)"
        if application.matching.isEmpty {
            return "\(start): skipped, the terminal has no AID that it begins with\(scheme(application))."
        }
        let usable = application.usable.map { name(facts.analysis.combinations[$0]) }
        guard usable.isEmpty else { return "\(start): candidate for \(usable.joined(separator: " and "))." }
        let allowed = application.matching.contains { facts.analysis.combinations[$0].isAllowed }
        let kernel = Hex.string(application.kernelIdentifier)
        return allowed
            ? "\(start): skipped, it asks for kernel \(kernel) (9F2A), which the terminal does not use for this AID."
            : "\(start): skipped, its combination is left out for this transaction."
    }

    /// The scheme of the application, and the kernel that it would need.
    private static func scheme(_ application: SelectionAnalysis.ListedApplication) -> String {
        let network = PaymentNetwork(aid: application.adfName)
        let secret = network.flatMap { $0.hasPublicKernel ? nil : "its kernel is not public" }
        let kernel = application.requestedKernel.map { "it asks for \(CodeNames.kernelName($0))" }
        let told = [network.map { "it is \($0.scheme)'s" }, kernel ?? secret].compactMap { $0 }
        return told.isEmpty ? "" : "; " + told.joined(separator: " and ")
    }

    // MARK: Final selection

    static func application(_ facts: TapFacts) -> [String] {
        guard facts.activation != nil else { return [] }
        guard !facts.analysis.candidates.isEmpty else { return ["There is no candidate."] }
        var sentences: [String] = []
        if facts.analysis.candidates.count > 1 {
            let names = facts.analysis.candidates.map {
                Hex.string(facts.analysis.applications[$0.application].adfName)
            }
            sentences.append(
                facts.analysis.isReordered
                    ? "Candidates by the merchant's preference, then by the card's priority: \(names.joined(separator: ", "))."
                    : "Candidates by the card's priority, ties in the order of the directory: \(names.joined(separator: ", "))."
            )
        }
        let selections = facts.selections
        for (index, selection) in selections.enumerated() {
            sentences.append(
                result(
                    selection.exchange, hasMore: selection.hasMore, index: index, isLast: index == selections.count - 1,
                    facts))
        }
        if selections.isEmpty { sentences.append("None was selected.") }
        return sentences
    }

    /// - Parameter hasMore: whether the card was asked for anything between this selection and the next one.
    private static func result(
        _ selection: TapFacts.Exchange, hasMore: Bool, index: Int, isLast: Bool, _ facts: TapFacts
    ) -> String {
        let name = Hex.string(selection.command.data)
        guard let response = selection.response else { return "\(name): the card left." }
        guard response.status.isSuccess else {
            let word = "\(response.status) \(CodeNames.statusWord(response.status))"
            return "\(name): refused with \(word), \(isLast ? "and no candidate is left" : "so the next candidate")."
        }
        guard isLast, facts.trace.outcome.application != nil else {
            let next = isLast ? "and no candidate is left" : "so the next candidate"
            return hasMore
                ? "\(name): selected, but its kernel gave it up, \(next)."
                : "\(name): selected, but what it says of itself (FCI) cannot be used, \(next): no kernel ran."
        }
        let reason =
            index == 0
            ? (facts.analysis.candidates.count == 1 ? "the only candidate" : "the first candidate") : "next in order"
        return "\(name): selected, \(reason)."
    }

    // MARK: Kernel

    static func kernel(_ facts: TapFacts) -> [String] {
        guard let application = facts.trace.outcome.application else { return [] }
        let entry = facts.analysis.applications.first { $0.adfName == application.adfName }
        let name = CodeNames.kernelName(application.kernel).capitalizedFirst
        var sentences: [String] = []
        if let identifier = entry?.kernelIdentifier, !identifier.isEmpty {
            sentences.append("\(name), because the directory entry asks for it (9F2A \(Hex.string(identifier))).")
        } else if let scheme = PaymentNetwork(aid: application.matchingAID)?.scheme {
            sentences.append("\(name), because the entry names none and the AID is \(scheme)'s.")
        } else {
            sentences.append("\(name), because the terminal has this AID with it and the entry names none.")
        }
        if application.kernel == .visa {
            sentences.append("The card's PDOL asks for the TTQ (9F66), as this kernel needs it.")
        }
        return sentences
    }
}
