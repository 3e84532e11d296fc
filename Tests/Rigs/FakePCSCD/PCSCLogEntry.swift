// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// One command that the fake pcscd received. Holds no card data.
public struct PCSCLogEntry: Sendable {
    public let at: TapInstant
    public let command: PCSCCommand
    /// The reader that the command or its handle names.
    public let reader: String?
    /// Disposition (disconnect, end transaction) or the number of bytes sent (transmit, control), else 0.
    public let detail: UInt32
    /// A command for the reader's own lamps and buzzer; empty for all others.
    public let indicator: [UInt8]
}
