// SPDX-License-Identifier: Apache-2.0
import CPCSC

/// Owner of one SCARDHANDLE. Left behind, it resets the card, so that nobody goes on where we stopped.
struct SmartCard: ~Copyable {
    fileprivate let handle: SCARDHANDLE
    fileprivate let activeProtocol: DWORD

    init(handle: SCARDHANDLE, activeProtocol: DWORD) {
        self.handle = handle
        self.activeProtocol = activeProtocol
    }

    deinit { _ = SCardDisconnect(handle, DWORD(SCARD_RESET_CARD)) }

    /// Takes the card for ourselves until the transaction ends. On failure the card is given back to pcscd.
    consuming func begin() throws(PCSCFailure) -> CardTransaction {
        try check(.beginTransaction, SCardBeginTransaction(handle))
        return CardTransaction(card: self)
    }

    /// Takes power from the card, so that the next connection is a new activation.
    consuming func powerDown() throws(PCSCFailure) {
        let handle = handle
        discard self
        try check(.disconnect, SCardDisconnect(handle, DWORD(SCARD_UNPOWER_CARD)))
    }
}

/// Owner of a transaction on a card, and of the card: commands are possible in no other state.
struct CardTransaction: ~Copyable {
    private let card: SmartCard

    fileprivate init(card: consuming SmartCard) { self.card = card }

    /// One command and what came back, which may be no R-APDU at all. Waits for as long as the card takes.
    func transmit(_ command: [UInt8]) throws(PCSCFailure) -> [UInt8] {
        var pci = cpcsc_pci(card.activeProtocol)
        // The longest short answer (ISO/IEC 7816-3 §12.1). Wiped, as the answer is the caller's from here on.
        var answer = [UInt8](repeating: 0, count: 258)
        defer { unsafe answer.withUnsafeMutableBytes { unsafe cpcsc_wipe($0.baseAddress, UInt($0.count)) } }
        var length = DWORD(answer.count)
        try check(
            .transmit,
            unsafe SCardTransmit(card.handle, &pci, command, DWORD(command.count), nil, &answer, &length))
        return Array(answer.prefix(Int(min(length, 258))))
    }

    /// Hands `command` to the reader while the card stays active.
    func escape(_ command: [UInt8]) throws(PCSCFailure) { try ReaderControl.escape(command, over: card.handle) }

    /// Ends the transaction with the connection: pcscd unlocks the reader when its holder disconnects.
    consuming func end() throws(PCSCFailure) { try card.powerDown() }
}
