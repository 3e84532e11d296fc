// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// What Entry Point makes of a terminal's combinations and a card's directory, with everything it leaves out: for
/// people who ask why an application was chosen. Made by the rules that `EntryPoint` itself runs.
public struct SelectionAnalysis: Sendable {
    /// A combination of the terminal before the tap (EMV Contactless Book B §3.1.1).
    public struct PreparedCombination: Sendable {
        public let combination: Combination
        /// The combination is configured for the transaction's type.
        public let coversType: Bool
        /// The terminal has the combination's kernel.
        public let hasKernel: Bool
        public let indicators: PreProcessingIndicators

        /// Whether the combination may be used for this transaction.
        public var isAllowed: Bool { coversType && hasKernel && !indicators.contactlessNotAllowed }
    }

    /// An entry of the PPSE (EMV Contactless Book B Table 3-3).
    public struct ListedApplication: Sendable {
        public let adfName: [UInt8]
        /// Application Label (50) of the directory.
        public let label: [UInt8]?
        /// 1…15, lower first; 0 where the card gives none, which comes last.
        public let priority: UInt8
        /// Kernel Identifier (9F2A) as sent; empty where absent.
        public let kernelIdentifier: [UInt8]
        /// The kernel that the entry asks for, by 9F2A or else by its provider; `nil` where any will do, or none can be told.
        public let requestedKernel: KernelIdentifier?
        /// Combinations whose AID the name equals or begins with, by their index.
        public let matching: [Int]
        /// Applications of `matching` that are allowed and whose kernel the entry accepts.
        public let usable: [Int]
    }

    /// In the order of the terminal's configuration.
    public let combinations: [PreparedCombination]
    /// In the order of the PPSE.
    public let applications: [ListedApplication]
    /// Candidates in the order of selection, as indices of `applications` and `combinations`.
    public let candidates: [(application: Int, combination: Int)]
    /// The merchant's preference put a candidate before one that the card wanted first.
    public let isReordered: Bool

    /// - Parameter directory: the answer to the selection of the PPSE, or `nil` before there is one.
    public init(
        configuration: TerminalConfiguration, transaction: Transaction, kernels: KernelSet = .standard,
        directory: ResponseAPDU?
    ) {
        let prepared = configuration.combinations.map { combination in
            PreparedCombination(
                combination: combination, coversType: combination.covers(transaction.type),
                hasKernel: kernels.contains(combination.kernel),
                indicators: PreProcessing.indicators(combination.limits, transaction))
        }
        let answer = directory.flatMap { $0.status.isSuccess ? $0.data : nil }
        let entries = answer.map { PPSEEntry.entries(ofPPSE: $0) } ?? []
        combinations = prepared
        applications = entries.map { SelectionAnalysis.listed($0, prepared, configuration.entryPointVersion) }
        let listed = Candidate.list(
            entries, configuration, allowed: prepared.indices.map { (index: $0, isAllowed: prepared[$0].isAllowed) })
        let ordered = Candidate.preferring(configuration.preferredApplications, listed)
        isReordered = ordered != listed
        candidates = ordered.map { candidate in (entries.firstIndex(of: candidate.entry) ?? 0, candidate.combination) }
    }

    private static func listed(
        _ entry: PPSEEntry, _ combinations: [PreparedCombination], _ version: EntryPointVersion
    ) -> ListedApplication {
        let matching = combinations.indices.filter { entry.adfName.starts(with: combinations[$0].combination.aid) }
        let usable = matching.filter { index in
            let combination = combinations[index].combination
            return combinations[index].isAllowed
                && entry.requestedKernel(matching: combination.aid, version).accepts(combination.kernel)
        }
        let requested: KernelIdentifier? =
            if case .kernel(let kernel) = entry.requestedKernel(matching: entry.adfName, version) { kernel } else {
                nil
            }
        return ListedApplication(
            adfName: entry.adfName, label: entry.label, priority: entry.priority & 0x0F,
            kernelIdentifier: entry.kernelIdentifier, requestedKernel: requested, matching: matching, usable: usable)
    }
}
