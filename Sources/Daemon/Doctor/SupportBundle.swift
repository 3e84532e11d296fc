// SPDX-License-Identifier: Apache-2.0
import Configuration
import ReaderModels

/// What a person sends along with a question: how the machine is, never what cards said.
///
/// Everything is text, and every text goes through `Redaction`, whatever it is believed to hold.
public struct SupportBundle {
    private var files: [(name: String, text: String)] = []

    /// - Parameters:
    ///   - facts: of the machine.
    ///   - findings: of the checkup.
    ///   - version: of the program.
    public init(_ facts: HostFacts, findings: [Finding], version: String) {
        add("versions.txt", "nfc-tap \(version)\n" + Self.lines(facts.tree, ["/proc/version", "/etc/os-release"]))
        add("findings.txt", findings.map { "\($0.severity.rawValue) \($0.subject.rawValue): \($0.problem)\n" }.joined())
        add("readers.txt", facts.readers.map(Self.describe).joined())
        add("pcsc.txt", Self.describe(facts.pcsc))
        add("processes.txt", Self.processes(facts))
        add("modules.txt", Self.modules(facts.tree.text("/proc/modules") ?? ""))
        add("configuration.txt", facts.configurationText ?? "no \(facts.configurationPath)\n")
    }

    /// Adds a text from elsewhere: the daemon's status, its log.
    public mutating func add(_ name: String, _ text: String) {
        files.append((name, Redaction.redact(text)))
    }

    /// Names of the texts, in order.
    public var names: [String] { files.map(\.name) }

    public func text(_ name: String) -> String? { files.first { $0.name == name }?.text }

    /// All of it as one archive.
    ///
    /// - Parameter time: seconds since 1970, for the archive's entries.
    public func archive(at time: Int64) -> [UInt8] {
        var archive = TarArchive(modified: time)
        for file in files { archive.add("nfc-tap-support/" + file.name, Array(file.text.utf8)) }
        return archive.finished
    }

    private static func lines(_ tree: HostTree, _ paths: [String]) -> String {
        paths.map { tree.text($0) ?? "no \($0)\n" }.joined()
    }

    private static func describe(_ reader: AttachedReader) -> String {
        let drivers = reader.kernelDrivers.isEmpty ? "none" : reader.kernelDrivers.joined(separator: ", ")
        return "\(reader.model.name) at \(reader.port), \(reader.node), kernel driver: \(drivers)\n"
    }

    private static func describe(_ answer: PCSCAnswer) -> String {
        switch answer {
        case .readers(let names, let inUse):
            names.isEmpty ? "no reader\n" : names.map { $0 + (inUse.contains($0) ? ", in use\n" : "\n") }.joined()
        case .accessDenied: "access denied\n"
        case .notRunning: "not running\n"
        case .otherVersion: "of another version\n"
        case .unknown: "no answer\n"
        }
    }

    /// Ours, pcscd, and whoever has a reader open. Names and numbers, no command lines.
    private static func processes(_ facts: HostFacts) -> String {
        let nodes = Set(facts.readers.map(\.node) + facts.libnfcConnections.compactMap(HostFacts.serialPath))
        let ours = [HostFacts.daemonName, HostFacts.workerName, "nfc-tap-psp-sandbox", "pcscd", "ModemManager"]
        return facts.processes.compactMap { process in
            let held = (process.openDevices ?? []).filter(nodes.contains)
            guard !held.isEmpty || ours.contains(where: process.isProgram) else { return nil }
            let limits = [process.lockedMemoryLimit, process.coreFileLimit].map { $0.map { "\($0)" } ?? "?" }
            return "\(process.name) \(process.identifier) uid=\(process.userID.map { "\($0)" } ?? "?") "
                + "unit=\(process.unit ?? "none") memlock=\(limits[0]) core=\(limits[1]) "
                + "holds=\(held.isEmpty ? "nothing" : held.joined(separator: ","))\n"
        }.joined()
    }

    private static func modules(_ text: String) -> String {
        let words = ["nfc", "pn53", "usb", "tty", "ftdi", "ch341", "cp210x"]
        return text.split(separator: "\n").compactMap { line in
            guard let name = line.split(separator: " ").first, words.contains(where: { name.contains($0) }) else {
                return nil
            }
            return name + "\n"
        }.joined()
    }
}
