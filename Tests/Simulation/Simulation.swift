// SPDX-License-Identifier: Apache-2.0
import Glibc

/// `tap-simulation COUNT`: so many transactions in stories of shops, each out of a seed, each held against the payment
/// services' own books. `tap-simulation COUNT SEED` tells one story; `tap-simulation put-back` says how soon each mend that
/// is undone is found. `tap-simulation operations COUNT` does the same for what comes after an approval. Ends with 1 where the books differ and no open item says so.
@main
struct Simulation {
    static func main() async {
        if CommandLine.arguments.dropFirst().first == "put-back" { return putBack() }
        let arguments = CommandLine.arguments.dropFirst().compactMap { UInt64($0) }
        if CommandLine.arguments.dropFirst().first == "operations" {
            let isSound = await operations(Int(arguments.first ?? 100_000), telling: arguments.dropFirst().first)
            if !isSound { exit(1) }
            return
        }
        if arguments.count > 1, let seed = arguments.last { return tell(seed, Setting()) }
        let wanted = Int(arguments.first ?? 100_000)
        let begin = ContinuousClock.now
        let total = await run(wanted, shares: max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))))
        if let (seed, fault) = total.fault {
            print("SEED=\(seed): \(fault)")
            let setting = Story.shrunk(seed: seed, Setting()) { story in
                _ = story.judge()
                return !story.faults.isEmpty
            }
            tell(seed, setting)
            exit(1)
        }
        let seconds = begin.duration(to: .now) / .seconds(1)
        print(
            "\(total.transactions) transactions, \(total.inputs) inputs, \(total.stories) stories, "
                + "\(Int(seconds.rounded())) s")
        for finding in Finding.allCases {
            let (count, seed) = total.found[finding].map { ("\($0.count)", "SEED=\($0.seed)") } ?? ("0", "")
            print("\(finding.rawValue): \(count) \(seed)")
        }
        if total.found.keys.contains(where: { $0 != .open }) { exit(1) }
    }

    /// What came of many stories.
    struct Total {
        var found: [Finding: (count: Int, seed: UInt64)] = [:]
        var (transactions, inputs, stories) = (0, 0, 0)
        var fault: (seed: UInt64, what: String)?

        mutating func add(_ other: Total) {
            for (finding, (count, seed)) in other.found { note(finding, count, seed) }
            transactions += other.transactions
            inputs += other.inputs
            stories += other.stories
            if let theirs = other.fault, fault.map({ theirs.seed < $0.seed }) ?? true { fault = theirs }
        }

        mutating func note(_ finding: Finding, _ count: Int, _ seed: UInt64) {
            let known = found[finding] ?? (0, seed)
            found[finding] = (known.count + count, min(known.seed, seed))
        }
    }

    /// Every seed on one thread; several threads for many seeds.
    static func run(_ wanted: Int, shares: Int) async -> Total {
        await withTaskGroup(of: Total.self) { group in
            for share in 0..<shares {
                group.addTask { stories(wanted / shares, from: UInt64(share), by: UInt64(shares)) }
            }
            var total = Total()
            for await part in group { total.add(part) }
            return total
        }
    }

    static func stories(_ wanted: Int, from first: UInt64, by step: UInt64) -> Total {
        var total = Total()
        var seed = first
        while total.transactions < wanted, total.fault == nil {
            var story = Story(seed: seed)
            for finding in story.judge() { total.note(finding, 1, seed) }
            total.transactions += story.rows.count
            total.inputs += story.inputs
            total.stories += 1
            total.fault = story.faults.first.map { (seed, $0) }
            seed += step
        }
        return total
    }

    /// - Returns: whether no sequence showed a fault; one that does is told.
    static func operations(_ count: Int, telling seed: UInt64? = nil) async -> Bool {
        guard seed == nil else { return tellOperations(seed ?? 0) }
        let begin = ContinuousClock.now
        let shares = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        let sums = await withTaskGroup(of: (first: UInt64?, sums: [Int]).self) { group in
            for share in 0..<shares {
                group.addTask {
                    var sums = [0, 0, 0, 0]
                    for seed in stride(from: share, to: count, by: shares) {
                        let story = OperationStory(seed: UInt64(seed))
                        sums = zip(sums, [1, story.operations, story.deaths, story.settled]).map(+)
                        if !story.faults.isEmpty { return (UInt64(seed), sums) }
                    }
                    return (nil, sums)
                }
            }
            var total: (first: UInt64?, sums: [Int]) = (nil, [0, 0, 0, 0])
            for await part in group {
                total.sums = zip(total.sums, part.sums).map(+)
                total.first = [total.first, part.first].compactMap(\.self).min()
            }
            return total
        }
        if let first = sums.first { return tellOperations(first) }
        let seconds = begin.duration(to: .now) / .seconds(1)
        print(
            "\(sums.sums[0]) sequences, \(sums.sums[1]) operations, \(sums.sums[2]) deaths, \(sums.sums[3]) settled by a "
                + "person, 0 faults, \(Int(seconds.rounded())) s")
        return true
    }

    private static func tellOperations(_ seed: UInt64) -> Bool {
        let story = OperationStory(seed: seed, isTold: true)
        for line in story.lines { print(line) }
        for fault in story.faults { print(fault) }
        print("SEED=\(seed)")
        return story.faults.isEmpty
    }

    static func tell(_ seed: UInt64, _ setting: Setting) {
        var story = Story(seed: seed, setting, isTold: true)
        let findings = story.judge()
        for line in story.lines { print(line) }
        for fault in story.faults { print(fault) }
        let without = setting.without.map(\.rawValue).sorted().joined(separator: ", ")
        print("SEED=\(seed)\(without.isEmpty ? "" : " without \(without)"): \(findings.map(\.rawValue))")
    }

    // MARK: - Mends undone

    /// The first seed whose story is one only because `mend` is undone, and the transactions until then; `nil` where a
    /// million of them do not find it.
    static func seed(finding mend: Setting.PutBack, atMost limit: Int = 1_000_000) -> (seed: UInt64, transactions: Int)?
    {
        var transactions = 0
        var seed: UInt64 = 0
        while transactions < limit {
            var story = Story(seed: seed, Setting(putBack: mend))
            if story.isFound(mend) {
                var sound = Story(seed: seed)
                if !sound.isFound(mend) { return (seed, transactions + story.rows.count) }
            }
            transactions += story.rows.count
            seed += 1
        }
        return nil
    }

    private static func putBack() {
        print("| put back | seed | transactions until found | seconds | what is seen |\n|---|---|---|---|---|")
        var isMissing = false
        for mend in Setting.PutBack.allCases {
            let begin = ContinuousClock.now
            guard let found = seed(finding: mend) else {
                print("| \(mend.rawValue) | not found | | | |")
                isMissing = true
                continue
            }
            let seconds = begin.duration(to: .now) / .seconds(1)
            var story = Story(seed: found.seed, Setting(putBack: mend))
            let what = story.judge().first { $0 != .open }?.rawValue ?? story.faults.first ?? ""
            print(
                "| \(mend.rawValue) | \(found.seed) | \(found.transactions) | \((seconds * 10).rounded() / 10) | \(what) |"
            )
        }
        if isMissing { exit(1) }
    }
}

extension Story {
    /// Whether the books show that this mend is undone.
    mutating func isFound(_ mend: Setting.PutBack) -> Bool {
        let findings = judge()
        return !faults.isEmpty || findings.contains { $0.rawValue.hasPrefix(mend.rawValue) }
    }
}
