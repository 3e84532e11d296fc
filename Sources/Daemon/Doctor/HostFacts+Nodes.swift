// SPDX-License-Identifier: Apache-2.0
import ReaderModels

extension HostFacts {
    private static let retrigger = ["udevadm", "trigger", "--action=change", "--subsystem-match=usb", "--settle"]

    /// Device files: whoever has to open one may, and nobody else.
    func nodeRights() -> [Finding] {
        readers.flatMap(nodeFindings) + serialFindings
    }

    private func nodeFindings(_ reader: AttachedReader) -> [Finding] {
        guard let node = tree.attributes(reader.node) else {
            return [
                Finding(
                    .nodeRights, .error, "the \(reader.model.name) has no device file \(reader.node)",
                    remedy: Self.retrigger.joined(separator: " "), fix: .run(Self.retrigger))
            ]
        }
        var findings: [Finding] = []
        let opener = self.opener(of: reader.model.backend)
        if let opener, !mayOpen(node, opener) {
            findings.append(
                Finding(
                    .nodeRights, .error, "\(opener) has no access to the \(reader.model.name) at \(reader.node)",
                    remedy: Self.retrigger.joined(separator: " ")
                        + "; udevadm info \(reader.node) shows which rules applied",
                    fix: .run(Self.retrigger)))
        }
        let ours: Set<UInt32?> = [0, accounts.groupID("pcscd"), accounts.groupID(Self.daemonName)]
        if node.mode & 0o006 != 0 || (node.mode & 0o060 != 0 && !ours.contains(node.groupID)) {
            findings.append(
                Finding(
                    .nodeRights, .warning,
                    "other users have access to the \(reader.model.name) at \(reader.node) (mode \(String(node.mode, radix: 8)))",
                    remedy: Self.retrigger.joined(separator: " ") + ", with 72-nfc-tap.rules installed",
                    fix: .run(Self.retrigger)))
        }
        return findings
    }

    /// The user who opens a reader; `nil` for root, and where nobody is there yet.
    private func opener(of backend: ReaderModel.Backend) -> String? {
        switch backend {
        case .pcsc:
            guard let userID = processes(of: "pcscd").first?.userID, userID != 0 else { return nil }
            return accounts.userName(userID)
        case .libnfc: return accounts.userID(Self.daemonName) == nil ? nil : Self.daemonName
        }
    }

    private func mayOpen(_ node: HostTree.Attributes, _ user: String) -> Bool {
        guard let userID = accounts.userID(user) else { return false }
        return userID == 0 || node.mayReadAndWrite(userID: userID, groupIDs: accounts.groupIDs(ofUser: user))
    }

    /// Serial lines of the configuration: `pn532_uart:/dev/ttyUSB0:115200`.
    private var serialFindings: [Finding] {
        libnfcConnections.compactMap { connection in
            guard let path = Self.serialPath(connection) else { return nil }
            guard let node = tree.attributes(path) else {
                return Finding(
                    .nodeRights, .error, "the configured serial port \(path) is missing",
                    remedy: "connect the board; dmesg shows the port's name, /dev/serial/by-id a name that stays")
            }
            guard isInstalled, accounts.userID(Self.daemonName) != nil, !mayOpen(node, Self.daemonName) else {
                return nil
            }
            let group = accounts.groupName(node.groupID) ?? "\(node.groupID)"
            return Finding(
                .nodeRights, .error, "\(Self.daemonName) has no access to the serial port \(path)",
                remedy: "usermod --append --groups \(group) \(Self.daemonName) && systemctl restart \(Self.daemonName)")
        }
    }

    static func serialPath(_ connection: String) -> String? {
        let parts = connection.split(separator: ":")
        guard parts.count >= 2, parts[0].hasSuffix("_uart"), parts[1].hasPrefix("/") else { return nil }
        return String(parts[1])
    }
}
