// SPDX-License-Identifier: Apache-2.0
import Glibc
import Linux
import Synchronization

/// A TCP line between a till and its terminal on which things go wrong, so that a till's developer sees what no terminal does on
/// purpose. What arrives from the terminal in one piece counts as one message.
final class FaultyLine: Sendable {
    struct Faults: Sendable {
        /// So many messages of the terminal reach the till; then the line is lost.
        var cutAfter: Int?
        /// It is lost with a reset, and not with an end.
        var isReset = false
        /// Seconds for which each message of the terminal is kept back.
        var delay = 0.0
        /// Each byte travels by itself.
        var isInPieces = false
        /// This message of the terminal arrives with a bit changed.
        var garbled: Int?
    }

    private let listener: Descriptor
    private let terminal: TCPAddress
    private let faults: Faults
    private let tell: @Sendable (String) -> Void

    /// - Parameter tell: gets what happens on the line, a line of text each time.
    init(
        at address: TCPAddress, to terminal: TCPAddress, _ faults: Faults, tell: @escaping @Sendable (String) -> Void
    ) throws(SystemError) {
        listener = try Descriptor.listening(at: address)
        self.terminal = terminal
        self.faults = faults
        self.tell = tell
    }

    /// Goes on by itself until the program ends.
    func begin() throws(SystemError) {
        try PrivateThread.start(named: "bench") {
            while true {
                do throws(SystemError) { try self.join(ByteLine(socket: try self.listener.accept())) } catch {
                    self.tell("line not joined: errno \(error.code)")
                    sleep(milliseconds: 200)
                }
            }
        }
    }

    private func join(_ till: ByteLine) throws(SystemError) {
        let terminal = ByteLine(socket: try Descriptor.connected(to: self.terminal))
        tell("--- connected")
        try PrivateThread.start(named: "bench-till") {
            while case .bytes(let bytes) = till.receive() {
                self.tell("till → \(self.shown(bytes))")
                guard terminal.send(bytes) else { break }
            }
            terminal.finish()
        }
        try PrivateThread.start(named: "bench-term") {
            var count = 0
            while case .bytes(var bytes) = terminal.receive() {
                if count == self.faults.cutAfter {
                    self.tell("     × \(self.shown(bytes))")
                    self.tell("--- line lost")
                    // An end would say that the till has read everything.
                    terminal.reset()
                    return self.faults.isReset ? till.reset() : till.finish()
                }
                count += 1
                if count == self.faults.garbled { bytes[bytes.count / 2] ^= 0x80 }
                sleep(milliseconds: UInt64(self.faults.delay * 1_000))
                self.tell("     ← \(self.shown(bytes))")
                guard self.pass(bytes, to: till) else { break }
            }
            till.finish()
            self.tell("--- ended")
        }
    }

    private func pass(_ bytes: [UInt8], to till: ByteLine) -> Bool {
        guard faults.isInPieces else { return till.send(bytes) }
        return bytes.allSatisfy { byte in
            sleep(milliseconds: 2)
            return till.send([byte])
        }
    }

    /// Text as it is, everything else in hexadecimal.
    private func shown(_ bytes: [UInt8]) -> String {
        let isText = bytes.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x0A || $0 == 0x0D }
        if isText { return String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "⏎") }
        return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: " ")
    }
}
