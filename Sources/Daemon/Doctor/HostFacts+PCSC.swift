// SPDX-License-Identifier: Apache-2.0
import ReaderModels

extension HostFacts {
    private static let polkitFile = "/etc/polkit-1/rules.d/50-nfc-tap.rules"
    private static let polkitActions = ["org.debian.pcsc-lite.access_pcsc", "org.debian.pcsc-lite.access_card"]
    private static let startSocket = ["systemctl", "enable", "--now", "pcscd.socket"]

    /// The service behind most readers.
    func pcscService() -> [Finding] {
        guard needsPCSC else { return [] }
        guard ["/usr/sbin/pcscd", "/usr/bin/pcscd", "/sbin/pcscd"].contains(where: tree.exists) else {
            return [Finding(.pcscd, .error, "pcscd is not installed", remedy: "apt-get install pcscd libccid")]
        }
        var findings: [Finding] = []
        let drivers = ["/usr/lib/pcsc/drivers", "/usr/lib64/pcsc/drivers", "/usr/local/lib/pcsc/drivers"]
        if !drivers.contains(where: { tree.exists($0 + "/ifd-ccid.bundle") }) {
            findings.append(
                Finding(.pcscd, .error, "pcscd has no driver for USB readers", remedy: "apt-get install libccid"))
        }
        let socket = "/run/pcscd/pcscd.comm"
        if processes(of: "pcscd").isEmpty, tree.socket(socket) != .listening {
            findings.append(
                Finding(
                    .pcscd, .error, "pcscd is not running, and its socket does not start it",
                    remedy: Self.startSocket.joined(separator: " "), fix: .run(Self.startSocket)))
        } else if pcsc == .otherVersion {
            findings.append(
                Finding(
                    .pcscd, .error, "pcscd and the libpcsclite of this program are of different versions",
                    remedy:
                        "systemctl restart pcscd.socket pcscd.service nfc-tapd; in a container, install the version of pcscd there"
                ))
        } else if pcsc == .notRunning, !isFull {
            findings.append(
                Finding(
                    .pcscd, .error, "pcscd does not answer",
                    remedy: "systemctl restart pcscd.socket pcscd.service; journalctl -u pcscd says why"))
        }
        return findings
    }

    /// Distributions whose pcscd asks polkit refuse every program without a session, and so the daemon.
    func polkitRule() -> [Finding] {
        guard needsPCSC else { return [] }
        // A full pcscd closes a connection as one that refuses it does, and no rule mends that.
        if isFull { return [fullService] }
        if Self.asksPolkit(tree), isInstalled {
            let findings = daemonFindings
            if !findings.isEmpty { return findings }
        }
        guard pcsc == .accessDenied else { return [] }
        guard userID == 0 else {
            return [
                Finding(
                    .polkit, .warning, "pcscd refuses this user",
                    remedy: "run as root, or allow this user \(Self.polkitActions.joined(separator: " and ")) in polkit"
                )
            ]
        }
        return [refusalOfRoot]
    }

    /// Whether pcscd gives no connection because it has no place for one: libpcsclite says of that, by chance, that it refuses or
    /// that it does not run.
    private var isFull: Bool {
        let refusals: [PCSCAnswer] = [.accessDenied, .notRunning]
        return pcscClients.count >= Self.mostClients && (refusals.contains(pcsc) || refusals.contains(pcscForDaemon))
    }

    /// Whether pcscd is built to ask polkit who may use it.
    package static func asksPolkit(_ tree: HostTree) -> Bool {
        tree.exists("/usr/share/polkit-1/actions/org.debian.pcsc-lite.policy")
    }

    /// What keeps the daemon's user from pcscd. pcscd's own answer to it counts; files only where there is none.
    private var daemonFindings: [Finding] {
        let rules = rulesForDaemon
        switch pcscForDaemon {
        case .readers: return []
        case .accessDenied:
            if let rule = rules.first(where: { $0.isReadable }) {
                return [
                    Finding(
                        .polkit, .error, "pcscd refuses \(Self.daemonName), though \(rule.path) seems to allow it",
                        remedy: "systemctl restart polkit; journalctl -u polkit says what it did not take of that file")
                ]
            }
        case .notRunning, .otherVersion, .unknown:
            if rules.contains(where: \.isReadable) { return [] }
            if userID != 0, Self.ruleFolders.contains(where: { tree.exists($0) && !tree.isListed($0) }) {
                return [
                    Finding(
                        .polkit, .note,
                        "only root can see whether a polkit rule gives \(Self.daemonName) access to pcscd",
                        remedy: "run nfc-tap doctor as root")
                ]
            }
        }
        if let rule = rules.first {
            let change = ["chmod", "0644", rule.path]
            return [
                Finding(
                    .polkit, .error, "polkit cannot read \(rule.path), which gives \(Self.daemonName) access to pcscd",
                    remedy: change.joined(separator: " "), fix: .run(change))
            ]
        }
        return [
            Finding(
                .polkit, .error, "no polkit rule gives \(Self.daemonName) access to pcscd",
                remedy: "write a rule for \(Self.daemonName) into \(Self.polkitFile)",
                fix: .write(path: Self.polkitFile, text: Self.polkitText))
        ]
    }

