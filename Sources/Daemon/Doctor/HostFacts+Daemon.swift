// SPDX-License-Identifier: Apache-2.0
import Configuration
import POSAPI
import PaymentValues
import Settings

extension HostFacts {
    func configuration() -> [Finding] {
        guard isInstalled || configurationPath != Self.configurationFile else { return [] }
        guard let attributes = tree.attributes(configurationPath), configurationText != nil else {
            return [
                Finding(
                    .configuration, .error, "cannot read the configuration \(configurationPath)",
                    remedy: "copy /usr/share/doc/nfc-tap/examples/nfc-tapd.toml there, and see nfc-tapd.conf(5)")
            ]
        }
        var findings: [Finding] = []
        findings += configurationFaults.filter { $0.key != Self.recipientSetting }.map { finding(.configuration, $0) }
        if settings.diagnostics.cardCommands {
            findings.append(
                Finding(
                    .configuration, .warning, "administrators may send commands to a card and see what it answers",
                    remedy:
                        "when you are done, remove card-commands from \(configurationPath) and run systemctl reload nfc-tapd"
                ))
        }
        if attributes.mode & 0o022 != 0 {
            findings.append(
                Finding(
                    .configuration, .warning, "users other than its owner can write \(configurationPath)",
                    remedy: "chmod go-w \(configurationPath)"))
        }
        return findings
    }

    /// What the daemon would refuse. What this user may not look into, the daemon perhaps may; its credentials are there
    /// only while it runs.
    func finding(_ subject: Finding.Subject, _ fault: ConfigurationError) -> Finding {
        let place = configurationPath + (fault.line.map { ":\($0)" } ?? "")
        let isOnlyHidden = fault.isUnreadable && (userID != 0 || fault.key.hasSuffix(".credential"))
        return Finding(
            subject, isOnlyHidden ? .note : .error, "\(place): \(fault.key) \(fault.problem)", remedy: fault.remedy)
    }

    /// What the package makes: users, groups, folders.
    func installation() -> [Finding] {
        guard isInstalled else { return [] }
        let groups = [
            "nfc-tap", "nfc-tap-psp", "nfc-tap-admin", "nfc-tap-loyalty", "nfc-tap-machine", "nfc-tap-monitor",
        ]
        var missing = groups.filter { accounts.groupID($0) == nil }
        if accounts.userID(Self.daemonName) == nil { missing.insert(Self.daemonName, at: 0) }
        if !missing.isEmpty {
            let make = ["systemd-sysusers", "nfc-tap.conf"]
            return [
                Finding(
                    .accounts, .error, "users or groups are missing: \(missing.joined(separator: ", "))",
                    remedy: make.joined(separator: " "), fix: .run(make))
            ]
        }
        if let psp = accounts.groupID("nfc-tap-psp"), !accounts.groupIDs(ofUser: Self.daemonName).contains(psp) {
            return [
                Finding(
                    .accounts, .error,
                    "\(Self.daemonName) is not in the group nfc-tap-psp and cannot reach the adapter",
                    remedy: "usermod --append --groups nfc-tap-psp \(Self.daemonName) && systemctl restart nfc-tapd")
            ]
        }
        guard !tree.exists("/run/nfc-tap") else { return [] }
        let make = ["systemd-tmpfiles", "--create", "nfc-tap.conf"]
        return [
            Finding(
                .accounts, .error, "the sockets' folder /run/nfc-tap is missing",
                remedy: make.joined(separator: " "), fix: .run(make))
        ]
    }

    func daemon() -> [Finding] {
        guard isInstalled else {
            guard processes(of: Self.daemonName).isEmpty else { return [] }
            return [
                Finding(
                    .daemon, .note, "\(Self.daemonName) is neither installed as a service nor running",
                    remedy: "install the package for a shop; nfc-tap read needs no daemon")
            ]
        }
        guard !processes(of: Self.daemonName).isEmpty else {
            return [
                Finding(
                    .daemon, .error, "\(Self.daemonName) is not running",
                    remedy:
                        "systemctl enable --now nfc-tapd.socket nfc-tapd.service; journalctl -u nfc-tapd says why it ended"
                )
            ]
        }
        switch tree.socket(settings.pos.socket) {
        case .listening: return []
        case .absent, .refused:
            return [
                Finding(
                    .daemon, .error, "\(Self.daemonName) runs, but does not listen at \(settings.pos.socket)",
                    remedy: "systemctl restart nfc-tapd.socket nfc-tapd.service")
            ]
        case .denied:
            return [
                Finding(
                    .daemon, .note, "this user has no access to \(settings.pos.socket)",
                    remedy: "usermod --append --groups nfc-tap USER for each cashier, who then logs in again")
            ]
        }
    }

    /// What keeps card data in memory: locked pages and no core dumps, of the daemon and of its workers.
    func processLimits() -> [Finding] {
        // SecretBytes locks a page or two for each secret; one tap has a handful.
        let enough: UInt64 = 1_024 * 1_024
        let ours = processes(of: Self.daemonName) + processes(of: Self.workerName)
        return ours.flatMap { process in
            var findings: [Finding] = []
            let name = process.isProgram(Self.daemonName) ? Self.daemonName : Self.workerName
            if let limit = process.lockedMemoryLimit, limit < enough, name == Self.daemonName {
                findings.append(
                    Finding(
                        .memoryLock, .warning,
                        "\(name) (process \(process.identifier)) can lock only \(limit / 1_024) KiB of memory: "
                            + "card data could reach the swap",
                        remedy: "start it by its unit, which has LimitMEMLOCK=16M, or raise ulimit -l"))
            }
            if let limit = process.coreFileLimit, limit != 0 {
                findings.append(
                    Finding(
                        .coreDumps, .error,
                        "\(name) (process \(process.identifier)) can leave core dumps with card data",
                        remedy: "start it by its unit, which has LimitCORE=0, and report this"))
            }
            return findings
        }
    }

    /// The program that runs libnfc.
    func worker() -> [Finding] {
        guard !libnfcConnections.isEmpty else { return [] }
        let places = ["/usr/libexec/nfc-tap/", "/usr/bin/", "/usr/local/libexec/nfc-tap/", "/usr/local/bin/"]
        guard !places.contains(where: { tree.isExecutable($0 + Self.workerName) }) else { return [] }
        return [
            Finding(
                .worker, .error, "\(Self.workerName) is missing, but a lane needs it",
                remedy: "apt-get install --reinstall nfc-tap")
        ]
    }

    /// What the daemon says of its journal and the disk under it.
    static func journal(_ journal: Status.Journal?) -> [Finding] {
        guard let journal else { return [] }
        var findings: [Finding] = []
        if let error = journal.error {
            let effect = journal.writable ? "" : ", no sale can be taken"
            let cause = journal.cause.map { ": \($0)" } ?? ""
            findings.append(
                Finding(
                    .journal, .error, "the journal: \(error.message)\(effect) (\(error.code))\(cause)",
                    remedy: error.resolution
                ))
        }
        if !journal.damaged.isEmpty {
            findings.append(
                Finding(
                    .journal, .error,
                    "damaged in the journal and set apart: \(journal.damaged.joined(separator: ", "))",
                    remedy:
                        "ask the payment service about these payments, compare with the last backup, and replace the disk"
                ))
        }
        if let fault = journal.auditFaults?.first {
            findings.append(
                Finding(
                    .journal, .error, "the audit chain does not hold: \(fault)",
                    remedy: "make a copy of the journal, and run nfc-tap audit verify"))
        }
        return findings
    }
}
