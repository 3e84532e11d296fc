// SPDX-License-Identifier: Apache-2.0
import Glibc

/// `tap-simulation COUNT`: so many transactions in stories of shops, each out of a seed, each held against the payment
/// services' own books. `tap-simulation COUNT SEED` tells one story. Ends with 1 where a difference has no name yet.
@main
struct Simulation {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst().compactMap { UInt64($0) }
        if arguments.count > 1, let seed = arguments.last { return tell(seed) }
        let wanted = Int(arguments.first ?? 100_000)
        var found: [Finding: (count: Int, seed: UInt64)] = [:]
        var (transactions, inputs, seed) = (0, 0, UInt64(0))
        while transactions < wanted {
            var story = Story(seed: seed)
            for finding in story.judge() {
                found[finding, default: (0, seed)].count += 1
            }
            transactions += story.rows.count
            inputs += story.inputs
            if let fault = story.faults.first {
                print("SEED=\(seed): \(fault)")
                tell(seed)
                exit(1)
            }
            seed += 1
        }
        print("\(transactions) transactions, \(inputs) inputs, \(seed) stories")
        for finding in Finding.allCases {
            let (count, seed) = found[finding].map { ("\($0.count)", "SEED=\($0.seed)") } ?? ("0", "")
            print("\(finding.rawValue): \(count) \(seed)")
        }
    }

    private static func tell(_ seed: UInt64) {
        var story = Story(seed: seed, isTold: true)
        let findings = story.judge()
        for line in story.lines { print(line) }
        for fault in story.faults { print(fault) }
        print("SEED=\(seed): \(findings.map(\.rawValue))")
    }
}
