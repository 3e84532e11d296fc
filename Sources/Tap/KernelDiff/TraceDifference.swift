// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV

/// How a kernel's trace of a script differs from that of the first one.
package struct TraceDifference: Equatable, Sendable {
    package enum Verdict: Equatable, Sendable {
        case known(reason: String)
        case new
    }

    /// A field of `KernelTrace.fields` that both of them tell; `nil` values stand for a field that is not there.
    package let field: String
    package let first: String?
    package let other: String?
    package let verdict: Verdict

    package static func all(
        _ first: KernelTrace, _ other: KernelTrace, kernel: String, script: CardScript, known: KnownDifferences
    ) -> [TraceDifference] {
        let ignored = Set(script.ignored.map(\.description))
        let right = other.fields(ignoring: ignored)
        let left = first.fields(ignoring: ignored).filter { other.tells($0.name) }
        let others = Dictionary(right.map { ($0.name, $0.value) }) { first, _ in first }
        let firsts = Dictionary(left.map { ($0.name, $0.value) }) { first, _ in first }
        var names: [String] = []
        for name in left.map(\.name) + right.map(\.name) where !names.contains(name) { names.append(name) }
        return names.compactMap { name in
            guard firsts[name] != others[name], others[name] != KernelTrace.untold else { return nil }
            let reason = known.reason(kernel: kernel, script: script.id, field: name)
            return TraceDifference(
                field: name, first: firsts[name], other: others[name],
                verdict: reason.map { .known(reason: $0) } ?? .new)
        }
    }

    package var isNew: Bool { verdict == .new }

    /// Side by side. Values of objects that may not leave in the clear are counted, not shown.
    package func lines(_ firstName: String, _ otherName: String) -> [String] {
        let word =
            switch verdict {
            case .known(let reason): "known: \(reason)"
            case .new: "new"
            }
        let width = max(firstName.count, otherName.count)
        return [
            "  \(field) (\(word))",
            "    \(TraceDifference.padded(firstName, width))  \(shown(first) ?? "–")",
            "    \(TraceDifference.padded(otherName, width))  \(shown(other) ?? "–")",
        ]
    }

    /// A value as it may be shown; `nil` for a field that is not there.
    package func shown(_ value: String?) -> String? {
        guard let value else { return nil }
        guard field.hasPrefix("D.") || field.hasPrefix("X."), let number = UInt32(field.dropFirst(2), radix: 16)
        else { return value }
        let tag = Tag(number)
        let isTerminals = DataDictionary.elements(tag).contains { $0.source == .terminal || $0.source == .kernel }
        guard !ClearTags.contains(tag), !isTerminals || tag.isConstructed else { return value }
        return "\(value.count / 2) bytes, not shown"
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: width - text.count)
    }
}

/// Differences that somebody has looked at: a table of kernel, script, field and reason, divided by tabs. `*` stands for
/// every kernel or script; a field that ends in `*` for all that begin so.
package struct KnownDifferences: Sendable {
    private let rows: [(kernel: String, script: String, field: String, reason: String)]

    package static let none = KnownDifferences(rows: [])

    private init(rows: [(String, String, String, String)]) { self.rows = rows }

    /// - Returns: `nil` where a line has not four columns; its number is in `line`.
    package init?(table: String, line: inout Int) {
        var rows: [(String, String, String, String)] = []
        for (index, text) in table.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            guard !text.isEmpty, !text.hasPrefix("#") else { continue }
            let columns = text.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard columns.count == 4, !columns.contains(where: \.isEmpty) else {
                line = index + 1
                return nil
            }
            rows.append((columns[0], columns[1], columns[2], columns[3]))
        }
        self.rows = rows
    }

    func reason(kernel: String, script: String, field: String) -> String? {
        rows.first { row in
            (row.kernel == "*" || row.kernel == kernel) && (row.script == "*" || row.script == script)
                && (row.field.hasSuffix("*") ? field.hasPrefix(row.field.dropLast()) : row.field == field)
        }?.reason
    }
}
