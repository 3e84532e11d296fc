import TOMLKit

/// What the daemon's configuration says that a checkup needs. The daemon itself checks every key and value; here a key
/// that is missing or of another type counts as absent.
struct DaemonSettings {
    enum LaneReader: Equatable {
        /// Part of the PC/SC name; empty for any.
        case pcsc(String)
        /// libnfc's connection string.
        case libnfc(String)
        /// Of tests.
        case virtual

        fileprivate init?(_ text: String) {
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let rest = parts.count == 2 ? parts[1] : ""
            switch parts[0] {
            case "pcsc": self = .pcsc(rest)
            case "libnfc": self = .libnfc(rest)
            case "virtual": self = .virtual
            default: return nil
            }
        }
    }

    var posSocket = "/run/nfc-tap/pos.sock"
    var adapterSocket = "/run/nfc-tap/psp.sock"
    var recipientKey: String?
    var lanes: [LaneReader] = []

    /// The daemon's defaults.
    init() {}

    /// - Returns: `nil` where the text is no TOML.
    init?(toml text: String) {
        guard let top = try? TOMLTable(string: text) else { return nil }
        posSocket = top["pos"]?.table?["socket"]?.string ?? posSocket
        let psp = top["psp"]?.table
        adapterSocket = psp?["socket"]?.string ?? adapterSocket
        recipientKey = psp?["recipient-key"]?.string
        guard let lanes = top["lane"]?.array else { return }
        for index in 0..<lanes.count {
            guard let text = lanes[index].table?["reader"]?.string, let reader = LaneReader(text) else { continue }
            self.lanes.append(reader)
        }
    }

    var usesPCSC: Bool { lanes.contains { if case .pcsc = $0 { true } else { false } } }

    var libnfcConnections: [String] {
        lanes.compactMap { if case .libnfc(let connection) = $0 { connection } else { nil } }
    }
}
