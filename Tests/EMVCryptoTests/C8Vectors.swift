import CardBytes
import Foundation

/// `Tests/Vectors/kernel8/cryptography.jsonl`: rows of one kind, with fields in hexadecimal.
struct C8Vector {
    private let fields: [String: String]

    subscript(_ name: String) -> [UInt8] { (try? Hex.bytes(fields[name] ?? "")) ?? [] }

    static func rows(_ kind: String) -> [C8Vector] { all.filter { $0.fields["kind"] == kind } }

    private static let all: [C8Vector] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Vectors/kernel8/cryptography.jsonl")
        let lines = (try? String(contentsOf: file, encoding: .utf8))?.split(separator: "\n") ?? []
        return lines.compactMap { try? JSONDecoder().decode([String: String].self, from: Data($0.utf8)) }
            .map { C8Vector(fields: $0) }
    }()
}
