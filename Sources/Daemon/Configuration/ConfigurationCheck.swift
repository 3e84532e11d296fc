// SPDX-License-Identifier: Apache-2.0
import Envelope
import Glibc
import Linux
import PaymentValues
import ReaderModels
public import Settings

/// What a look at a configuration file found, for people and programs.
public struct ConfigurationCheck: Sendable {
    private struct Report: Encodable {
        struct Problem: Encodable {
            let key: String
            let line: Int?
            let problem: String
            let remedy: String
        }

        let file: String
        let valid: Bool
        let mode: Mode?
        let lanes: Int?
        let problems: [Problem]
        let remarks: [String]?
    }

    public let file: String
    /// Everything that is wrong with it, by its place.
    public let errors: [ConfigurationError]
    private let read: ConfigurationFile?

    /// Reads the file and all that it names, as a start would; opens no reader and no socket.
    ///
    /// - Parameter now: seconds since 1970.
    public init(file path: String, host: ConfigurationHost, at now: UInt64) {
        file = path
        let (found, faults) = ConfigurationFile.read(path: path, host: host, at: now)
        errors = faults + (ConfigurationCheck.journalFault(found.journal.directory, host).map { [$0] } ?? [])
        read = errors.isEmpty ? found : nil
    }

    /// What keeps a journal from being in `folder`. What the unit makes before each start may still be missing.
    private static func journalFault(_ folder: String, _ host: ConfigurationHost) -> ConfigurationError? {
        let (key, path) = ("journal.directory", host.root + folder)
        guard let status = try? FileStatus(of: path) else {
            guard folder != host.stateDirectory else { return nil }
            let parent = path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
            // Root may make it anywhere, and it would not be the daemon's.
            guard geteuid() == 0 || host.writingFault(parent.isEmpty ? "/" : parent) != nil else { return nil }
            return ConfigurationError(
                key, "does not exist",
                remedy: "make it for the daemon: install -d -o nfc-tap -g nfc-tap -m 0700 \(folder)")
        }
        guard status.kind == .folder else {
            return ConfigurationError(key, "is no folder", remedy: "name the folder that the journal is in")
        }
        guard host.writingFault(path) == EROFS else { return nil }
        return ConfigurationError(
            key, "is on a disk that is mounted read-only",
            remedy: "mount that for writing, or name the folder in ReadWritePaths= of the unit")
    }

    /// A line for each thing that is wrong: what it is, where, and what to do; or what the file sets up.
    public var summary: String {
        guard errors.isEmpty else {
            return errors.map { "\(file)\($0.line.map { ":\($0)" } ?? ""): \($0)" }.joined(separator: "\n")
        }
        let lanes = read?.lanes.count ?? 0
        let right = "\(file): valid, \(read?.mode.rawValue ?? "") mode, \(lanes) lane\(lanes == 1 ? "" : "s")"
        return ([right] + remarks.map { "\(file): \($0)" }).joined(separator: "\n")
    }

    /// What is no mistake, and good to know.
    private var remarks: [String] {
        nameRemarks + keyRemarks + remoteRemarks + (read?.lanes.enumerated().flatMap(laneRemarks) ?? [])
    }

    private var nameRemarks: [String] { read?.formerNames.map(\.description) ?? [] }

    private var keyRemarks: [String] {
        guard let key = read?.adapter.recipient, key.keyID == key.thumbprint else { return [] }
        return ["psp.recipient-key has no kid: its thumbprint (RFC 7638) \(key.keyID) stands for it in every envelope"]
    }

    private var remoteRemarks: [String] {
        guard let remote = read?.remote else { return [] }
        let lanes = remote.lanes.sorted().joined(separator: ", ")
        return [
            remote.isUnseen
                ? "a backend may charge on \(lanes) though nothing there shows the amount: remote.unseen is true"
                : "each start of a backend on \(lanes) is refused with remote.unseen while no display of that lane is open. "
                    + "Pair one, or write unseen = true in [remote]"
        ]
    }

    /// What the part of a PC/SC name leaves open: which of several readers, and which of a reader's slots.
    private func laneRemarks(_ index: Int, _ lane: ConfigurationFile.Lane) -> [String] {
        var remarks: [String] = []
        if let standing = lane.standing, standing.mode != .read {
            remarks.append("lane \(lane.name) \(StandingSettings.warning)")
        }
        guard case .pcsc(let text) = lane.reader else { return remarks }
        let rival = read?.lanes.prefix(index).first { $0.reader.mayBeSameReader(as: lane.reader) }
        if let rival {
            remarks.append(
                "lanes \(rival.name) and \(lane.name) may want the same reader: each takes one that the other has not, in the "
                    + "order in which pcscd lists them. Write more of each reader's name, as nfc-tap readers lists it")
        }
        let name = PCSCReaderName(text)
        if let model = ReaderModels.model(named: text), model.quirks.contains(.severalSlots), name.slot == .unknown,
            name.slotNumber == nil
        {
            remarks.append(
                "lane \(lane.name): the \(model.name) has several slots, and pcsc:\(text) names none of them; if their names "
                    + "do not tell either, nfc-tapd watches all until a contactless card shows which one is meant")
        }
        return remarks
    }

    /// The same as one JSON object.
    public var json: String {
        let problems = errors.map {
            Report.Problem(key: $0.key, line: $0.line, problem: $0.problem, remedy: $0.remedy)
        }
        let report = Report(
            file: file, valid: errors.isEmpty, mode: read?.mode, lanes: read?.lanes.count, problems: problems,
            remarks: remarks.isEmpty ? nil : remarks)
        guard let bytes = try? WireJSON.encode(report) else { return "{}" }
        return String(decoding: bytes, as: UTF8.self)
    }
}
