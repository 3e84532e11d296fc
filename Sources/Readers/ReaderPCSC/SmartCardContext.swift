// SPDX-License-Identifier: Apache-2.0
import CPCSC
import CardBytes
import Glibc
import ReaderCore

/// Owner of one SCARDCONTEXT: one connection to pcscd, one call at a time. Cancelling a wait is the only thing that
/// another thread may do meanwhile.
///
/// Each `unsafe` is a call of PC/SC that fills memory which lives for the length of the call: a name, a list, one state.
struct SmartCardContext: ~Copyable {
    /// Stands for a reader whose state changes with the number of readers, during a wait only.
    static let allReaders = "\\\\?PnP?\\Notification"

    private let handle: SCARDCONTEXT
    let link: ServiceLink

    /// A pcscd that ends closes a connection that has just come, and libpcsclite says of it what it says of a refusal: so
    /// many tries, this many microseconds apart, and then it is one.
    private static let tries = 3
    private static let pause: UInt32 = 200_000

    /// - Parameter milliseconds: how long it may take, the wait for other contexts that come into being included.
    /// - Throws: also where the connection cannot be watched over: without a way to end a stuck call there is none.
    init(
        guardedBy callGuard: CallGuard, within milliseconds: UInt64 = CallLimit.service.rawValue
    ) throws(PCSCFailure) {
        let deadline = monotonicNow().advanced(byMilliseconds: milliseconds)
        let (handle, link) = try Self.established(guardedBy: callGuard, until: deadline)
        guard let link else {
            _ = SCardReleaseContext(handle)
            throw PCSCFailure(.establishContext, cpcsc_code(SCARD_F_INTERNAL_ERROR))
        }
        self.handle = handle
        self.link = link
    }

    private static func established(
        guardedBy callGuard: CallGuard, until deadline: TapInstant
    ) throws(PCSCFailure) -> (SCARDCONTEXT, ServiceLink?) {
        var triesLeft = tries
        while true {
            do throws(PCSCFailure) {
                return try ServiceLink.tracking { () throws(PCSCFailure) in
                    guard monotonicNow() < deadline else { throw PCSCFailure(.establishContext, 0, meaning: .stuck) }
                    return try callGuard.run(until: deadline, sever: { ServiceLink.severUnfinished() }) {
                        () throws(PCSCFailure) in
                        var handle = SCARDCONTEXT()
                        try check(
                            .establishContext,
                            unsafe SCardEstablishContext(DWORD(SCARD_SCOPE_SYSTEM), nil, nil, &handle))
                        return handle
                    }
                }
            } catch {
                triesLeft -= 1
                guard error.meaning == .accessDenied, triesLeft > 0 else { throw error }
                usleep(pause)
            }
        }
    }

    deinit {
        // pcscd cleans up behind a connection that ends; saying good-bye to one that hangs would never return.
        link.sever()
        _ = SCardReleaseContext(handle)
    }

    var canceller: WaitCanceller { WaitCanceller(context: handle) }

    /// Names of all readers. No reader at all is an empty list.
    func readers() throws(PCSCFailure) -> [String] {
        // 16 readers of 128 bytes are the most that pcscd has; the list ends with an empty name.
        var names = [CChar](repeating: 0, count: 16 * 128 + 1)
        var count = DWORD(names.count)
        let result = unsafe SCardListReaders(handle, nil, &names, &count)
        if cpcsc_code(result) == cpcsc_code(SCARD_E_NO_READERS_AVAILABLE) { return [] }
        try check(.listReaders, result)
        let bytes = names.prefix(Int(min(count, DWORD(names.count)))).map { UInt8(bitPattern: $0) }
        return bytes.split(separator: 0).map { ListedName.text(of: Array($0)) }
    }

    /// Waits until a reader's state is not `known`, which is what an earlier call returned, or 0 for the state now.
    ///
    /// - Returns: the state, also after `milliseconds` without a change.
    func state(
        of reader: String, unless known: ReaderState, milliseconds: UInt32
    ) throws(PCSCFailure) -> ReaderState {
        try states(of: [reader], unless: [known], milliseconds: milliseconds).first ?? .unaware
    }

    /// The same for several readers at once, of which one changes.
    ///
    /// - Parameters:
    ///   - readers: 16 at most.
    ///   - known: one for each of them.
    func states(
        of readers: [String], unless known: [ReaderState], milliseconds: UInt32
    ) throws(PCSCFailure) -> [ReaderState] {
        // The names one behind the other, each with its NUL, because they have to live as long as the call.
        let names = readers.map { ListedName.bytes(of: $0) }
        let text = Array(names.joined())
        var entries = unsafe [SCARD_READERSTATE](repeating: SCARD_READERSTATE(), count: readers.count)
        let result = unsafe text.withUnsafeBufferPointer { text in
            var start = 0
            for (index, name) in names.enumerated() {
                unsafe entries[index].szReader = unsafe text.baseAddress.map { unsafe $0 + start }
                unsafe entries[index].dwCurrentState = DWORD(index < known.count ? known[index].rawValue : 0)
                start += name.count
            }
            return unsafe SCardGetStatusChange(handle, DWORD(milliseconds), &entries, DWORD(entries.count))
        }
        // A time-out still carries the state, with a counter that tells of cards which came and went meanwhile.
        if cpcsc_code(result) != cpcsc_code(SCARD_E_TIMEOUT) { try check(.getStatusChange, result) }
        return unsafe entries.map { entry in
            let length = min(Int(unsafe entry.cbAtr), 33)
            let atr = unsafe withUnsafeBytes(of: entry.rgbAtr) { unsafe Array($0.prefix(length)) }
            return ReaderState(rawValue: UInt32(truncatingIfNeeded: unsafe entry.dwEventState), atr: atr)
        }
    }

    /// Connects to the card in a reader, shared with nobody.
    func connect(to reader: String) throws(PCSCFailure) -> SmartCard {
        var card = SCARDHANDLE()
        var active = DWORD()
        let result = unsafe ListedName.bytes(of: reader).withUnsafeBufferPointer { name in
            unsafe SCardConnect(
                handle, name.baseAddress, DWORD(SCARD_SHARE_EXCLUSIVE), DWORD(SCARD_PROTOCOL_T0 | SCARD_PROTOCOL_T1),
                &card, &active
            )
        }
        try check(.connect, result)
        return SmartCard(handle: card, activeProtocol: active)
    }

    /// Connects to a reader itself; it need not have a card.
    func connectDirectly(to reader: String) throws(PCSCFailure) -> ReaderControl {
        var handle = SCARDHANDLE()
        var active = DWORD()
        let result = unsafe ListedName.bytes(of: reader).withUnsafeBufferPointer { name in
            unsafe SCardConnect(self.handle, name.baseAddress, DWORD(SCARD_SHARE_DIRECT), 0, &handle, &active)
        }
        try check(.connect, result)
        return ReaderControl(handle: handle)
    }
}

/// Ends the wait of a context, from any thread.
struct WaitCanceller: Sendable {
    fileprivate let context: SCARDCONTEXT

    /// Has an effect only while the context is waiting, and is lost otherwise: repeat it until the waiter has stopped.
    func cancel() { _ = SCardCancel(context) }
}

/// Turns a return code into an error, at the call.
func check(_ call: PCSCFailure.Call, _ result: LONG) throws(PCSCFailure) {
    let code = cpcsc_code(result)
    guard code == cpcsc_code(SCARD_S_SUCCESS) else { throw PCSCFailure(call, code) }
}
