// SPDX-License-Identifier: Apache-2.0
/// Why a stored payment's signed record is never sent.
enum RecordFault: String, Equatable, Error {
    /// The signature is not this installation's, or a byte was changed.
    case signature
    /// It is no signed record, or of a form that is not known.
    case unreadable
    /// It holds, and is another transaction's.
    case otherTransaction = "other transaction"
    /// It holds, and the journal has another amount beside it.
    case otherAmount = "other amount"
}
