// SPDX-License-Identifier: Apache-2.0
import ReaderCore

extension TapChart {
    /// A page in one file, without scripts: the picture, the same as a table, and the explanation. It is well-formed XML as well.
    public func page(_ explanation: Explanation) -> String {
        var lines = [
            """
            <!DOCTYPE html>
            <html xmlns="http://www.w3.org/1999/xhtml" lang="en">
            <head>
            <meta charset="utf-8"/>
            <meta name="viewport" content="width=device-width, initial-scale=1"/>
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>
            <title>A tap, explained</title>
            <style>\(TapChart.pageStyle)</style>
            </head>
            <body>
            <main>
            <h1>A tap, explained</h1>
            <p>\(Markup.text(transaction.capitalizedFirst)).</p>
            <p>\(Markup.text(summary))</p>
            <div class="picture">
            """
        ]
        lines.append(svg + "</div>")
        lines += table
        for section in explanation.sections {
            lines.append("<h2>\(Markup.text(section.title))</h2>")
            lines += section.sentences.map { "<p>\(Markup.text($0))</p>" }
        }
        lines.append("</main>\n</body>\n</html>\n")
        return lines.joined(separator: "\n")
    }

    private var table: [String] {
        let times = hasTimes ? ["Terminal before", "Card", "Of it air, at 106 kbit/s"] : []
        let head = ["Step", "Phase", "What", "Bytes to the card", "Bytes from the card", "Answer"] + times
        let caption = hasTimes ? "Every step with its times" : "Every step; this recording has no times"
        return ["<table>", "<caption>\(caption)</caption>", "<thead><tr>"]
            + head.map { "<th scope=\"col\">\($0)</th>" } + ["</tr></thead>", "<tbody>"]
            + rows.enumerated().map { index, row in cells(index, row) } + ["</tbody>", "</table>"]
    }

    private func cells(_ index: Int, _ row: Row) -> String {
        var cells = [
            row.phase.rawValue, row.text, row.sent.map { "\($0)" } ?? "–", row.received.map { "\($0)" } ?? "–",
            row.result ?? "–",
        ]
        if hasTimes {
            cells.append(row.before.map { Markup.milliseconds($0) } ?? "in the next step's")
            cells.append(row.sent == nil ? "–" : row.span.map { Markup.milliseconds($0.duration) } ?? "–")
            cells.append(row.air.map { Markup.milliseconds($0) } ?? "–")
        }
        return "<tr><th scope=\"row\">\(index + 1)</th>" + cells.map { "<td>\(Markup.text($0))</td>" }.joined()
            + "</tr>"
    }

    private static let pageStyle = """
        :root{color-scheme:light dark}body{margin:0;font:16px/1.5 system-ui,sans-serif;background:#fff;color:#1b1b1f}
        main{max-inline-size:64rem;margin-inline:auto;padding:1rem}.picture{overflow-x:auto}.picture svg{min-inline-size:44rem}
        table{border-collapse:collapse;font-size:.875rem;inline-size:100%}caption{text-align:start;font-weight:600;padding-block:.5rem}
        th,td{border:1px solid #767680;padding:.25rem .5rem;text-align:start;vertical-align:top}
        @media (prefers-color-scheme:dark){body{background:#121216;color:#e6e6ea}}
        @media print{body{background:#fff;color:#000}h2{break-after:avoid}tr,.picture{break-inside:avoid}}
        """
}
