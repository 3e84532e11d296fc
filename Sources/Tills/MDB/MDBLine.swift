// SPDX-License-Identifier: Apache-2.0

/// Words of nine bits: a byte, and the mode bit 100. The machine sets it on an address, a peripheral on its last word.
/// (MDB/ICP 4.2, 2.2 and 2.3)
public enum MDBLine {
    public static let modeBit: UInt16 = 0x100
    public static let acknowledge: UInt16 = 0x00
    public static let again: UInt16 = 0xAA
    public static let notAcknowledge: UInt16 = 0xFF
    /// A peripheral's acknowledgement, the mode bit set.
    public static let acknowledged: [UInt16] = [0x100]
    /// Milliseconds after a command's last word within which an answer has to begin. Later it is left out: silence is allowed, and
    /// a late answer meets the next command.
    public static let answerTime: Int64 = 5

    /// The low byte of the sum of all bytes before it.
    public static func checksum(_ bytes: some Sequence<UInt8>) -> UInt8 { bytes.reduce(0) { $0 &+ $1 } }

    /// A block of a peripheral: data, then the checksum with the mode bit.
    public static func block(_ bytes: [UInt8]) -> [UInt16] {
        bytes.map(UInt16.init) + [UInt16(checksum(bytes)) | modeBit]
    }

    /// Words as Linux gives them from a line with space parity and `PARMRK`: a byte whose mode bit is set has FF 00 in front, and FF is
    /// doubled.
    public static func marked(_ words: [UInt16]) -> [UInt8] {
        words.flatMap { word -> [UInt8] in
            let byte = UInt8(truncatingIfNeeded: word)
            if word & modeBit != 0 { return [0xFF, 0x00, byte] }
            return byte == 0xFF ? [0xFF, 0xFF] : [byte]
        }
    }
}

/// Turns what Linux gives of such a line into words, however it arrives.
public struct MDBMarks: Sendable {
    private enum State {
        case plain, marked, modeBit
    }

    private var state: State = .plain

    public init() {}

    /// - Returns: `nil` while a word is not whole.
    public mutating func take(_ byte: UInt8) -> UInt16? {
        switch (state, byte) {
        case (.plain, 0xFF):
            state = .marked
            return nil
        case (.plain, _): return UInt16(byte)
        case (.marked, 0x00):
            state = .modeBit
            return nil
        // FF FF is FF. Anything else behind FF does not come from such a line, and is read as it stands.
        case (.marked, _):
            state = .plain
            return UInt16(byte)
        case (.modeBit, _):
            state = .plain
            return UInt16(byte) | MDBLine.modeBit
        }
    }
}
