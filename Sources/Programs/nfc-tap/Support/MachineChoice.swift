// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Doctor
import Gateway
import Glibc
import ReaderCore
import ReaderPCSC
import Settings

/// Which machine is looked at: this one, or a folder that looks like one.
struct MachineChoice: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The daemon's configuration; default: /etc/nfc-tap/nfc-tapd.toml.", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("Examine the files below this folder.", valueName: "path", visibility: .hidden))
    var root = "/"

    var tree: HostTree { HostTree(root: root) }

    var facts: HostFacts {
        let isHere = root == "/"
        return HostFacts(
            tree: tree, configuration: config, gateway: GatewayFacts(of: tree),
            pcsc: isHere ? PCSCAnswer.ask() : .unknown,
            pcscForDaemon: isHere ? ServiceUser.answer(in: tree) : .unknown, now: Int64(time(nil)), userID: geteuid())
    }
}

extension GatewayFacts {
    init(of tree: HostTree) {
        self.init(of: tree, port: GatewayFile.port) { path, text throws(ConfigurationError) in
            let file = try GatewayFile(file: path, text: text)
            return Pages(folder: file.pages, origins: file.origins)
        }
    }
}

extension PCSCAnswer {
    /// pcscd's answer to this process.
    static func ask() -> PCSCAnswer {
        do throws(ReaderError) {
            let entries = try PCSCReaders.list()
            return .readers(
                entries.map(\.identity.name), inUse: Set(entries.filter(\.isInUse).map(\.identity.name)))
        } catch {
            switch error {
            case .serviceUnavailable(.accessDenied): return .accessDenied
            case .serviceUnavailable(.pcscdNotRunning): return .notRunning
            case .serviceUnavailable(.otherVersion): return .otherVersion
            case .serviceUnavailable, .cardLost, .timedOut, .cancelled, .detached, .inUse, .faulty: return .unknown
            }
        }
    }

    /// In one word, for a process that asks in the name of another user.
    var word: String {
        switch self {
        case .readers: "allowed"
        case .accessDenied: "refused"
        case .notRunning: "absent"
        case .otherVersion: "otherVersion"
        case .unknown: "unknown"
        }
    }

    /// - Returns: without names: who asks for another user wants to know whether it may.
    init(word: String) {
        switch word {
        case "allowed": self = .readers([])
        case "refused": self = .accessDenied
        case "absent": self = .notRunning
        case "otherVersion": self = .otherVersion
        default: self = .unknown
        }
    }
}
