// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// What a kernel did with a script, line by line (docs/internals/kernel-diff.md), and the fields by which two of them are compared.
package struct KernelTrace: Equatable, Sendable {
    package let lines: [String]

    package init(lines: [String]) { self.lines = lines }

    package init(output: String) { lines = output.split(whereSeparator: \.isNewline).map(String.init) }

    /// Named values in their order: `C1` the first command, `M1` the first message, `outcome`, `error`, `ui`, `restart`,
    /// `status` and `cvm` (both of the outcome), `D.9F34` an object of the data record, `X.DF8115` one of the discretionary data, `T.TVR`, `T.9F34`, `E1` a complaint.
    package func fields(ignoring ignored: Set<String> = []) -> [(name: String, value: String)] {
        var fields: [(String, String)] = []
        var counts: [Substring: Int] = [:]
        for line in lines {
            let words = line.split(separator: " ")
            guard let kind = words.first else { continue }
            counts[kind, default: 0] += 1
            let number = counts[kind, default: 0]
            switch kind {
            case "C":
                let bytes = (try? Hex.bytes(String(words.dropFirst().first ?? ""))) ?? []
                fields.append(("C\(number)", Hex.string(KernelTrace.withoutLe(bytes))))
            case "M": fields.append(("M\(number)", words.dropFirst().joined(separator: " ")))
            case "O":
                for (name, value) in zip(["outcome", "error", "ui", "restart"], words.dropFirst()) {
                    fields.append((name, value.uppercased()))
                }
                if let set = words.dropFirst().first, set.count == 16 {
                    fields.append(("status", set.prefix(2).uppercased()))
                    fields.append(("cvm", set.dropFirst(6).prefix(2).uppercased()))
                }
            case "S":
                for (name, value) in zip(["status", "cvm"], words.dropFirst()) {
                    fields.append((name, value.uppercased()))
                }
            case "D", "X":
                for object in words.dropFirst().sorted() {
                    let parts = object.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                    guard let tag = parts.first, !ignored.contains(tag.uppercased()) else { continue }
                    fields.append(("\(kind).\(tag.uppercased())", (parts.count > 1 ? parts[1] : "").uppercased()))
                }
            case "T":
                for (name, value) in zip(["T.TVR", "T.9F34"], words.dropFirst()) {
                    fields.append((name, value.uppercased()))
                }
            case "E": fields.append(("E\(number)", words.dropFirst().joined(separator: " ")))
            default: continue
            }
        }
        return fields
    }

    /// A value that a program does not know: it is not compared.
    static let untold = "?"

    /// Whether the trace has lines of a field's kind. A program may leave out whole kinds, and one that prints none that
    /// can be read is compared in everything.
    func tells(_ field: String) -> Bool {
        let kinds = Set(lines.compactMap { $0.split(separator: " ").first })
        let compared = kinds.intersection(["C", "M", "O", "S", "D", "X", "T"])
        return switch field {
        case _ where compared.isEmpty: true
        case "status", "cvm": !compared.isDisjoint(with: ["O", "S"])
        case "outcome", "error", "ui", "restart": compared.contains("O")
        // Records and verification come with an outcome, where there are any.
        case _: compared.contains(field.prefix(1)) || field.hasPrefix("D") && compared.contains("O")
        }
    }

    /// A command without its last byte Le, by which readers differ and kernels do not.
    package static func withoutLe(_ command: [UInt8]) -> [UInt8] {
        guard command.count >= 5 else { return command }
        if command.count == 5 { return Array(command.prefix(4)) }
        return command.count == 6 + Int(command[4]) ? Array(command.dropLast()) : command
    }
}
