/// The report: one line a figure, in columns that line up across the processes which print parts of it.
enum Table {
    /// Columns: what, median, best, target with verdict, peers.
    private static let widths = [60, 12, 14, 20]

    static func heading() {
        line(["measurement", "median", "best", "target", "peers (their figures, peers' machines differ)"])
        line(widths.map { String(repeating: "-", count: $0 - 2) } + ["-----"])
    }

    static func section(_ title: String) { print("\n\(title)") }

    static func note(_ text: String) { print("  \(text)") }

    static func row(
        _ name: String, _ reading: Reading, target nanoseconds: Double? = nil, peer: String = ""
    ) {
        line([
            name, duration(reading.median), duration(reading.minimum),
            verdict(reading.minimum, nanoseconds, duration), peer,
        ])
    }

    /// Two columns of percentiles in the place of median and best.
    static func row(_ name: String, p50: Double, p99: Double, target: Double? = nil, peer: String = "") {
        line([name, duration(p50), duration(p99) + " p99", verdict(p99, target, duration), peer])
    }

    static func row(_ name: String, mean: Double) { line([name, duration(mean) + " mean"]) }

    static func row(_ name: String, ratio: Double, target: Double? = nil, peer: String = "") {
        line([name, twoDigits(ratio), "", verdict(ratio, target, twoDigits), peer])
    }

    /// What we add to a bare loop: our time, and how many times the loop's it is.
    static func row(_ name: String, _ comparison: PCSCRunner.Comparison, target: Double? = nil) {
        line([
            name, duration(comparison.ours), "× " + twoDigits(comparison.ratio),
            verdict(comparison.ratio, target, twoDigits),
        ])
    }

    static func row(_ name: String, bytes: Double, target: Double? = nil) {
        line([name, megabytes(bytes), "", verdict(bytes, target, megabytes)])
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
