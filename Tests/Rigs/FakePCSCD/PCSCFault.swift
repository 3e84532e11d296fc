// SPDX-License-Identifier: Apache-2.0
/// What the fake pcscd does in place of its normal answer, once.
public enum PCSCFault: Equatable, Sendable {
    /// Answers with this return code.
    case code(UInt32)
    /// Never answers; the connection lives until the client ends it.
    case hang
    /// Ends the client's connection without an answer.
    case hangUp
    /// Answers a transmit with these bytes and success, whatever the card says.
    case answer([UInt8])
}

/// A fault that waits for its command.
struct PendingFault {
    let command: PCSCCommand
    /// `nil` for any reader, and for commands that name none.
    let reader: String?
    let fault: PCSCFault
}
