// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// Why the books cannot be opened: what a person has to bring back.
public enum JournalFault: Error, Equatable, Sendable {
    /// No journal, or an empty one, though there was one: beside a key, or named there.
    case journalMissing(String, named: TransactionID?)
    case journalDamaged(String)
    /// The journal is another one than the key belongs with.
    case journalForeign(String, belongs: TransactionID?)
    case keyMissing(String)
    case keyUnusable(InstallationKeyError)
    /// - Parameter wanted: thumbprint of the key that the journal belongs with.
    case keyForeign(String, wanted: String)
    /// Nothing is wrong: there is no reason for new books.
    case whole(String)

    /// What to do about it.
    public var remedy: String {
        switch self {
        case .journalMissing(let path, _), .journalDamaged(let path), .journalForeign(let path, _):
            "restore \(path) from the last backup (docs/operating/operations.md, Backup); if there is no backup, begin new books: "
                + JournalFault.newJournal
        case .keyMissing(let path), .keyForeign(let path, _):
            "restore \(path) from the backup of the installation key (docs/operating/operations.md, Backup); if there is no backup, "
                + "begin new books: " + JournalFault.newJournal
        case .keyUnusable(.unreadable(let path, _)): "let the daemon's user read \(path)"
        case .keyUnusable(.noKey(let path, _)), .keyUnusable(.unwritable(let path, _)):
            "restore \(path) from the backup of the installation key (docs/operating/operations.md, Backup); if there is no backup, "
                + "begin new books: " + JournalFault.newJournal
        case .whole: "start the daemon without --new-journal"
        }
    }

    private static let newJournal = "nfc-tapd --new-journal, with the same --config or --state-directory"
}

extension JournalFault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .journalMissing(let path, let id):
            "journal \(path) is missing or empty\(JournalFault.named(id)): the installation key beside it belongs with one"
        case .journalDamaged(let path): "journal \(path) is damaged"
        case .journalForeign(let path, let id):
            "journal \(path) is another one than the installation key belongs with\(JournalFault.named(id))"
        case .keyMissing(let path): "installation key \(path) is missing: the journal beside it is signed with it"
        case .keyUnusable(let error): error.description
        case .keyForeign(let path, let wanted):
            "installation key \(path) is another one than the journal belongs with, whose thumbprint is \(wanted)"
        case .whole(let folder): "the books in \(folder) are whole"
        }
    }

    private static func named(_ id: TransactionID?) -> String { id.map { " (journal \($0.text))" } ?? "" }
}
