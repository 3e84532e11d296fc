import CardBytes
import Foundation

/// Reads the JSONL files under `Tests/Vectors`.
enum Vectors {
    static func load(_ name: String) throws -> [[String: Any]] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Vectors/cardbytes/\(name)")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        return try lines.map { line in
            try (JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]) ?? [:]
        }
    }

    static func load(_ name: String, kind: String) throws -> [[String: Any]] {
        try load(name).filter { $0["kind"] as? String == kind }
    }

    static func tag(_ text: String) throws -> CardBytes.Tag {
        Tag(try Hex.bytes(text).reduce(0) { $0 << 8 | UInt32($1) })
    }
}
