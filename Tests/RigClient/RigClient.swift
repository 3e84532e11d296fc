// SPDX-License-Identifier: Apache-2.0
import CPCSC
import Foundation

/// `rig-client MANNER READER`: another program that has the card in a reader of pcscd, from the moment it says `held`
/// until its input ends.
///
/// It tries again and again, so that it gets the card whenever nobody else has it.
@main
struct RigClient {
    enum Manner: String {
        /// Connected so that nobody else can be.
        case exclusive
        /// Connected like any other; resets the card in the end.
        case reset
        /// Connected without a protocol; leaves the card that lies there in the end so.
        case raw
        /// As `exclusive`, and ends without giving anything back.
        case dies
    }

    static func main() {
        let words = CommandLine.arguments.dropFirst()
        guard words.count == 2, let manner = words.first.flatMap(Manner.init), let reader = words.last else {
            end(64, "usage: rig-client exclusive|reset|raw|dies READER")
        }
        var context = SCARDCONTEXT()
        let result = unsafe SCardEstablishContext(DWORD(SCARD_SCOPE_SYSTEM), nil, nil, &context)
        guard succeeded(result) else { end(1, "no pcscd: \(cpcsc_code(result))") }
        let card = connect(context, manner, reader)
        print("held")
        fflush(nil)
        while let _ = readLine() {}
        if manner == .dies { kill(getpid(), SIGKILL) }
        if manner == .raw { reconnect(card) }
        let disposition = manner == .reset ? SCARD_RESET_CARD : SCARD_LEAVE_CARD
        _ = SCardDisconnect(card, DWORD(disposition))
        _ = SCardReleaseContext(context)
        print("free")
    }

    private static func connect(_ context: SCARDCONTEXT, _ manner: Manner, _ reader: String) -> SCARDHANDLE {
        let isAlone = manner == .exclusive || manner == .dies
        let share = isAlone ? SCARD_SHARE_EXCLUSIVE : SCARD_SHARE_SHARED
        let protocols = manner == .raw ? SCARD_PROTOCOL_RAW : SCARD_PROTOCOL_T0 | SCARD_PROTOCOL_T1
        while true {
            var card = SCARDHANDLE()
            var active = DWORD()
            let result = unsafe SCardConnect(
                context, reader, DWORD(share), DWORD(protocols), &card, &active)
            if succeeded(result) { return card }
            usleep(5_000)
        }
    }

    /// To the card that has come meanwhile, if another has.
    private static func reconnect(_ card: SCARDHANDLE) {
        for _ in 0..<200 {
            var active = DWORD()
            let result = unsafe SCardReconnect(
                card, DWORD(SCARD_SHARE_SHARED), DWORD(SCARD_PROTOCOL_RAW), DWORD(SCARD_LEAVE_CARD), &active)
            if succeeded(result) { return }
            usleep(2_000)
        }
    }

    private static func succeeded(_ result: LONG) -> Bool { cpcsc_code(result) == cpcsc_code(SCARD_S_SUCCESS) }

    private static func end(_ status: Int32, _ message: String) -> Never {
        FileHandle.standardError.write(Data("rig-client: \(message)\n".utf8))
        exit(status)
    }
}
