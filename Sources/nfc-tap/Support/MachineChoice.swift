// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Doctor
import Glibc
import ReaderCore
import ReaderPCSC

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
        HostFacts(
            tree: tree, configuration: config, pcsc: root == "/" ? MachineChoice.askPCSCD() : .unknown,
            now: Int64(time(nil)), userID: geteuid())
    }

    private static func askPCSCD() -> PCSCAnswer {
        do throws(ReaderError) {
            return .readers(try PCSCReaders.list().map(\.identity.name))
        } catch {
            switch error {
            case .serviceUnavailable(.accessDenied): return .accessDenied
            case .serviceUnavailable(.pcscdNotRunning): return .notRunning
            case .serviceUnavailable, .cardLost, .timedOut, .cancelled, .detached, .inUse, .faulty: return .unknown
            }
        }
    }
}
