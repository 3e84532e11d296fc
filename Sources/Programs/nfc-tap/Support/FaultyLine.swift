// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Glibc
import Linux
import Synchronization

/// A TCP line between a till and its terminal on which things go wrong, so that a till's developer sees what no terminal does on
/// purpose. What arrives from the terminal in one piece counts as one message.
final class FaultyLine: Sendable {
    struct Faults: Sendable {
        /// So many messages of the terminal reach the till; then the line is lost.
        var cutAfter: Int?
        /// The line is lost with a reset, and not with an end.
        var isReset = false
        /// Seconds for which each message of the terminal is kept back.
        var delay = 0.0
        /// Each byte travels by itself.
        var isInPieces = false
        /// This message of the terminal arrives with a bit changed.
        var garbled: Int?
    }

    /// Something that happened on the line.
    struct Happening: Encodable, Sendable {
        enum Kind: String, Encodable {
            case listening, connected, fromTill, toTill, dropped, lost, ended, notJoined
        }

        var event: Kind
        /// Hexadecimal.
        var bytes: String?
        /// The same as text, where it is text.
        var text: String?
        /// What the system said, by errno(3).
        var errno: Int32?

        init(_ event: Kind, bytes: [UInt8]? = nil, text: String? = nil, errno: Int32? = nil) {
            self.event = event
            self.errno = errno
            self.bytes = bytes.map { Hex.string($0) }
            let isText = bytes?.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x0A || $0 == 0x0D } ?? false
            self.text = text ?? (isText ? bytes.map { String(decoding: $0, as: UTF8.self) } : nil)
        }

        /// For people.
        var words: String {
            let shown = text?.replacing("\r\n", with: "⏎") ?? pairs
            return switch event {
            case .listening: shown
            case .connected: "--- connected"
            case .fromTill: "till → \(shown)"
            case .toTill: "     ← \(shown)"
            case .dropped: "     × \(shown)"
            case .lost: "--- line lost"
            case .ended: "--- ended"
            case .notJoined: "--- line not joined: \(SystemError(code: errno ?? 0))"
            }
        }

        private var pairs: String {
            let digits = Array(bytes ?? "")
            return stride(from: 0, to: digits.count - 1, by: 2).map { String(digits[$0...($0 + 1)]) }
                .joined(separator: " ")
        }
    }

    private let listener: Descriptor
    private let terminal: TCPAddress
    private let faults: Faults
    private let tell: @Sendable (Happening) -> Void

    init(
        at address: TCPAddress, to terminal: TCPAddress, _ faults: Faults,
        tell: @escaping @Sendable (Happening) -> Void
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
                    self.tell(Happening(.notJoined, errno: error.code))
                    sleep(milliseconds: 200)
                }
            }
        }
    }

    private func join(_ till: ByteLine) throws(SystemError) {
        let terminal = ByteLine(socket: try Descriptor.connected(to: self.terminal))
        tell(Happening(.connected))
        try PrivateThread.start(named: "bench-till") {
            while case .bytes(let bytes) = till.receive() {
                self.tell(Happening(.fromTill, bytes: bytes))
                guard terminal.send(bytes) else { break }
            }
            terminal.finish()
        }
        try PrivateThread.start(named: "bench-term") {
            var count = 0
            while case .bytes(var bytes) = terminal.receive() {
                if count == self.faults.cutAfter {
                    self.tell(Happening(.dropped, bytes: bytes))
                    self.tell(Happening(.lost))
                    // An end would say that the till has read everything.
                    terminal.reset()
                    return self.faults.isReset ? till.reset() : till.finish()
                }
                count += 1
                if count == self.faults.garbled { bytes[bytes.count / 2] ^= 0x80 }
                sleep(milliseconds: UInt64(self.faults.delay * 1_000))
                self.tell(Happening(.toTill, bytes: bytes))
                guard self.pass(bytes, to: till) else { break }
            }
            till.finish()
            self.tell(Happening(.ended))
        }
    }

    private func pass(_ bytes: [UInt8], to till: ByteLine) -> Bool {
        guard faults.isInPieces else { return till.send(bytes) }
        return bytes.allSatisfy { byte in
            sleep(milliseconds: 2)
            return till.send([byte])
        }
    }
}
