// SPDX-License-Identifier: Apache-2.0
public import Wire

/// Why the journal did not take or give something. Nothing was changed then.
public enum JournalError: Error, Equatable, Sendable {
    /// The folder or file cannot be made or opened by this user.
    case cannotOpen(path: String)
    /// Another daemon works with this journal.
    case inUse(path: String)
    /// Written by a later version of nfc-tap.
    case newerSchema(found: Int)
    /// The disk is full.
    case full
    /// The file is damaged, or no journal.
    case damaged
    case unknownTransaction
    /// Such a change of state does not exist.
    case illegalChange(from: TransactionState, to: TransactionState)
    /// SQLite's extended result code, for support.
    case failed(code: Int32)
}

extension JournalError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .cannotOpen(let path): "journal at \(path) cannot be opened"
        case .inUse(let path): "journal at \(path) used by another daemon"
        case .newerSchema(let found): "journal of a later version, schema \(found)"
        case .full: "no space left for the journal"
        case .damaged: "journal damaged"
        case .unknownTransaction: "transaction not in the journal"
        case .illegalChange(let from, let to): "no change from \(from.rawValue) to \(to.rawValue)"
        case .failed(let code): "journal failed with SQLite code \(code)"
        }
    }
}
