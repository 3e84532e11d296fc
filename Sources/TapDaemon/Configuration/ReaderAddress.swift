/// How a reader is named on the command line and in the configuration: `pcsc:NAME`, `libnfc:CONNECTION`,
/// `virtual:SOCKET`.
public enum ReaderAddress: Equatable, Sendable {
    /// Part of the PC/SC name; empty for the first contactless reader.
    case pcsc(String)
    /// libnfc's connection string.
    case libnfc(String)
    /// Unix socket that takes the virtual reader's text commands.
    case virtual(String)

    /// - Returns: `nil` for another kind, and where libnfc or the virtual reader have nothing after the colon.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let rest = parts.count == 2 ? parts[1] : ""
        switch parts[0] {
        case "pcsc": self = .pcsc(rest)
        case "libnfc" where !rest.isEmpty: self = .libnfc(rest)
        case "virtual" where rest.hasPrefix("/"): self = .virtual(rest)
        default: return nil
        }
    }
}
