// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// One frame on the emulated line.
public struct PN532LogEntry: Equatable, Sendable {
    public enum Direction: Sendable {
        case fromHost, fromChip
    }

    public let at: TapInstant
    public let direction: Direction
    /// Command code and data, without D4, or response code and data, without D5.
    public let data: [UInt8]
}
