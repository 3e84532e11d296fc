// SPDX-License-Identifier: Apache-2.0
import Configuration
package import Linux
import ReaderModels
import Settings

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
    /// As the daemon reads it; the defaults of an installed one for what is missing or wrong.
    let settings: ConfigurationFile
    /// Everything that the daemon would refuse of it.
    let configurationFaults: [ConfigurationError]
    let gatewayFacts: GatewayFacts
    /// To whoever asks here.
    let pcsc: PCSCAnswer
    /// To the daemon's user, where we may ask in its name.
    let pcscForDaemon: PCSCAnswer
    /// The other ends of pcscd's connections, by their inodes; empty where the kernel does not tell.
    let pcscClients: Set<UInt32>
    /// Seconds since 1970.
    let now: Int64
    /// Who asks.
    let userID: UInt32

    /// - Parameters:
    ///   - tree: the machine's files.
    ///   - configuration: the daemon's configuration file; `nil` for that of an installed daemon.
    ///   - gateway: what the gateway's configuration says.
    ///   - pcsc: what pcscd answered.
    ///   - pcscForDaemon: what it answered to the daemon's user.
    ///   - connections: Unix sockets that are connected; `nil` for those of this machine.
    ///   - now: seconds since 1970.
    ///   - userID: the effective user of this process: what it may see depends on it.
    package init(
        tree: HostTree, configuration: String? = nil, gateway: GatewayFacts, pcsc: PCSCAnswer,
        pcscForDaemon: PCSCAnswer = .unknown, connections: [UnixConnection]? = nil, now: Int64, userID: UInt32
    ) {
        self.tree = tree
        processes = HostProcess.all(in: tree)
        readers = AttachedReader.all(in: tree)
        accounts = Accounts(tree)
        configurationPath = configuration ?? Self.configurationFile
        configurationText = tree.text(configurationPath)
        (settings, configurationFaults) = ConfigurationFile.read(
            path: configurationPath, host: tree.configurationHost(accounts), at: UInt64(max(0, now)))
        gatewayFacts = gateway
        self.pcsc = pcsc
        self.pcscForDaemon = pcscForDaemon
        let known = connections ?? (tree.isThisMachine ? try? UnixConnection.all() : nil) ?? []
        pcscClients = Set(known.filter { $0.path.hasSuffix("/pcscd.comm") }.map(\.peer))
        self.now = now
        self.userID = userID
    }

    /// Where the daemon listens.
    public var posSocket: String { settings.pos.socket }

    /// Whether the daemon is a service of this machine, rather than something somebody starts by hand.
    var isInstalled: Bool { hasUnit("nfc-tapd.service") }

    /// Whether somebody asks about a configuration of their own: they mean its daemon, installed or not.
    var namesConfiguration: Bool { configurationPath != Self.configurationFile && configurationText != nil }

    func hasUnit(_ name: String) -> Bool {
        ["/lib/systemd/system/", "/usr/lib/systemd/system/", "/etc/systemd/system/"].contains { tree.exists($0 + name) }
    }

    func processes(of program: String) -> [HostProcess] { processes.filter { $0.isProgram(program) } }

    /// Whether readers behind pcscd are used or could be: it matters unless every lane goes elsewhere.
    var needsPCSC: Bool {
        usesPCSC || (settings.lanes.isEmpty && !readers.contains { $0.model.backend == .libnfc })
    }

    /// Whether a lane has its reader from pcscd.
    var usesPCSC: Bool { settings.lanes.contains { if case .pcsc = $0.reader { true } else { false } } }

    var libnfcConnections: [String] {
        settings.lanes.compactMap { if case .libnfc(let connection) = $0.reader { connection } else { nil } }
    }
}

extension HostTree {
    /// The machine for whoever reads the daemon's configuration.
    fileprivate func configurationHost(_ accounts: Accounts) -> ConfigurationHost {
        guard !isThisMachine else { return .ofInstalledDaemon }
        var host = ConfigurationHost()
        host.root = root
        host.groupNumber = { accounts.groupID($0) }
        return host
    }
}
