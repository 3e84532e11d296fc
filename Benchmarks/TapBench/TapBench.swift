// SPDX-License-Identifier: Apache-2.0
import Glibc

/// `tap-bench [--no-heading] [--taps N] [--seconds N] SECTION…`: prints figures of the parts named, or of all that need no pcscd.
///
/// `tap-bench path`: prints the names of the hot paths. `tap-bench path NAME TIMES`: runs one so often and prints nothing.
@main
struct TapBench {
    enum Section: String, CaseIterable {
        case bytes, transactions, keys, sealing, programs, footprint, daemon, monitors, tills, gateway, handover, gate,
            load,
            books
        case handoverLanes = "handover-lanes"
        case pcscFake = "pcsc-fake"
        case pcscDaemon = "pcsc-daemon"
    }

    static func main() async {
        do {
            if CommandLine.arguments.dropFirst().first == "path" {
                return try await runPath(CommandLine.arguments.dropFirst(2))
            }
            let options = try Options(CommandLine.arguments.dropFirst())
            if options.hasHeading { Table.heading() }
            for section in options.sections { try await run(section, taps: options.taps, seconds: options.seconds) }
        } catch {
            print("tap-bench: \(error)")
            exit(1)
        }
    }

    private static func runPath(_ arguments: some Collection<String>) async throws {
        if arguments.isEmpty { return print(HotPath.allCases.map(\.rawValue).joined(separator: "\n")) }
        guard arguments.count == 2, let path = arguments.first.flatMap({ HotPath(rawValue: $0) }),
            let times = arguments.dropFirst().first.flatMap({ Int($0) }), times > 0
        else {
            let names = HotPath.allCases.map(\.rawValue).joined(separator: ", ")
            throw BenchmarkError.wrongUse("path needs a number of runs and one of \(names)")
        }
        try await path.run(times: times)
    }

    private static func run(_ section: Section, taps: Int, seconds: Int) async throws {
        switch section {
        case .bytes: try ByteBenchmarks.run()
        case .transactions: try TransactionBenchmarks.run()
        case .keys: try KeyBenchmarks.run()
        case .sealing: try SealingBenchmark.run()
        case .programs: try ProgramBenchmark.run()
        case .footprint: try await FootprintBenchmark.run()
        case .handover: try await HandoverBenchmark.run(taps: taps)
        case .handoverLanes: try await HandoverBenchmark.runLanes(taps: taps)
        case .gate: try await GateBenchmark.run(taps: taps)
        case .load:
            try await HandoverBenchmark.run(taps: taps)
            try await LoadBenchmark.run(seconds: seconds)
        case .books: try BooksBenchmark.run()
        case .daemon: try await DaemonBenchmark.run(taps: taps)
        case .monitors: try await MonitorBenchmark.run(taps: taps)
        case .tills: try await TillBenchmark.run(taps: taps)
        case .gateway: try await GatewayBenchmark.run(taps: taps)
        case .pcscFake: try PCSCBenchmark.run(.fake, pairs: taps * 2)
        case .pcscDaemon: try PCSCBenchmark.run(.daemon, pairs: taps * 2)
        }
    }
}

private struct Options {
    var hasHeading = true
    var taps = 300
    var seconds = 60
    var sections: [TapBench.Section] = []

    init(_ arguments: some Sequence<String>) throws {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--no-heading": hasHeading = false
            case "--taps", "--seconds":
                guard let number = rest.popFirst().flatMap({ Int($0) }), number > 0 else {
                    throw BenchmarkError.wrongUse("\(argument) needs a number")
                }
                if argument == "--taps" { taps = number } else { seconds = number }
            default:
                guard let section = TapBench.Section(rawValue: argument) else {
                    let names = TapBench.Section.allCases.map(\.rawValue).joined(separator: ", ")
                    throw BenchmarkError.wrongUse("\(argument) is none of \(names)")
                }
                sections.append(section)
            }
        }
        if sections.isEmpty { sections = TapBench.Section.allCases.filter { $0 != .pcscDaemon } }
    }
}
