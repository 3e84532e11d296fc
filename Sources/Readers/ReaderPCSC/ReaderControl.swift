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
