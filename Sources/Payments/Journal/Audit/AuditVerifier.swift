// SPDX-License-Identifier: Apache-2.0
public import Envelope

/// Checks a chain as it comes, statement by statement and entry by entry. Holds no more than the statements.
///
/// It finds altered, moved and removed entries, and entries cut off before the last signed head. Entries cut off after it,
/// or together with every later statement, leave no trace in the chain itself: heads are logged for that reason.
public struct AuditVerifier: Sendable {
    public private(set) var faults: [AuditFault] = []
    public private(set) var entries = 0
    /// Number of the first entry that is there.
    public private(set) var first: Int64?
    /// Number of the last.
    public private(set) var last: Int64?
    /// Last entry that a signature covers, whether it is there or not.
    public private(set) var signedUpTo: Int64?
    private let key: VerificationKey
    private var statements = 0
    private var signed: [Int64: String] = [:]
    private var erasedUpTo: [Int64: String] = [:]
    private var previous: String?

    /// Faults beyond these are counted by nobody: one cut in a chain must not print thousands of lines.
    public static let mostFaults = 100

    public init(key: VerificationKey) { self.key = key }

    /// All statements come before the entries.
    public mutating func take(statement token: String) {
        statements += 1
        guard let statement = try? AuditStatement(token, signedBy: key) else {
            return note(.forgedStatement(number: statements))
        }
        if let earlier = signed[statement.sequence], earlier != statement.hash {
            note(.contradicted(sequence: statement.sequence))
        }
        signed[statement.sequence] = statement.hash
        signedUpTo = max(signedUpTo ?? 0, statement.sequence)
        if statement.kind == .checkpoint { erasedUpTo[statement.sequence] = statement.hash }
    }

    public mutating func take(_ link: AuditLink) {
        entries += 1
        if let last, let previous {
            if link.sequence <= last {
                note(.outOfOrder(sequence: link.sequence))
            } else if link.sequence > last + 1 {
                note(.missing(before: link.sequence))
            } else if !link.follows(previous) {
                note(.altered(sequence: link.sequence))
            }
        } else {
            takeFirst(link)
        }
        if let hash = signed[link.sequence], hash != link.hash { note(.contradicted(sequence: link.sequence)) }
        previous = link.hash
        last = max(last ?? 0, link.sequence)
    }

    private mutating func takeFirst(_ link: AuditLink) {
        first = link.sequence
        let before = link.sequence == 1 ? AuditLink.origin : erasedUpTo[link.sequence - 1]
        guard let before else { return note(.missing(before: link.sequence)) }
        if !link.follows(before) { note(.altered(sequence: link.sequence)) }
    }

    /// A row or line that could not be read.
    public mutating func takeUnreadable(number: Int) { note(.unreadable(number: number)) }

    /// The tables of the journal say something else than the chain.
    public mutating func takeDifference(transaction id: String) { note(.transactionDiffers(id)) }

    /// - Returns: everything that is wrong; nothing for a chain that holds.
    public mutating func finish() -> [AuditFault] {
        if let signedUpTo, signedUpTo > last ?? 0 { note(.truncated(after: last ?? 0, signed: signedUpTo)) }
        if signedUpTo == nil, entries > 0 { note(.unsigned) }
        return faults
    }

    private mutating func note(_ fault: AuditFault) {
        if faults.count < AuditVerifier.mostFaults { faults.append(fault) }
    }
}
