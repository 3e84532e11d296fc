// SPDX-License-Identifier: Apache-2.0
import CardBytes
public import CardSim
import Glibc
import Linux
import ReaderCore
import Synchronization

/// A PN532 on a pseudo-terminal, served by a thread of its own: libnfc's `pn532_uart` driver and nfcpy's `pn532` talk to
/// it unmodified.
///
/// Cards come and go by calls from any thread. Runs until it is unplugged.
public final class PN532Emulator: Sendable {
    /// A link to the line, which goes when the plug is pulled, as a device's node does. The system gives a line's number to the next
    /// one that is opened: a program of another test that still looks for its reader by that number would take part in it.
    public let path: String
    /// What libnfc takes.
    public var connectionString: String { "pn532_uart:\(path)" }

    private let terminal: Mutex<PseudoTerminal?>
    private let state = Mutex(PN532Line())
    private let wake: WakeSignal
    private let ended: WakeSignal
    private let isUnplugged = Mutex(false)

    /// - Parameter link: a path that is made a link to the line, so that another emulator can take its place later.
    /// - Throws: what the system refused.
    public static func start(link: String? = nil) throws -> PN532Emulator {
        let terminal = try PseudoTerminal()
        let emulator = try PN532Emulator(terminal, link: link)
        let near = terminal.near
        try PrivateThread.start(named: "pn532") { [emulator] in emulator.serve(near) }
        return emulator
    }

    private init(_ terminal: PseudoTerminal, link: String?) throws {
        path = link ?? "/tmp/nfc-tap-pn532-\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
        _ = unsafe unlink(path)
        guard unsafe symlink(terminal.path, path) == 0 else {
            throw PN532RigError.system(call: "symlink", errno: errno)
        }
        wake = try WakeSignal()
        ended = try WakeSignal()
        self.terminal = Mutex(terminal)
    }

    /// Everything on the line so far, acknowledgements left out.
    public var log: [PN532LogEntry] { state.withLock { $0.log } }

    /// What the antenna sent of the host's own frames so far, in order.
    public var rawFrames: [PN532RawFrame] { state.withLock { $0.chip.rawFrames } }

    public var isFieldOn: Bool { state.withLock { $0.chip.isFieldOn } }

    /// Puts a card into the field, now or later.
    public func insert(_ card: any VirtualCard, afterMilliseconds: UInt64 = 0) {
        insert(PN532Card(card), afterMilliseconds: afterMilliseconds)
    }

    /// As above, with the chip's view of the card chosen.
    public func insert(_ card: PN532Card, afterMilliseconds: UInt64 = 0) {
        change(afterMilliseconds) { $0.insert(card) }
    }

    /// Empties the field, now or later.
    public func remove(afterMilliseconds: UInt64 = 0) { change(afterMilliseconds) { $0.removeAll() } }

    /// Another card takes the place of all others, without a gap.
    public func swap(_ card: any VirtualCard) {
        change(0) {
            $0.removeAll()
            $0.insert(PN532Card(card))
        }
    }

    /// Lets the next command of that code fail: InDataExchange, unless told otherwise. Faults queue up.
    ///
    /// - Parameter commands: so many of that code are answered before.
    public func fault(_ fault: PN532Fault, at code: UInt8 = 0x40, after commands: Int = 0) {
        state.withLock { $0.faults.append((code, commands, fault)) }
    }

    public func forgetFaults() { state.withLock { $0.faults = [] } }

    /// How many faults wait for a command of theirs.
    public var faultsToCome: Int { state.withLock { $0.faults.count } }

    /// Lets every command fail from now on; `nil` makes the line good again.
    public func damage(_ fault: PN532Fault?) { state.withLock { $0.damage = fault } }

    /// Every answer comes that many milliseconds later.
    public func delay(milliseconds: UInt64) { state.withLock { $0.delayMilliseconds = milliseconds } }

    /// Runs `body` on the emulator's thread when the next command of that code arrives, before its answer goes out.
    public func whenReceived(_ code: UInt8, _ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.observers.append((code, body)) }
    }

    /// Pulls the plug: the line will hang up. For use on any thread.
    public func pullPlug() {
        isUnplugged.withLock { $0 = true }
        wake.signal()
    }

    /// Pulls the plug and returns when the line has hung up. Not for `whenReceived`.
    public func unplug() {
        pullPlug()
        _ = ended.isSignalled()
    }

    private func change(_ milliseconds: UInt64, _ body: @escaping @Sendable (inout PN532Chip) -> Void) {
        let at = monotonicNow().advanced(byMilliseconds: milliseconds)
        state.withLock { $0.events.append((at, body)) }
        wake.signal()
    }

    private func serve(_ near: Int32) {
        // A device answers in time whatever else this machine does: libnfc takes one that is late, time and again, for gone.
        // Of this thread alone (setpriority(2)); who may not do that waits like all others.
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, -15)
        while !isUnplugged.withLock({ $0 }) {
            let next = state.withLock { $0.nextDue }
            let limit = min(next ?? TapInstant(nanoseconds: .max), monotonicNow().advanced(byMilliseconds: 50))
            var watched = [
                pollfd(fd: near, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            _ = Poll.wait(&watched, untilNanoseconds: limit.nanoseconds)
            if watched[1].revents != 0 { wake.clear() }
            terminal.withLock { terminal in
                guard let terminal else { return }
                terminal.forgetClaims()
                let received = watched[0].revents & Int16(POLLIN) != 0 ? terminal.receive() : []
                let output = state.withLock { $0.advance(to: monotonicNow(), received: received) }
                for body in state.withLock({ $0.takeNotified() }) { body() }
                terminal.send(output)
            }
        }
        terminal.withLock { terminal in
            if let line = terminal?.path { PseudoTerminal.removeLink(at: path, to: line) }
            terminal = nil
        }
        ended.signal()
    }
}
