// SPDX-License-Identifier: Apache-2.0

/// The least time that commands and answers are on the air, at the 106 kbit/s with which every card begins. A card and a reader that
/// agree on a faster rate need less, one that is simulated none.
public struct AirTime: Equatable, Sendable {
    private var bytes: UInt64 = 0

    public init() {}

    /// A command or an answer of so many bytes, in one block: its control byte and its checksum come to it (ISO/IEC 14443-4, block format).
    public mutating func add(_ count: Int) { bytes &+= UInt64(clamping: count) &+ 3 }

    /// A byte is eight bits and one of parity (ISO/IEC 14443-3, standard frames of type A; type B needs more), and a bit takes 128
    /// periods of 13.56 MHz (ISO/IEC 14443-2): 84.96 microseconds.
    public var microseconds: UInt64 { bytes &* 9_600 / 113 }
}
