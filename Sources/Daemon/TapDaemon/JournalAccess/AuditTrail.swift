// SPDX-License-Identifier: Apache-2.0
import Journal
import Logging

/// Where entries go that no change of a transaction brings along.
struct AuditTrail: Sendable {
    let journal: JournalThread
    let logger: Logger

    /// Writes an entry down. What it tells of has happened: where the journal does not take it, the log has it.
    func note(_ entry: AuditEntry) async {
        do throws(JournalError) { try await journal.audit(entry) } catch {
            logger.error(
                "audit entry not written",
                metadata: [
                    "kind": "\(entry.kind.rawValue)", "subject": "\(entry.subject)", "detail": "\(entry.detail)",
                    "error": "\(error)",
                ])
        }
    }
}
