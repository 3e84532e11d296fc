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
        } else if pcsc == .notRunning {
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
        let asks = tree.exists("/usr/share/polkit-1/actions/org.debian.pcsc-lite.policy")
        if asks, isInstalled, !isDaemonAllowed {
            return [
                Finding(
                    .polkit, .error, "no polkit rule gives \(Self.daemonName) access to pcscd",
                    remedy: "write a rule for \(Self.daemonName) into \(Self.polkitFile)",
                    fix: .write(path: Self.polkitFile, text: Self.polkitText))
            ]
        }
        guard pcsc == .accessDenied else { return [] }
        return [
            Finding(
                .polkit, .warning, "pcscd refuses this user",
                remedy: "run as root, or allow this user \(Self.polkitActions.joined(separator: " and ")) in polkit")
        ]
    }

    private var isDaemonAllowed: Bool {
        for folder in ["/etc/polkit-1/rules.d", "/usr/share/polkit-1/rules.d"] {
            for file in tree.entries(folder) where file.hasSuffix(".rules") {
                let text = tree.text("\(folder)/\(file)") ?? ""
                if text.contains("pcsc-lite"), text.contains(Self.daemonName) { return true }
            }
        }
        return false
    }

    /// The same as systemd/nfc-tap-polkit.rules.
    static let polkitText = """
        // pcscd built with polkit refuses programs without a session, and a daemon has none.
        polkit.addRule(function (action, subject) {
            var actions = ["org.debian.pcsc-lite.access_pcsc", "org.debian.pcsc-lite.access_card"];
            if (subject.user == "nfc-tapd" && actions.indexOf(action.id) >= 0) return polkit.Result.YES;
        });

        """
}
