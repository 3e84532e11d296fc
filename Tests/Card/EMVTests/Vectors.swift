// SPDX-License-Identifier: Apache-2.0
import CardBytes
import TestSupport
import Testing

/// The JSON Lines files under Tests/Vectors/emv.
enum Vectors {
    static func lines(_ file: String) throws -> [[String: Any]] { try VectorFile.objects("emv/\(file)") }

    /// Lines of decisions.jsonl of one kind; at least one.
    static func decisions(_ kind: String) throws -> [[String: Any]] {
        try VectorFile.objects("emv/decisions.jsonl", kind: kind)
    }

    static func exchanges(_ id: String) throws -> [(command: String, response: String)] {
        let line = try #require(try lines("transcripts.jsonl").first { $0["id"] as? String == id })
        let pairs = try #require(line["exchanges"] as? [[String]])
        return pairs.map { ($0[0], $0[1]) }
    }

    static var transcripts: [String] {
        get throws { try lines("transcripts.jsonl").compactMap { $0["id"] as? String } }
    }
}

extension [String: Any] {
    var id: String { self["id"] as? String ?? "?" }

    func text(_ key: String) throws -> String { try #require(self[key] as? String, "no \(key)") }
    func bytes(_ key: String) throws -> [UInt8] { try Hex.bytes(text(key)) }
    func object(_ key: String) throws -> [String: Any] { try #require(self[key] as? [String: Any]) }

    /// A list of {tag, value} pairs.
    func dataObjects(_ key: String) throws -> [(tag: CardBytes.Tag, value: [UInt8])] {
        try #require(self[key] as? [[String: Any]]).map { item in
            (CardBytes.Tag(try #require(UInt32(try item.text("tag"), radix: 16))), try item.bytes("value"))
        }
    }
}
