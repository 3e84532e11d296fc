// SPDX-License-Identifier: Apache-2.0
import CardBytes
import TestSupport
import Testing

/// `Tests/Vectors/kernel8/cryptography.jsonl`: rows of one kind, with fields in hexadecimal.
struct C8Vector {
    private let fields: [String: String]

    subscript(_ name: String) -> [UInt8] { (try? Hex.bytes(fields[name] ?? "")) ?? [] }

    /// At least one.
    static func rows(_ kind: String) throws -> [C8Vector] {
        try VectorFile.objects("kernel8/cryptography.jsonl", kind: kind)
            .map { C8Vector(fields: try #require($0 as? [String: String])) }
    }
}
