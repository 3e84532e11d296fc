// SPDX-License-Identifier: Apache-2.0
import CPCSC

/// Owner of a connection to a reader itself, whatever lies on it. Leaves a card there as it is.
struct ReaderControl: ~Copyable {
    private let handle: SCARDHANDLE

    init(handle: SCARDHANDLE) { self.handle = handle }

    deinit { _ = SCardDisconnect(handle, DWORD(SCARD_LEAVE_CARD)) }

    /// Takes power from whatever lies there, so that the next connection is a new activation.
    consuming func powerDown() throws(PCSCFailure) {
        let handle = handle
        discard self
        try check(.disconnect, SCardDisconnect(handle, DWORD(SCARD_UNPOWER_CARD)))
    }

    /// The device's version, `0xMMmmbbbb` in PC/SC's SCARD_ATTR_VENDOR_IFD_VERSION. libccid takes it from the `bcdDevice` of the
    /// USB descriptor: `2.14`.
    ///
    /// - Returns: `nil` for a version that is none.
    func firmware() throws(PCSCFailure) -> String? {
        var bytes = [UInt8](repeating: 0, count: 8)
        var length = DWORD(bytes.count)
        try check(.getAttribute, unsafe SCardGetAttrib(handle, DWORD(cpcsc_version), &bytes, &length))
        // In the byte order of this machine, which is little-endian; a driver for 64 bits may give eight bytes.
        guard length >= 4 else { return nil }
        let version = bytes.prefix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let (major, minor) = (version >> 24, version >> 16 & 0xFF)
        guard major | minor != 0, major.isBCD, minor.isBCD else { return nil }
        return String(major, radix: 16) + (minor < 0x10 ? ".0" : ".") + String(minor, radix: 16)
    }

    func escape(_ command: [UInt8]) throws(PCSCFailure) { try ReaderControl.escape(command, over: handle) }

    /// Hands `command` to the reader, over any connection to it. What it answers says nothing that is of use.
    static func escape(_ command: [UInt8], over handle: SCARDHANDLE) throws(PCSCFailure) {
        var answer = [UInt8](repeating: 0, count: 64)
        var length = DWORD()
        try check(
            .control,
            unsafe SCardControl(
                handle, DWORD(cpcsc_escape), command, DWORD(command.count), &answer, DWORD(answer.count),
                &length))
    }
}

extension UInt32 {
    /// Whether its lower eight bits are two decimal digits.
    fileprivate var isBCD: Bool { self & 0x0F < 0x0A && self >> 4 & 0x0F < 0x0A }
}
