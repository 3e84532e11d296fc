// SPDX-License-Identifier: Apache-2.0
import CNFC
import ReaderNFC

/// A failure of libnfc, sorted by what the reader's owner can do about it.
struct LibNFCError: Error, Equatable {
    let failure: WorkerFailure
    /// libnfc's error number (negative) or errno (positive).
    let code: Int32

    init(_ failure: WorkerFailure, code: Int32 = 0) {
        self.failure = failure
        self.code = code
    }

    static let notOpen = LibNFCError(.detached)

    /// Sorts the return value of an exchange with a card.
    ///
    /// - Parameter isGone: whether the device counts as unplugged.
    init(exchange code: Int32, isGone: Bool) {
        self.code = code
        failure =
            switch code {
            case NFC_ERFTRANS, NFC_ETGRELEASED: .cardLost
            case NFC_ETIMEOUT: isGone ? .detached : .timedOut
            case NFC_EOPABORTED: .cancelled
            case NFC_ENOTSUCHDEV: .detached
            case NFC_EIO: isGone ? .detached : .cardLost
            default: .faulty
            }
    }
}
