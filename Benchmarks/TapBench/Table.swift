// SPDX-License-Identifier: Apache-2.0
/// The report: one line a figure, in columns that line up across the processes which print parts of it. The ratio to a
/// yardstick of the same run comes first; it holds on any machine, the times are this machine's.
enum Table {
    /// Columns: what, ratio, target with verdict, median, best or p99.
    private static let widths = [72, 10, 16, 12]

    static func heading() {
        line(["measurement", "ratio", "target", "median", "best or p99"])
        line(widths.map { String(repeating: "-", count: $0 - 2) } + ["------------"])
    }

    static func section(_ title: String) { print("\n\(title)") }

    static func note(_ text: String) { print("  \(text)") }

    /// What the rows after it stand beside.
    static func yardstick(_ name: String, _ reading: Reading) {
        line(["yardstick: \(name)", "1", "", duration(reading.median), duration(reading.minimum)])
    }

    static func yardstick(_ name: String, p50: Double, p99: Double) {
        line(["yardstick: \(name)", "1", "", duration(p50), duration(p99) + " p99"])
    }

    /// - Parameter target: the largest ratio of the best rounds; other load on a machine can only add to them.
    static func row(_ name: String, _ reading: Reading, beside yardstick: Reading, target: Double? = nil) {
        let ratio = reading.minimum / yardstick.minimum
        line([
            name, "× " + twoDigits(ratio), verdict(ratio, target, twoDigits), duration(reading.median),
            duration(reading.minimum),
        ])
    }

    /// - Parameter yardstick: nanoseconds, for the ratio of the middle one.
    static func row(_ name: String, p50: Double, p99: Double, beside yardstick: Double) {
        line([name, "× " + twoDigits(p50 / yardstick), "", duration(p50), duration(p99) + " p99"])
    }

    static func row(_ name: String, mean: Double, beside yardstick: Double) {
        line([name, "× " + twoDigits(mean / yardstick), "", duration(mean) + " mean"])
    }

    static func row(_ name: String, ratio: Double, target: Double? = nil) {
        line([name, "× " + twoDigits(ratio), verdict(ratio, target, twoDigits)])
    }

    static func row(_ name: String, ratio: Double, p50: Double, p99: Double, target: Double) {
        line([
            name, "× " + twoDigits(ratio), verdict(ratio, target, twoDigits), duration(p50), duration(p99) + " p99",
        ])
    }

    /// What we add to a bare loop.
    static func row(_ name: String, _ comparison: PCSCRunner.Comparison, target: Double? = nil) {
        line([
            name, "× " + twoDigits(comparison.ratio), verdict(comparison.ratio, target, twoDigits),
            duration(comparison.ours), duration(comparison.oursP99) + " p99",
        ])
    }

    /// Bytes do not depend on how fast a machine is.
    static func row(_ name: String, bytes: Double, target: Double? = nil) {
        line([name, "", verdict(bytes, target, megabytes), megabytes(bytes)])
    }

    static func row(_ name: String, millions: Double, target: Double) {
        line([name, "", verdict(millions, target, { oneDigit($0) + " M" }), oneDigit(millions) + " M"])
    }

    static func row(_ name: String, missing reason: String) { line([name, "not measured: \(reason)"]) }

    private static func verdict(_ value: Double, _ target: Double?, _ text: (Double) -> String) -> String {
        guard let target else { return "" }
        return "≤ \(text(target)) \(value <= target ? "held" : "MISSED")"
    }

    static func duration(_ nanoseconds: Double) -> String {
        switch nanoseconds {
        case ..<1_000: "\(oneDigit(nanoseconds)) ns"
        case ..<1_000_000: "\(oneDigit(nanoseconds / 1_000)) µs"
        default: "\(twoDigits(nanoseconds / 1_000_000)) ms"
        }
    }

    private static func megabytes(_ bytes: Double) -> String { oneDigit(bytes / 1_000_000) + " MB" }

    private static func oneDigit(_ value: Double) -> String { fixed(value, scale: 10, digits: 1) }

    private static func twoDigits(_ value: Double) -> String { fixed(value, scale: 100, digits: 2) }

    private static func fixed(_ value: Double, scale: Double, digits: Int) -> String {
        let whole = Int((value * scale).rounded())
        let fraction = String(whole % Int(scale))
        return "\(whole / Int(scale))." + String(repeating: "0", count: digits - fraction.count) + fraction
    }

    private static func line(_ cells: [String]) {
        var text = ""
        for (index, cell) in cells.enumerated() {
            let width = index < widths.count ? widths[index] : 0
            text += cell + String(repeating: " ", count: max(index < cells.count - 1 ? 1 : 0, width - cell.count))
        }
        while text.last == " " { text.removeLast() }
        print(text)
    }
}
