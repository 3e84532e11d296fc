/// One entry of the candidate list (EMV Contactless Book B §3.3.2).
struct Candidate: Equatable {
    var entry: DirectoryEntry
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
        _ entries: [DirectoryEntry], _ combinations: [Combination], allowed: [(index: Int, isAllowed: Bool)]
    ) -> [Candidate] {
        var found: [(order: UInt8, position: Int, candidate: Candidate)] = []
        for (position, entry) in entries.enumerated() {
            for item in allowed where item.isAllowed {
                let combination = combinations[item.index]
                guard entry.adfName.starts(with: combination.aid) else { continue }
                guard entry.requestedKernel(matching: combination.aid).accepts(combination.kernel) else { continue }
                let candidate = Candidate(entry: entry, combination: item.index)
                found.append((entry.selectionOrder, position, candidate))
            }
        }
        // Built in PPSE order, and `sort` is stable: only the priority needs comparing.
        found.sort { $0.order < $1.order }
        return found.map { $0.candidate }
    }
}
