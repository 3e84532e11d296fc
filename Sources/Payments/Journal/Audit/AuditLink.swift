// SPDX-License-Identifier: Apache-2.0
import Crypto
import PaymentValues

/// An entry in its place in the chain.
///
/// Its hash is SHA-256 in lower-case hexadecimal over six lines without an end of line after the last: hash of the entry
/// before (64 zeros for the first), number, time, kind, subject, detail. docs/operating/audit.md says so to others, with a vector.
public struct AuditLink: Equatable, Sendable {
    /// From 1, without gaps.
    public let sequence: Int64
    public let entry: AuditEntry
    public let hash: String

    /// What the first entry follows.
    public static let origin = String(repeating: "0", count: 64)

    /// As it was read: nothing says that `hash` is right.
    public init(sequence: Int64, entry: AuditEntry, hash: String) {
        self.sequence = sequence
        self.entry = entry
        self.hash = hash
    }

    /// The next link of a chain that ends with `hash`.
    public init(_ entry: AuditEntry, sequence: Int64, after hash: String) {
        self.init(sequence: sequence, entry: entry, hash: AuditLink.hash(entry, sequence, after: hash))
    }

    /// Whether this entry follows one with `hash`, unaltered.
    public func follows(_ hash: String) -> Bool { self.hash == AuditLink.hash(entry, sequence, after: hash) }

    private static func hash(_ entry: AuditEntry, _ sequence: Int64, after hash: String) -> String {
        let text = "\(hash)\n\(sequence)\n\(entry.at)\n\(entry.kind.rawValue)\n\(entry.subject)\n\(entry.detail)"
        return LowerHex.text(SHA256.hash(data: Array(text.utf8)))
    }
}
