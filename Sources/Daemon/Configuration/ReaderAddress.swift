// SPDX-License-Identifier: Apache-2.0
/// How a reader is named on the command line and in the configuration: `pcsc`, `pcsc:NAME`, `libnfc:CONNECTION`,
/// `virtual:SOCKET`, or `virtual:CARD` where a program plays the reader itself.
public enum ReaderAddress: Equatable, Sendable {
    /// Part of the PC/SC name; empty for the first contactless reader.
    case pcsc(String)
    /// libnfc's connection string.
    case libnfc(String)
    /// What stands behind the colon of a virtual reader.
    case virtual(String)

    /// What a virtual reader is named by.
    public enum VirtualName: Sendable {
        /// Absolute path of the Unix socket that takes its text commands.
        case socket
        /// The card that lies on it.
        case card
    }

    /// - Returns: `nil` for another kind, and where what has to follow the colon is missing.
    public init?(_ text: String, virtual name: VirtualName = .socket) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let rest = parts.count == 2 ? parts[1] : ""
        switch parts[0] {
        case "pcsc": self = .pcsc(rest)
        case "libnfc" where !rest.isEmpty: self = .libnfc(rest)
        case "virtual" where name == .card ? !rest.isEmpty : rest.hasPrefix("/"): self = .virtual(rest)
        default: return nil
        }
    }

    /// Whether a reader can be right for both: parts of a PC/SC name of which one is in the other, or the same device.
    public func mayBeSameReader(as other: ReaderAddress) -> Bool {
        guard case .pcsc(let text) = self, case .pcsc(let otherText) = other else { return self == other }
        let (one, two) = (text.lowercased(), otherText.lowercased())
        return one.isEmpty || two.isEmpty || one.contains(two) || two.contains(one)
    }
}
