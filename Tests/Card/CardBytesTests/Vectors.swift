// SPDX-License-Identifier: Apache-2.0
import CardBytes
import TestSupport

/// The files under `Tests/Vectors/cardbytes`.
enum Vectors {
    static func load(_ name: String) throws -> [[String: Any]] {
        try VectorFile.objects("cardbytes/\(name)")
    }

    static func load(_ name: String, kind: String) throws -> [[String: Any]] {
        try VectorFile.objects("cardbytes/\(name)", kind: kind)
    }

    static func tag(_ text: String) throws -> CardBytes.Tag {
        Tag(try Hex.bytes(text).reduce(0) { $0 << 8 | UInt32($1) })
    }
}
