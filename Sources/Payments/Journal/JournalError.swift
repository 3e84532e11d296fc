// SPDX-License-Identifier: Apache-2.0
import CSQLite
import Glibc
package import Linux
public import PaymentValues

/// Why the journal did not take or give something. Nothing was changed then.
public enum JournalError: Error, Equatable, Sendable {
    /// The folder or file cannot be made or opened, as errno(3) says.
    case cannotOpen(path: String, errno: Int32)
    /// Another daemon works with this journal.
    case inUse(path: String)
    /// Written by a later version of nfc-tap.
    case newerSchema(found: Int)
    /// The disk is full.
    case full
    /// The file is damaged, or no journal.
    case damaged
    /// This one payment's row is not as it was written; the others are.
    case damagedPayment
    case unknownTransaction
    /// Such a change of state does not exist.
    case illegalChange(from: TransactionState, to: TransactionState)
    case unknownOperation
    /// Such a move of an operation does not exist.
    case illegalMove(from: OperationState, to: OperationState)
    /// SQLite's extended result code, for support.
    case failed(code: Int32)
}

extension JournalError {
    /// What a file beside the journal met, in the words that the journal has for the same.
    package init(_ error: SystemError) {
        switch error.code {
        case ENOSPC, EDQUOT: self = .full
        case EROFS: self = .failed(code: SQLITE_READONLY)
        case EACCES, EPERM: self = .failed(code: SQLITE_PERM)
        case _: self = .failed(code: SQLITE_IOERR)
        }
    }
}

extension JournalError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .cannotOpen(let path, let errno):
            "cannot open the journal at \(path): \(SystemError(code: errno).remedy)"
        case .inUse(let path):
            "another daemon uses the journal at \(path): stop that daemon, or use another state directory"
        case .newerSchema(let found):
            "a newer version wrote the journal (schema \(found)): install that version, or restore a backup"
        case .full: "no space left for the journal: free space on its disk"
        case .damaged: "journal damaged: restore a backup"
        case .damagedPayment: "payment damaged in the journal and set apart: ask the payment service about it"
        case .unknownTransaction: "transaction not in the journal"
        case .illegalChange(let from, let to): "state \(to.rawValue) cannot follow \(from.rawValue)"
        case .unknownOperation: "operation not in the journal"
        case .illegalMove(let from, let to): "an operation cannot become \(to.rawValue) after \(from.rawValue)"
        case .failed(let code): "the journal cannot be used: \(Self.words(code))"
        }
    }

    /// By the first byte of SQLite's result code; the rest says where it was met.
    private static func words(_ code: Int32) -> String {
        switch code & 0xFF {
        case SQLITE_PERM, SQLITE_CANTOPEN:
            "this user may not open it, or a file beside it: check owner and mode of its folder"
        case SQLITE_READONLY: "it may not be written: check its owner and mode, and how its disk is mounted"
        case SQLITE_BUSY, SQLITE_LOCKED: "another program holds it: stop that program"
        case SQLITE_IOERR: "its disk fails: look into the kernel's log"
        case SQLITE_NOMEM: "no memory is left: end other programs, or raise MemoryMax= of the unit"
        case _: "SQLite's code is \(code): check its disk, and start nfc-tapd again"
        }
    }
}
