// SPDX-License-Identifier: Apache-2.0
import CPCSC

/// What pcscd says of a reader: state bits, event counter and ATR of one SCARD_READERSTATE.
struct ReaderState: Equatable {
    /// Bits as pcscd gives them, without CHANGED: what the next wait compares with.
    let rawValue: UInt32
    let atr: [UInt8]

    init(rawValue: UInt32, atr: [UInt8] = []) {
        self.rawValue = rawValue & ~UInt32(SCARD_STATE_CHANGED)
        self.atr = atr
    }

    /// Nothing known: the next wait returns at once.
    static let unaware = ReaderState(rawValue: 0)

    /// Counts insertions and removals, and wraps. libpcsclite compares it only where it is not 0, so callers do.
    var eventCounter: UInt16 { UInt16(truncatingIfNeeded: rawValue >> 16) }

    var isGone: Bool { has(SCARD_STATE_UNKNOWN) }
    var isUnavailable: Bool { has(SCARD_STATE_UNAVAILABLE) }
    var isMute: Bool { has(SCARD_STATE_MUTE) }
    var hasCard: Bool { has(SCARD_STATE_PRESENT) }
    /// Some program is connected to the card, alone or with others.
    var isInUse: Bool { has(SCARD_STATE_INUSE) || has(SCARD_STATE_EXCLUSIVE) }

    private func has(_ bit: Int32) -> Bool { rawValue & UInt32(bit) != 0 }
}
