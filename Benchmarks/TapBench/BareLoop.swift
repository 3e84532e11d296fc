// SPDX-License-Identifier: Apache-2.0
import CPCSC

/// What our reader is measured against: the plain PC/SC calls for one card, in a row, with a buffer that is made once.
@safe final class BareLoop {
    private var context = SCARDCONTEXT()
    private let reader: String
    private var answer = [UInt8](repeating: 0, count: 258)

    init(reader: String) throws {
        self.reader = reader
        try check("SCardEstablishContext", unsafe SCardEstablishContext(DWORD(SCARD_SCOPE_SYSTEM), nil, nil, &context))
    }

    deinit { _ = SCardReleaseContext(context) }

    /// State of the reader, connection, transaction, the commands, power down.
    ///
    /// - Returns: the number of bytes that the card answered.
    func run(_ commands: [[UInt8]]) throws -> Int {
        try awaitCard()
        var card = SCARDHANDLE()
        var active = DWORD()
        try check(
            "SCardConnect",
            unsafe SCardConnect(
                context, reader, DWORD(SCARD_SHARE_EXCLUSIVE), DWORD(SCARD_PROTOCOL_T0 | SCARD_PROTOCOL_T1), &card,
                &active))
        defer { _ = SCardDisconnect(card, DWORD(SCARD_UNPOWER_CARD)) }
        try check("SCardBeginTransaction", SCardBeginTransaction(card))
        var pci = cpcsc_pci(active)
        var total = 0
        for command in commands {
            var length = DWORD(answer.count)
            try check(
                "SCardTransmit",
                unsafe SCardTransmit(card, &pci, command, DWORD(command.count), nil, &answer, &length))
            total += Int(length)
        }
        return total
    }

    private func awaitCard() throws {
        var entry = unsafe SCARD_READERSTATE()
        let result = unsafe reader.withCString { name in
            unsafe entry.szReader = unsafe name
            return unsafe SCardGetStatusChange(context, 1_000, &entry, 1)
        }
        try check("SCardGetStatusChange", result)
        guard unsafe entry.dwEventState & DWORD(SCARD_STATE_PRESENT) != 0 else {
            throw BenchmarkError.failed("no card on the reader")
        }
    }

    private func check(_ call: String, _ result: LONG) throws {
        let code = cpcsc_code(result)
        guard code == cpcsc_code(SCARD_S_SUCCESS) else { throw BenchmarkError.pcsc(call: call, code: code) }
    }
}
