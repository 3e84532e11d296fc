// SPDX-License-Identifier: Apache-2.0
import CardBytes
public import CardSim
import Foundation
import Synchronization

/// A pcscd in this process: speaks pcsc-lite's client protocol 4:4 to the real libpcsclite over a Unix socket, and does
/// with readers and cards what a test wants.
///
/// libpcsclite reads the socket's path once per process. So a process has one of these (`shared()`), and tests that may
/// run at the same time use readers with names of their own. A test in which pcscd dies belongs into a process of its
/// own (an exit test).
public final class FakePCSCD: Sendable {
    public let path: String
    private let state = Mutex(FakeState())
    private let listener = Mutex<Int32>(-1)

    private static let sharedInstance: Result<FakePCSCD, RigError> = Result { () throws(RigError) in
        let path = NSTemporaryDirectory() + "/nfc-tap-pcscd-\(ProcessInfo.processInfo.processIdentifier).comm"
        let fake = FakePCSCD(path: path)
        try fake.start()
        unsafe setenv("PCSCLITE_CSOCK_NAME", path, 1)
        return fake
    }

    /// The one of this process, started at the first call, which must come before the first PC/SC call.
    public static func shared() throws(RigError) -> FakePCSCD { try sharedInstance.get() }

    /// - Parameter path: at most 107 bytes.
    public init(path: String) { self.path = path }

    private static let namesGiven = Atomic<Int>(0)

    /// A name as pcscd gives it to a reader of this model, and that no other reader of this process has.
    public static func freshName(_ model: String) -> String {
        let number = String(namesGiven.add(1, ordering: .relaxed).newValue, radix: 16, uppercase: true)
        return "\(model) \(number.count < 2 ? "0" : "")\(number) 00"
    }

    /// Begins to listen; also after `die`.
    public func start() throws(RigError) {
        let descriptor = try UnixStream.listen(at: path)
        listener.withLock { $0 = descriptor }
        Thread.detachNewThread { [self] in accept(on: descriptor) }
    }

    /// Ends as a killed daemon does: nobody is served any more and no connection survives. Readers and cards stay.
    public func die() {
        let descriptor = listener.withLock { listener in
            defer { listener = -1 }
            return listener
        }
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
        _ = unsafe unlink(path)
        state.withLock { state in
            for (number, connection) in state.connections {
                _ = shutdown(connection, Int32(SHUT_RDWR))
                state.drop(connection: number)
            }
        }
    }

    // A test may do all of this at any time, on any thread.

    /// - Parameter isLatin1: clients get the name in ISO/IEC 8859-1.
    public func plug(_ name: String, isLatin1: Bool = false) throws(RigError) {
        try change { state throws(RigError) in
            guard state.index(of: name) == nil, let free = state.readers.firstIndex(where: { $0 == nil }) else {
                throw .noRoomForReader(name)
            }
            state.readers[free] = FakeReader(name: name, isLatin1: isLatin1)
        }
    }

    public func unplug(_ name: String) throws(RigError) {
        try change { state throws(RigError) in
            guard let index = state.index(of: name) else { throw .noSuchReader(name) }
            state.readers[index] = nil
        }
    }

    public func insert(_ card: any VirtualCard, into reader: String) throws(RigError) {
        try change(reader) { $0.insert(card) }
    }

    public func remove(from reader: String) throws(RigError) {
        try change(reader) { $0.remove() }
    }

    /// Another card in the place of the one that lies there, in one event.
    public func swap(_ card: any VirtualCard, in reader: String) throws(RigError) {
        try change(reader) { reader in
            reader.remove()
            reader.insert(card)
        }
    }

    /// Something that does not answer to power-up.
    public func insertMute(into reader: String) throws(RigError) {
        try change(reader) { reader in
            reader.remove()
            reader.isMute = true
        }
    }

    /// A card that does not take power when it comes, nor at so many connections after that.
    public func insert(
        _ card: any VirtualCard, into reader: String, failingConnections: Int
    ) throws(RigError) {
        try change(reader) { reader in
            reader.insert(card)
            (reader.isMute, reader.powerUpsToFail) = (true, failingConnections)
        }
    }

    /// Another program leaves the card that lies there in protocol RAW.
    public func leaveRaw(in reader: String) throws(RigError) { try change(reader) { $0.isRaw = true } }

    /// The driver reports an error, or works again.
    public func setError(_ isInError: Bool, of reader: String) throws(RigError) {
        try change(reader) { $0.isInError = isInError }
    }

    /// Another program takes the reader for itself, or gives it back.
    public func occupy(_ reader: String, _ isOccupied: Bool) throws(RigError) {
        try change(reader) { $0.isOccupied = isOccupied }
    }

