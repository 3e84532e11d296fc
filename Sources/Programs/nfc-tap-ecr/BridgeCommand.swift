// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Codes
import ECR
import Linux
import LocalHTTP
import ServiceProgram
import Settings
import TillBridge

/// The terminal that tills find when they speak Caisse-AP, hw_proxy or ZVT, and vending machines by MDB; behind it nfc-tapd.
@main
struct BridgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nfc-tap-ecr",
        abstract: "Act as the payment terminal of tills that speak Caisse-AP, Caisse E+, hw_proxy, MDB or ZVT.",
        discussion: """
            Each till has a table in the configuration, see docs/integrating/till-protocols.md. Payments go through nfc-tapd. Ends with \
            exit code 1 if a port or a ledger cannot be opened.
            """,
        version: Version.text)

    @Option(help: ArgumentHelp("Configuration file.", valueName: "file"))
    var config = "/etc/nfc-tap/nfc-tap-ecr.toml"

    @Flag(help: "Validate the configuration, and end.")
    var check = false

    @Flag(help: "Also log details for developers.")
    var verbose = false

    func run() async throws {
        let inherited = InheritedSocket.takeAll()
        let program = ServiceProgram("nfc-tap-ecr", isVerbose: verbose)
        let file: TillsFile
        do throws(ConfigurationError) { file = try TillsFile(path: config) } catch {
            throw program.end(error.words(of: config))
        }
        if check {
            if let shortage = DescriptorLimit.Shortage(of: TillBridge.descriptors(file)) {
                throw program.end(
                    "till: connections \(shortage.problem); \(shortage.remedy(unit: "nfc-tap-ecr.service"))")
            }
            for till in file.tills where till.kind == .mdb {
                program.say("\(till.name): nobody stands by; no scheme's and no PCI programme's approval covers that")
            }
            return program.say("\(file.tills.count) till\(file.tills.count == 1 ? "" : "s"), nothing wrong")
        }
        // Masked card numbers are all it ever sees, and not even these belong into a core dump.
        program.forbidDumps()
        do throws(TillBridge.Failure) {
            let bridge = try TillBridge(file, logger: program.logger)
            try await program.serve(beginning: nil) { () async throws(TillBridge.Failure) in
                try await bridge.run(inherited: inherited) {
                    for till in file.tills { program.say("\(till.name): \(till.kind.rawValue) on \(till.place)") }
                    program.notification.send(.ready)
                }
            }
        } catch {
            throw program.end(error.words)
        }
    }
}

extension TillBridge.Failure {
    /// What is wrong, and what to do.
    fileprivate var words: String {
        switch self {
        case .ledgerInUse(let till):
            "\(till): its ledger is in use; stop the other nfc-tap-ecr that serves this till"
        case .ledger(let till, let code):
            "\(till): its ledger cannot be used: \(SystemError(code: code).remedy)"
        case .ledgerOfAnotherProtocol(let till):
            """
            \(till): its ledger has payments of its former protocol that are not over; write that protocol again and start nfc-tap-ecr \
            until they are, or give the till another name
            """
        case .port(let till, let place, let error): "\(till): \(place) cannot be opened: \(error)"
        case .server(let till, let error): "\(till): \(error)"
        case .noNinthBit(let till, let place):
            """
            \(till): \(place) has no mark and space parity, which carries the ninth bit; use a UART whose driver has it, or write \
            escaped = true for an adapter that writes FF 00 before a marked byte
            """
        }
    }
}