    private static let ruleFolders = ["/etc/polkit-1/rules.d", "/usr/share/polkit-1/rules.d"]

    /// Files with a rule about pcscd and the daemon, comments left aside, and whether polkitd can read them. Whether it takes
    /// what they say, no file tells.
    private var rulesForDaemon: [(path: String, isReadable: Bool)] {
        Self.ruleFolders.flatMap { folder in
            tree.entries(folder).filter { $0.hasSuffix(".rules") }.map { "\(folder)/\($0)" }
        }.compactMap { path in
            let text = Self.withoutComments(tree.text(path) ?? "")
            guard text.contains("pcsc-lite"), text.contains(Self.daemonName) else { return nil }
            let isReadable = tree.attributes(path).map { file in
                file.mode & 0o004 != 0 || file.mode & 0o400 != 0 && file.userID == accounts.userID("polkitd")
                    || file.mode & 0o040 != 0 && file.groupID == accounts.groupID("polkitd")
            }
            return (path, isReadable ?? false)
        }
    }

    /// JavaScript without its comments; good enough for a file of rules, whose texts hold no `//`.
    private static func withoutComments(_ script: String) -> String {
        var kept = ""
        var rest = script[...]
        while let start = rest.firstIndex(of: "/") {
            kept += rest[..<start]
            let tail = rest[start...]
            if tail.hasPrefix("//") {
                rest = tail.drop { $0 != "\n" }
            } else if tail.hasPrefix("/*") {
                let inner = tail.dropFirst(2)
                let end = inner.indices.first { inner[$0...].hasPrefix("*/") }
                rest = end.map { inner[$0...].dropFirst(2) } ?? ""
            } else {
                kept += "/"
                rest = tail.dropFirst()
            }
        }
        return kept + rest
    }

    /// Why pcscd refuses even root: no rule does that.
    private var refusalOfRoot: Finding {
        let restart = "systemctl restart pcscd.socket pcscd.service"
        guard Self.asksPolkit(tree) else {
            return Finding(
                .pcscd, .error, "pcscd ended the connection of root",
                remedy: restart + "; journalctl -u pcscd says why it did")
        }
        let without = "in a container without them write PCSCD_ARGS=--disable-polkit into /etc/default/pcscd, and "
        guard tree.socket("/run/dbus/system_bus_socket") == .listening else {
            return Finding(
                .polkit, .error, "pcscd refuses root, because it cannot ask polkit: D-Bus is not running",
                remedy: "apt-get install dbus polkitd && systemctl start dbus polkit; " + without + restart)
        }
        return Finding(
            .polkit, .error, "pcscd refuses root, because polkit does not answer or a rule forbids it",
            remedy: "systemctl restart polkit; journalctl -u polkit says what is wrong; " + without + restart)
    }

    private var fullService: Finding {
        let users = otherClients.map { "\($0.name) (process \($0.identifier))" }.joined(separator: ", ")
        return Finding(
            .pcscd, .error, "pcscd has its \(Self.mostClients) connections and takes no more",
            remedy: "stop the program that does not close its own\(users.isEmpty ? "" : ": \(users)")")
    }

    /// Contexts that pcscd keeps at most, each with a connection.
    private static let mostClients = 200

    /// The same as systemd/nfc-tap-polkit.rules.
    static let polkitText = """
        // pcscd built with polkit refuses programs without a session, and a daemon has none.
        polkit.addRule(function (action, subject) {
            var actions = ["org.debian.pcsc-lite.access_pcsc", "org.debian.pcsc-lite.access_card"];
            if (subject.user == "nfc-tapd" && actions.indexOf(action.id) >= 0) return polkit.Result.YES;
        });

        """
}
