// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Codes
import EMV

extension TerminalFile {
    /// Changes to the published rows, by scheme: what a member names takes the place of one tag's entry.
    static func hostData(_ value: TerminalFileValue) throws(TerminalFileError) -> HostData {
        var data = HostData.standard
        for scheme in try value.members() {
            guard PaymentNetwork.schemes.contains(scheme.name) else { throw .unknown(scheme.value.path) }
            try scheme.value.object(["tags", "refunds"])
            var row = data.row(ofScheme: scheme.name)
            if let tags = try scheme.value.optional("tags") {
                for entry in try entries(tags) { row.set(entry.tag, entry.presence) }
            }
            if let refunds = try scheme.value.optional("refunds") {
                for entry in try entries(refunds) { row.setInRefunds(entry.tag, entry.presence) }
            }
            data.set(row, ofScheme: scheme.name)
        }
        return data
    }

    private static func entries(
        _ value: TerminalFileValue
    ) throws(TerminalFileError) -> [(tag: Tag, presence: HostData.Presence)] {
        var entries: [(Tag, HostData.Presence)] = []
        let words = HostData.Presence.allCases.map(\.rawValue)
        for member in try value.members() {
            guard let tag = tag(member.name) else { throw .unknown(member.value.path) }
            guard let presence = HostData.Presence(rawValue: try member.value.word(of: words)) else { continue }
            entries.append((tag, presence))
        }
        return entries
    }
}