    /// Every open handle of the reader answers `code` until it reconnects: `resetCard`, `removedCard`.
    public func mark(_ reader: String, with code: UInt32) {
        state.withLock { state in
            for (id, handle) in state.handles where handle.reader == reader { state.handles[id]?.pendingCode = code }
        }
    }

    /// The next such command, to this reader if one is named, meets `fault` instead.
    public func force(_ fault: PCSCFault, on command: PCSCCommand, reader: String? = nil) {
        state.withLock { $0.faults.append(PendingFault(command: command, reader: reader, fault: fault)) }
    }

    /// No later command meets what was forced on this reader, or without one on any, and has met nobody: on a busy machine a short
    /// time limit ends a command before it was sent.
    public func forgetFaults(reader: String? = nil) {
        state.withLock { state in state.faults.removeAll { $0.reader == reader } }
    }

    public var log: [PCSCLogEntry] { state.withLock { $0.log } }

    public func log(of reader: String) -> [PCSCLogEntry] { log.filter { $0.reader == reader } }

    /// Clients that wait for an event.
    public var waiterCount: Int { state.withLock { $0.waiting.count } }

    public var connectionCount: Int { state.withLock { $0.connections.count } }

    /// Whether a connection to the reader is open, and how: −1 exclusive, 0 none, else the number of shared ones.
    public func sharing(of reader: String) -> Int32? {
        state.withLock { state in state.index(of: reader).flatMap { state.readers[$0]?.sharing } }
    }

    /// Looks every 100 µs.
    ///
    /// - Returns: whether `condition` held within `milliseconds`.
    public func waits(milliseconds: UInt64 = 60_000, until condition: () -> Bool) -> Bool {
        let deadline = rigNow().advanced(byMilliseconds: milliseconds)
        while !condition() {
            if rigNow() > deadline { return false }
            usleep(100)
        }
        return true
    }

    private func change(_ body: (inout FakeState) throws(RigError) -> Void) throws(RigError) {
        try state.withLock { (state) throws(RigError) in
            try body(&state)
            state.notify()
        }
    }

    private func change(_ name: String, _ body: (inout FakeReader) -> Void) throws(RigError) {
        try change { state throws(RigError) in
            guard let index = state.index(of: name), var reader = state.readers[index] else {
                throw .noSuchReader(name)
            }
            body(&reader)
            state.readers[index] = reader
        }
    }
}

extension FakePCSCD {
    private func accept(on listener: Int32) {
        while true {
            let descriptor = Glibc.accept(listener, nil, nil)
            if descriptor < 0, errno == EINTR { continue }
            guard descriptor >= 0 else { break }
            let number = state.withLock { state in
                state.nextConnection += 1
                state.connections[state.nextConnection] = descriptor
                return state.nextConnection
            }
            Thread.detachNewThread { [self] in serve(descriptor, number) }
        }
        _ = close(listener)
    }

    private func serve(_ descriptor: Int32, _ number: Int) {
        while let header = UnixStream.receive(8, from: descriptor) {
            let header = MessageBody(header)
            guard let command = PCSCCommand(rawValue: header[4]), header[0] == UInt32(command.bodySize),
                let body = UnixStream.receive(command.bodySize, from: descriptor)
            else { break }
            guard answer(command, MessageBody(body), descriptor, number) else { break }
        }
        state.withLock { $0.drop(connection: number) }
        _ = close(descriptor)
    }

    /// - Returns: whether the connection goes on.
    private func answer(_ command: PCSCCommand, _ body: MessageBody, _ descriptor: Int32, _ number: Int) -> Bool {
        var extra: [UInt8] = []
        if command == .transmit || command == .control {
            // More than that is refused by the real daemon, too.
            let length = command == .transmit ? body[12] : body[8]
            guard length <= 65_548, let bytes = UnixStream.receive(Int(length), from: descriptor) else { return false }
            extra = bytes
        }
        let reply = state.withLock { state -> FakeState.Reply in
            if command == .cancel {
                var body = body
                body.result = state.cancel(body[0])
                return .send(body.bytes)
            }
            let reply = state.answer(command, body, extra: extra, from: number)
            // Table and registration belong together: an event in between would come before the table.
            if case .send(let bytes, 0) = reply, command == .registerForEvents || command == .stopWaiting {
                return UnixStream.send(bytes, to: descriptor) ? .nothing : .hangUp
            }
            return reply
        }
        switch reply {
        case .nothing: return true
        case .hangUp: return false
        case .hang:
            UnixStream.waitForEnd(of: descriptor)
            return false
        case .send(let bytes, let delay):
            if delay > 0 { usleep(useconds_t(clamping: delay * 1_000)) }
            return UnixStream.send(bytes, to: descriptor)
        }
    }
}
