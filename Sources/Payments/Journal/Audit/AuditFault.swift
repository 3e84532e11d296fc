// SPDX-License-Identifier: Apache-2.0
/// What is wrong with a chain.
public enum AuditFault: Equatable, Sendable {
    /// The entry is not what it was when it was written, or not in its place.
    case altered(sequence: Int64)
    /// Entries are missing before this one, and no signed checkpoint says that they were erased.
    case missing(before: Int64)
    /// The number does not follow the one before: moved or repeated.
    case outOfOrder(sequence: Int64)
    /// The signed head or checkpoint names another entry than the one with that number.
    case contradicted(sequence: Int64)
    /// A signed head says that there were entries up to this one.
    case truncated(after: Int64, signed: Int64)
    /// A statement that this key has not signed.
    case forgedStatement(number: Int)
    /// Nothing signed covers any entry.
    case unsigned
    /// A line or row that is no part of a chain.
    case unreadable(number: Int)
    /// The journal's tables say something else about a transaction than the chain.
    case transactionDiffers(String)
}

extension AuditFault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .altered(let sequence): "entry \(sequence) altered or out of its place"
        case .missing(let before): "entries missing before \(before)"
        case .outOfOrder(let sequence): "entry \(sequence) out of order"
        case .contradicted(let sequence): "entry \(sequence) differs from what was signed"
        case .truncated(let last, let signed): "chain ends with \(last), signed up to \(signed)"
        case .forgedStatement(let number): "statement \(number) not signed by this key"
        case .unsigned: "no entry covered by a signature"
        case .unreadable(let number): "line \(number) unreadable"
        case .transactionDiffers(let id): "transaction \(id) differs from the chain"
        }
    }
}
