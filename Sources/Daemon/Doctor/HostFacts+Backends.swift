// SPDX-License-Identifier: Apache-2.0
import Configuration
import ReaderModels

extension HostFacts {
    /// Programs that hold a reader and are not the one that should.
    func holders() -> [Finding] {
        var findings: [Finding] = []
        for reader in readers {
            findings += holderFindings(reader.node, reader.model.name, expected: expectedHolder(reader.model.backend))
        }
        for path in Set(libnfcConnections.compactMap(Self.serialPath)).sorted() {
            findings += holderFindings(path, "reader at \(path)", expected: Self.workerName)
        }
        findings += pcscHolders
        if userID != 0, tree.isThisMachine, processes.contains(where: { $0.openDevices == nil }) {
            findings.append(
                Finding(
                    .holder, .note, "only root can see which programs hold a reader",
                    remedy: "run nfc-tap doctor as root"))
        }
        return findings
    }

    private func expectedHolder(_ backend: ReaderModel.Backend) -> String {
        switch backend {
        case .pcsc: "pcscd"
        case .libnfc: Self.workerName
        }
    }

    private func holderFindings(_ node: String, _ reader: String, expected: String) -> [Finding] {
        let all = processes.filter { $0.openDevices?.contains(node) == true }
        return all.filter { !$0.isProgram(expected) }.map { process in
            let others = all.contains { $0.isProgram(expected) } ? "; so does \(expected)" : ""
            return Finding(
                .holder, .error, "\(process.name) (process \(process.identifier)) holds the \(reader)\(others)",
                remedy: Self.makingRoom(process))
        }
    }

    private static func makingRoom(_ process: HostProcess) -> String {
        let stop = process.unit.map { "systemctl stop \($0)" } ?? "kill \(process.identifier)"
        return stop + ", or configure that program to leave the reader alone"
    }

    /// Programs with a connection to pcscd. Which of them has a reader, pcscd tells nobody; whether somebody has, it does.
    private var pcscHolders: [Finding] {
        guard needsPCSC else { return [] }
        let inUse: Set<String> = if case .readers(_, let names) = pcsc { names } else { [] }
        return otherClients.map { process in
            let program = "\(process.name) (process \(process.identifier))"
            guard let reader = inUse.sorted().first else {
                return Finding(
                    .holder, .warning, "\(program) is connected to pcscd and can take the reader from a payment",
                    remedy: Self.makingRoom(process))
            }
            return Finding(
                .holder, .error, "\(reader) is in use, and \(program) is connected to pcscd",
                remedy: Self.makingRoom(process))
        }
    }

    /// Who is connected to pcscd and is neither the daemon nor this process.
    var otherClients: [HostProcess] {
        processes.filter { process in
            !process.sockets.isDisjoint(with: pcscClients) && !process.isProgram(Self.daemonName)
                && !process.isProgram("pcscd") && process.identifier != HostProcess.own
        }
    }

    /// Readers and the lanes of the configuration, whether they fit.
    func backends() -> [Finding] {
        var findings = libnfcConnections.flatMap(connectionFindings)
        if settings.lanes.isEmpty || settings.lanes.contains(where: { !$0.isVirtual }), !hasReader, !isPCSCHidden {
            findings.append(
                Finding(
                    .backend, .error, "no known reader is connected",
                    remedy: "connect a reader of docs/shop/readers.md; lsusb shows what the kernel sees"))
        }
        if usesPCSC, !readers.isEmpty, readers.allSatisfy({ $0.model.backend == .libnfc }), !isPCSCReaderListed {
            findings.append(
                Finding(
                    .backend, .error, "the \(readers[0].model.name) does not speak CCID: pcscd cannot use it",
                    remedy: "write reader = \"libnfc:pn53x_usb\" in \(configurationPath)"))
        }
        return findings + unlisted
    }

