// SPDX-License-Identifier: Apache-2.0
public import Envelope

/// Verifies the chain of a journal, and its tables against the chain, while a daemon works with the file: in steps, each of them on a
/// connection and with a view of its own, so that nobody waits for it and the log of changes does not grow meanwhile.
public struct AuditExamination: Sendable {
    private enum Part: Equatable {
        case beginning
        /// Entries, after this one.
        case links(after: Int64)
        /// Transactions, after this one.
        case transactions(after: String)
    }

    private let file: String
    private var verifier: AuditVerifier
    private var part = Part.beginning
    /// What is appended after the beginning is looked at another time.
    private var end: Int64 = 0
    private var number = 0
    /// Entries in a step: some milliseconds.
    private static let entries: Int64 = 2_000

    /// - Parameters:
    ///   - file: path of the journal.
    ///   - key: that of the installation.
    public init(file: String, key: VerificationKey) {
        self.file = file
        verifier = AuditVerifier(key: key)
    }

    /// Takes the next step. One that `stop` has ended early is taken again with the next call.
    ///
    /// - Returns: what is wrong, once all has been looked at; `nil` before.
    /// - Throws: where the file cannot be read.
    public mutating func step(_ stop: StopRequest) throws(JournalError) -> [AuditFault]? {
        var next = self
        do throws(JournalError) {
            let faults = try next.proceed(AuditSource(file: file, stop: stop))
            self = next
            return faults
        } catch {
            guard stop.isWished else { throw error }
            return nil
        }
    }

    private mutating func proceed(_ source: AuditSource) throws(JournalError) -> [AuditFault]? {
        switch part {
        case .beginning:
            for statement in source.statements { verifier.take(statement: statement) }
            end = try source.end()
            part = .links(after: .min)
        case .links(let last):
            let reached = try source.forEachLink(after: last, upTo: end, limit: Self.entries) { link in
                number += 1
                if let link { verifier.take(link) } else { verifier.takeUnreadable(number: number) }
            }
            part = reached.map { .links(after: $0) } ?? .transactions(after: "")
        case .transactions(let last):
            let slice = try source.differences(after: last)
            for id in slice.differing { verifier.takeDifference(transaction: id) }
            guard let reached = slice.last else { return verifier.finish() }
            part = .transactions(after: reached)
        }
        return nil
    }
}
