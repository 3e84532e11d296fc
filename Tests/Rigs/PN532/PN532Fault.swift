// SPDX-License-Identifier: Apache-2.0
/// What goes wrong once, at a command to come.
public enum PN532Fault: Equatable, Sendable {
    /// The answer is this status byte alone. To a search for cards, which answers none, it is a search that found nobody.
    case status(PN532Status)
    /// A bit of the data checksum is flipped.
    case wrongChecksum
    /// The last four bytes of the answer are missing.
    case truncated
    /// One byte in the middle of the answer is lost.
    case byteLost
    /// The command is acknowledged, and that was it.
    case mute
    /// Not even acknowledged.
    case noAcknowledge
    /// Forty bytes that are no frame.
    case garbage
    /// The answer belongs to another command.
    case otherAnswer
    /// The application error frame.
    case errorFrame
    /// The answer comes that many milliseconds late.
    case late(milliseconds: UInt64)
    /// The card leaves the field, which the chip reports as a time-out.
    case cardGone
}
