// SPDX-License-Identifier: Apache-2.0
/// Finds the line of a setting in the text of a configuration file, for messages: TOMLKit keeps no positions.
package enum ConfigurationPosition {
    /// Line of a setting as errors name it (`psp.answer-timeout`, `lane[1].reader`), from 1; that of its table where the
    /// setting is missing; `nil` where neither is there.
    package static func line(of setting: String, in text: String) -> Int? {
        var scan = Scan()
        var lines: [String: Int] = [:]
        for (offset, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            guard let name = scan.name(line) else { continue }
            if lines[name] == nil { lines[name] = offset + 1 }
        }
        if let line = lines[setting] { return line }
        guard let end = setting.lastIndex(of: ".") else { return nil }
        return lines[String(setting[..<end])]
    }

    private struct Scan {
        /// Of the table that the next settings belong to, as errors name it.
        private var table = ""
        /// How many tables of each list there have been.
        private var counts: [String: Int] = [:]

        /// What a line sets or begins; `nil` for any other.
        mutating func name(_ line: Substring) -> String? {
            let text = line.drop { $0 == " " || $0 == "\t" }
            if text.hasPrefix("[[") {
                let path = resolved(Self.name(text.dropFirst(2), upTo: "]"))
                let index = counts[path] ?? 0
                counts[path] = index + 1
                table = "\(path)[\(index)]"
                return table
            }
            if text.hasPrefix("[") {
                table = resolved(Self.name(text.dropFirst(), upTo: "]"))
                return table
            }
            guard !text.hasPrefix("#"), text.contains("=") else { return nil }
            let key = Self.name(text, upTo: "=")
            return table.isEmpty ? key : "\(table).\(key)"
        }

        /// `loyalty.programme.apple` within the second programme: `loyalty.programme[1].apple`.
        private func resolved(_ name: String) -> String {
            var path = ""
            for part in name.split(separator: ".") {
                if let count = counts[path] { path += "[\(count - 1)]" }
                path += path.isEmpty ? String(part) : ".\(part)"
            }
            return path
        }

        private static func name(_ text: Substring, upTo end: Character) -> String {
            String(text.prefix { $0 != end }.filter { $0 != " " && $0 != "\t" && $0 != "\"" })
        }
    }
}
