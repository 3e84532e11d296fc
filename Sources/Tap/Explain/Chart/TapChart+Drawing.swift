// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ReaderCore

extension TapChart {
    private static let width = 960
    private static let left = 330
    private static let right = 860
    private static let rowHeight = 26
    private static let top = 56

    /// A picture of its own: colours for light, dark and print in it, texts in the reader's font, title and description for those
    /// who do not see it. The same for the same recording, byte for byte.
    public var svg: String {
        let bottom = TapChart.top + rows.count * TapChart.rowHeight
        let height = bottom + 40
        var parts = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(TapChart.width) \(height)" role="img" \
            aria-labelledby="chart-title chart-text">
            <title id="chart-title">Phases of a tap</title>
            <desc id="chart-text">\(Markup.text(summary)) The table says the same in figures.</desc>
            <style>\(TapChart.style)</style>
            <rect class="ground" width="\(TapChart.width)" height="\(height)"/>
            """
        ]
        parts += legend
        parts += axis(bottom)
        var latest: UInt64 = 0
        var phase: Phase?
        for (index, row) in rows.enumerated() {
            let y = TapChart.top + index * TapChart.rowHeight
            if phase != row.phase {
                parts.append("<line class=\"rule\" x1=\"16\" x2=\"944\" y1=\"\(y)\" y2=\"\(y)\"/>")
                parts.append("<text class=\"phase\" x=\"16\" y=\"\(y + 18)\">\(row.phase.rawValue)</text>")
            }
            phase = row.phase
            parts.append("<text x=\"120\" y=\"\(y + 18)\">\(Markup.text(Markup.short(row.text, 28)))</text>")
            parts += hasTimes ? timeBars(index, y, latest) : byteBars(index, y, latest)
            latest = hasTimes ? row.span?.end ?? latest : latest + UInt64((row.sent ?? 0) + (row.received ?? 0))
        }
        parts.append("<line class=\"rule\" x1=\"16\" x2=\"944\" y1=\"\(bottom)\" y2=\"\(bottom)\"/>")
        parts.append("</svg>")
        return parts.joined(separator: "\n") + "\n"
    }

    /// What the picture shows, in a few sentences.
    public var summary: String {
        let commands = rows.count { $0.sent != nil }
        guard let total else {
            return "\(commands) commands, \(bytes) bytes. This recording has no times: bars show bytes, not time."
        }
        let card = cardTime
        let rest = total > card ? total - card : 0
        return "\(commands) commands in \(Markup.milliseconds(total)): the card took \(Markup.milliseconds(card)), "
            + "the terminal \(Markup.milliseconds(rest)). The way over the air counts as the card's: its bytes take "
            + "\(Markup.milliseconds(airTime)) there at 106 kbit/s, and less only at a faster rate."
    }

    private var bytes: Int { rows.reduce(0) { $0 + ($1.sent ?? 0) + ($1.received ?? 0) } }

    private var whole: UInt64 { max(total ?? UInt64(bytes), 1) }

    private func x(_ value: UInt64) -> Int {
        let space = UInt64(TapChart.right - TapChart.left)
        let (product, overflow) = min(value, whole).multipliedReportingOverflow(by: space)
        return TapChart.left + Int(overflow ? min(value, whole) / (whole / space) : product / whole)
    }

    private func bar(_ kind: String, from begin: UInt64, to end: UInt64, _ y: Int, height: Int = 16) -> String {
        let width = max(x(end) - x(begin), 2)
        return "<rect class=\"\(kind)\" x=\"\(x(begin))\" y=\"\(y + 5)\" width=\"\(width)\" height=\"\(height)\"/>"
    }

    private func note(_ text: String, _ y: Int) -> String {
        "<text class=\"figure\" x=\"944\" y=\"\(y + 18)\" text-anchor=\"end\">\(Markup.text(text))</text>"
    }

    private func timeBars(_ index: Int, _ y: Int, _ latest: UInt64) -> [String] {
        let row = rows[index]
        guard let span = row.span else {
            // The terminal's own work is somewhere before the next step.
            let next = rows[index...].lazy.compactMap(\.span).first?.begin ?? latest
            return [bar("terminal", from: latest, to: next, y), note("≤ \(Markup.milliseconds(next - latest))", y)]
        }
        var parts: [String] = []
        if let before = row.before, before > 0 {
            parts.append(bar("terminal", from: span.begin - before, to: span.begin, y))
        }
        guard row.sent != nil else {
            return parts + ["<circle class=\"point\" cx=\"\(x(span.begin))\" cy=\"\(y + 13)\" r=\"5\"/>"]
        }
        return parts + [
            bar("card", from: span.begin, to: span.end, y),
            bar("air", from: span.begin, to: span.begin + min(row.air ?? 0, span.duration), y + 10, height: 5),
            note(Markup.milliseconds(span.duration), y),
        ]
    }

    private func byteBars(_ index: Int, _ y: Int, _ latest: UInt64) -> [String] {
        let row = rows[index]
        guard let sent = row.sent else {
            return ["<circle class=\"point\" cx=\"\(x(latest))\" cy=\"\(y + 13)\" r=\"5\"/>"]
        }
        let middle = latest + UInt64(sent)
        return [
            bar("terminal", from: latest, to: middle, y),
            bar("card", from: middle, to: middle + UInt64(row.received ?? 0), y),
            note("\(sent) + \(row.received ?? 0) B", y),
        ]
    }

    private var legend: [String] {
        let names =
            hasTimes ? ("terminal", "card, and the way over the air") : ("bytes to the card", "bytes from the card")
        let air =
            hasTimes
            ? [
                "<rect class=\"card\" x=\"770\" y=\"11\" width=\"28\" height=\"16\"/>",
                "<rect class=\"air\" x=\"770\" y=\"21\" width=\"28\" height=\"5\"/>",
                "<text x=\"806\" y=\"24\">air, at 106 kbit/s</text>",
            ] : []
        return [
            "<text class=\"phase\" x=\"16\" y=\"24\">\(Markup.text(outcome))</text>",
            "<rect class=\"terminal\" x=\"330\" y=\"11\" width=\"28\" height=\"16\"/>",
            "<text x=\"366\" y=\"24\">\(names.0)</text>",
            "<rect class=\"card\" x=\"520\" y=\"11\" width=\"28\" height=\"16\"/>",
            "<text x=\"556\" y=\"24\">\(names.1)</text>",
        ] + air
    }

    /// Lines at round values, ten at most.
    private func axis(_ bottom: Int) -> [String] {
        let unit: UInt64 = hasTimes ? 1_000 : 1
        var step = unit
        var factors: [UInt64] = [2, 5, 10]
        var base = unit
        while whole / step > 10, let factor = factors.first {
            step = base * factor
            factors.removeFirst()
            if factors.isEmpty, base < .max / 1_000 { (base, factors) = (base * 10, [2, 5, 10]) }
        }
        return stride(from: 0, through: whole, by: UInt64.Stride(clamping: step)).flatMap { value in
            [
                "<line class=\"grid\" x1=\"\(x(value))\" x2=\"\(x(value))\" y1=\"\(TapChart.top)\" y2=\"\(bottom)\"/>",
                "<text class=\"figure\" x=\"\(x(value))\" y=\"\(bottom + 20)\" text-anchor=\"middle\">\(value / unit)</text>",
            ]
        } + [
            "<text class=\"figure\" x=\"944\" y=\"\(bottom + 20)\" text-anchor=\"end\">\(hasTimes ? "ms" : "bytes")</text>"
        ]
    }

    /// Filled and hollow, so that the two can be told apart without colour.
    static let style = """
        text{font:14px system-ui,sans-serif;fill:#1b1b1f}.phase{font-weight:600}.figure{font-size:12px}
        .ground{fill:#fff}.rule{stroke:#767680}.grid{stroke:#767680;stroke-dasharray:1 4}
        .card{fill:#00639b;stroke:#00639b;stroke-width:2}.terminal{fill:#fff;stroke:#8a3b00;stroke-width:2;stroke-dasharray:4 2}
        .air{fill:#ffd08a}.point{fill:#1b1b1f}
        @media (prefers-color-scheme:dark){text,.point{fill:#e6e6ea}.ground{fill:#121216}.rule,.grid{stroke:#90909a}
        .card{fill:#9acbff;stroke:#9acbff}.air{fill:#5c2a00}.terminal{fill:#121216;stroke:#ffb68a}}
        @media print{text,.point{fill:#000}.ground{fill:#fff}.rule,.grid{stroke:#767680}
        .card{fill:#000;stroke:#000}.air{fill:#fff}.terminal{fill:#fff;stroke:#000}}
        """
}

/// Text for XML, and figures for people.
enum Markup {
    static func text(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            // XML 1.0 has no form for control characters.
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{FFFE}", "\u{FFFF}": " "
            default: String(scalar)
            }
        }.joined()
    }

    static func short(_ text: String, _ length: Int) -> String {
        text.count <= length ? text : "\(text.prefix(length - 1))…"
    }

    /// With one decimal.
    static func milliseconds(_ microseconds: UInt64) -> String {
        let (sum, overflow) = microseconds.addingReportingOverflow(50)
        let tenths = (overflow ? microseconds : sum) / 100
        return "\(tenths / 10).\(tenths % 10) ms"
    }
}
