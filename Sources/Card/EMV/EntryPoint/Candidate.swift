// SPDX-License-Identifier: Apache-2.0
/// One entry of the candidate list (EMV Contactless Book B §3.3.2).
struct Candidate: Equatable {
    var entry: PPSEEntry
    /// Index of the combination in the terminal's configuration.
    var combination: Int

    /// SELECT data: the ADF name, followed by the Extended Selection where the combination supports it
    /// (requirement 3.3.3.3). Never more than 16 bytes.
    func selectionName(extended: Bool) -> [UInt8] {
        let name = entry.adfName + entry.extendedSelection
        return extended && name.count <= 16 ? name : entry.adfName
    }

    /// The candidates of `entries` in the order of selection (requirements 3.3.2.5 and 3.3.3.2).
    static func list(
        _ entries: [PPSEEntry], _ configuration: TerminalConfiguration,
        allowed: some Sequence<(index: Int, isAllowed: Bool)>
    ) -> [Candidate] {
        let combinations = configuration.combinations
        var found: [Candidate] = []
        var isOrdered = true
        for entry in entries {
            for item in allowed where item.isAllowed {
                guard entry.adfName.starts(with: combinations[item.index].aid) else { continue }
                guard
                    entry.requestedKernel(matching: combinations[item.index].aid, configuration.entryPointVersion)
                        .accepts(combinations[item.index].kernel)
                else { continue }
                if let last = found.last, last.entry.selectionOrder > entry.selectionOrder { isOrdered = false }
                found.append(Candidate(entry: entry, combination: item.index))
            }
        }
        // Built in PPSE order, and `sort` is stable: only the priority needs comparing.
        if !isOrdered { found.sort { $0.entry.selectionOrder < $1.entry.selectionOrder } }
        return found
    }

    /// The same candidates with those of the merchant's preference before the others, in the order of the preference;
    /// among themselves they keep the card's order.
    ///
    /// The merchant's choice on a co-badged card (Regulation (EU) 2015/751 article 8(6)); EMV Contactless Book B leaves
    /// the step to the terminal. An AID stands for itself and what begins with it, so that an RID is enough.
    static func preferring(_ preferred: [[UInt8]], _ candidates: [Candidate]) -> [Candidate] {
        guard !preferred.isEmpty else { return candidates }
        let rank = { (candidate: Candidate) in
            preferred.firstIndex { candidate.entry.adfName.starts(with: $0) } ?? preferred.count
        }
        return (0...preferred.count).flatMap { place in candidates.filter { rank($0) == place } }
    }
}