    private func connectionFindings(_ connection: String) -> [Finding] {
        var findings: [Finding] = []
        let model = ReaderModels.model(connection: connection)
        if let model, model.backend == .pcsc {
            let answer = model.quirks.contains(.shortAnswersInLibNFC) ? ": libnfc loses long answers of cards" : ""
            findings.append(
                Finding(
                    .backend, .error, "the lane with libnfc:\(connection) should use pcscd\(answer)",
                    remedy: "write reader = \"pcsc:\(model.shortName)\" in \(configurationPath)"))
        } else if connection.hasPrefix("pn53x_usb"), !readers.contains(where: { $0.model.backend == .libnfc }),
            let other = readers.first
        {
            findings.append(
                Finding(
                    .backend, .error, "a lane is configured for a PN533, but the \(other.model.name) is connected",
                    remedy: "write reader = \"pcsc:\(other.model.shortName)\" in \(configurationPath)"))
        }
        if isInstalled, let file = Self.dropIn(for: connection), !hasDropIn(file) {
            findings.append(
                Finding(
                    .backend, .error, "\(Self.daemonName).service has no access to the device of libnfc:\(connection)",
                    remedy:
                        "install -D -m 0644 /usr/share/nfc-tap/\(file) /etc/systemd/system/nfc-tapd.service.d/\(file) "
                        + "&& systemctl daemon-reload && systemctl restart nfc-tapd"))
        }
        if isInstalled, connection.contains("_usb"), usesModernUSBLibrary, !hasDropIn("netlink.conf") {
            findings.append(
                Finding(
                    .backend, .error,
                    "libnfc works over libusb-1.0 here, which finds no USB reader without netlink, and "
                        + "\(Self.daemonName).service refuses that",
                    remedy:
                        "install -D -m 0644 /usr/share/nfc-tap/netlink.conf "
                        + "/etc/systemd/system/nfc-tapd.service.d/netlink.conf && systemctl daemon-reload "
                        + "&& systemctl restart nfc-tapd"))
        }
        return findings
    }

    /// Whether libnfc, or the libusb-0.1 that it is linked with, wants libusb-1.0: the name stands in the table of what the
    /// library needs. The worker itself knows for certain once it runs.
    private var usesModernUSBLibrary: Bool {
        let folders = ["/usr/lib", "/usr/local/lib"].flatMap { folder in
            [folder] + tree.entries(folder).filter { $0.contains("-linux-gnu") }.map { "\(folder)/\($0)" }
        }
        let name = Array("libusb-1.0.so".utf8)
        return folders.flatMap { ["\($0)/libnfc.so.6", "\($0)/libusb-0.1.so.4"] }.contains { path in
            guard let bytes = tree.bytes(path), bytes.count >= name.count else { return false }
            return (0...(bytes.count - name.count)).contains { bytes[$0...].starts(with: name) }
        }
    }

    /// What the unit needs on top for a device that the daemon opens itself.
    private static func dropIn(for connection: String) -> String? {
        if serialPath(connection) != nil { return "serial.conf" }
        return connection.contains("_usb") ? "usb.conf" : nil
    }

    private func hasDropIn(_ file: String) -> Bool {
        ["/etc/systemd/system", "/run/systemd/system", "/lib/systemd/system", "/usr/lib/systemd/system"].contains {
            tree.exists("\($0)/nfc-tapd.service.d/\(file)")
        }
    }

    private var hasReader: Bool {
        !readers.isEmpty || isPCSCReaderListed
            || libnfcConnections.compactMap(Self.serialPath).contains(where: tree.exists)
    }

    /// Whether pcscd has not told us what readers it has: it may well have one that it knows by its USB class.
    private var isPCSCHidden: Bool {
        [.accessDenied, .otherVersion].contains(pcsc) || (pcsc == .unknown && tree.isThisMachine)
    }

    private var isPCSCReaderListed: Bool {
        guard case .readers(let names, _) = pcsc else { return false }
        return !names.isEmpty
    }

    /// CCID readers on USB that pcscd does not list.
    private var unlisted: [Finding] {
        guard needsPCSC, case .readers(let names, _) = pcsc else { return [] }
        let listed = names.compactMap { ReaderModels.model(named: $0) }
        return readers.filter { $0.model.backend == .pcsc && !listed.contains($0.model) && $0.kernelDrivers.isEmpty }
            .map {
                Finding(
                    .backend, .error, "the \($0.model.name) is connected, but pcscd does not list it",
                    remedy:
                        "unplug the reader and plug it in again; journalctl -u pcscd says why pcscd could not open it")
            }
    }
}

extension ReaderModel {
    /// Without the maker: what its PC/SC name certainly has in it.
    fileprivate var shortName: String { name.split(separator: " ").last.map(String.init) ?? name }
}
