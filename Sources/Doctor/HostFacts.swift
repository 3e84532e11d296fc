import ReaderModels

/// Everything a checkup looks at, gathered once.
public struct HostFacts {
    /// The program and its unit.
    static let daemonName = "nfc-tapd"
    static let workerName = "nfc-tap-libnfc-worker"
    static let configurationFile = "/etc/nfc-tap/nfc-tapd.toml"

    let tree: HostTree
    let processes: [HostProcess]
    let readers: [AttachedReader]
    let accounts: Accounts
    let configurationPath: String
    /// `nil` where the file is not there.
    let configurationText: String?
    let settings: DaemonSettings
    let isConfigurationTOML: Bool
    let pcsc: PCSCAnswer
    /// Seconds since 1970.
    let now: Int64
    /// Who asks.
    let userID: UInt32

    /// - Parameters:
    ///   - tree: the machine's files.
    ///   - configuration: the daemon's configuration file; `nil` for that of an installed daemon.
    ///   - pcsc: what pcscd answered.
    ///   - now: seconds since 1970.
    ///   - userID: the effective user of this process: what it may see depends on it.
    public init(tree: HostTree, configuration: String? = nil, pcsc: PCSCAnswer, now: Int64, userID: UInt32) {
        self.tree = tree
        processes = HostProcess.all(in: tree)
        readers = AttachedReader.all(in: tree)
        accounts = Accounts(tree)
        configurationPath = configuration ?? Self.configurationFile
        configurationText = tree.text(configurationPath)
        let read = configurationText.map { DaemonSettings(toml: $0) }
        isConfigurationTOML = read.map { $0 != nil } ?? true
        settings = read.flatMap(\.self) ?? DaemonSettings()
        self.pcsc = pcsc
        self.now = now
        self.userID = userID
    }

    /// Whether the daemon is a service of this machine, rather than something somebody starts by hand.
    var isInstalled: Bool {
        ["/lib/systemd/system/", "/usr/lib/systemd/system/", "/etc/systemd/system/"].contains {
            tree.exists($0 + "nfc-tapd.service")
        }
    }

    func processes(of program: String) -> [HostProcess] { processes.filter { $0.isProgram(program) } }

    /// Whether readers behind pcscd are used or could be: it matters unless every lane goes elsewhere.
    var needsPCSC: Bool {
        settings.usesPCSC || (settings.lanes.isEmpty && !readers.contains { $0.model.backend == .libnfc })
    }
}
