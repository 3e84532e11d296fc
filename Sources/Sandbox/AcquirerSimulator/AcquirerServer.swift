// SPDX-License-Identifier: Apache-2.0
import Glibc
public import ISO8583
public import Linux
public import PaymentValues

/// The host on a port: one thread, one book, any number of connections.
public final class AcquirerServer: Sendable {
    public enum Fault: Error, Equatable, Sendable {
        /// Not an address and a port in numbers.
        case address(String)
        /// Not an address of this machine alone, and nobody has allowed others.
        case notLoopback(String)
        /// The port's address, and what the system says of it.
        case port(String, SystemError)
        case book(BookFile.Fault)
    }

    public struct Settings: Sendable {
        public var address: String
        public var allowsOtherMachines = false
        /// `nil` for a book in memory.
        public var book: String?
        public var packager: Packager
        public var rules = HostRules()
        public var faults: LineFaults?

        public init(address: String, packager: Packager) {
            self.address = address
            self.packager = packager
        }
    }

    private let stopping: WakeSignal

    /// File descriptors that it may need at a time: those of its connections, and what it needs beside them.
    public static let descriptors = ServedHost.mostConnections + DescriptorLimit.ofProcess

    /// - Throws: `Fault.port` if no descriptor is left.
    public init() throws(Fault) {
        do throws(SystemError) { stopping = try WakeSignal() } catch { throw .port("a port", error) }
    }

    /// Ends `run`.
    public func stop() { stopping.signal() }

    /// Serves until `stop`, on the calling thread.
    ///
    /// - Parameters:
    ///   - now: the time for the book.
    ///   - ready: called once it listens.
    /// - Throws: `Fault` for an address or a book that cannot be used.
    public func run(
        _ settings: Settings, now: () -> Timestamp = { .now }, ready: (String) -> Void
    ) throws(Fault) {
        guard let address = TCPAddress(settings.address, anyPort: true) else { throw .address(settings.address) }
        guard address.isLoopback || settings.allowsOtherMachines else { throw .notLoopback(settings.address) }
        var served: ServedHost
        if let path = settings.book {
            do throws(BookFile.Fault) {
                let (file, book) = try BookFile.open(path)
                served = ServedHost(settings, book, file: file)
            } catch {
                throw .book(error)
            }
        } else {
            served = ServedHost(settings, HostBook(), file: nil)
        }
        let listener: Descriptor
        do throws(SystemError) { listener = try Descriptor.listening(at: address, isBlocking: false) } catch {
            throw .port(settings.address, error)
        }
        // The port that the system has chosen, where it was asked to.
        ready("\(TCPAddress(ofListener: listener.number) ?? address)")
        while true {
            var watched = [
                pollfd(fd: stopping.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: listener.number, events: Int16(POLLIN), revents: 0),
            ]
            watched += served.watched
            let outcome = Poll.wait(&watched, untilNanoseconds: served.due)
            if watched[0].revents != 0 { return }
            if watched[1].revents != 0 {
                do throws(SystemError) { served.accept(try listener.accept()) } catch {
                    // Without descriptors the listener stays readable: look again in a moment, not at once.
                    let pause = MachineClock.awake + 100_000_000
                    if error.code != EAGAIN { _ = stopping.isSignalled(byNanoseconds: pause) }
                }
            }
            do throws(BookFile.Fault) {
                if case .ready = outcome { try served.read(watched.dropFirst(2), now()) }
                served.sendDue()
            } catch {
                throw .book(error)
            }
        }
    }
}

/// The host and its connections, for the thread that serves them.
private struct ServedHost {
    static let mostConnections = 256

    private struct Letter {
        let due: UInt64
        let connection: Int
        let bytes: [UInt8]
        let closes: Bool
    }

    private var host: SimulatedHost
    private let settings: AcquirerServer.Settings
    private let file: BookFile?
    private var faults: LineFaults?
    private var connections: [Int: HostConnection] = [:]
    private var numbers: [Int32: Int] = [:]
    private var next = 1
    private var letters: [Letter] = []

    init(_ settings: AcquirerServer.Settings, _ book: HostBook, file: BookFile?) {
        self.settings = settings
        self.file = file
        host = SimulatedHost(packager: settings.packager, rules: settings.rules, book: book)
        faults = settings.faults
    }

    var watched: [pollfd] {
        connections.values.map { pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0) }
    }

    /// When something has to be sent, in nanoseconds of `MachineClock.awake`.
    var due: UInt64? { letters.map(\.due).min() }

    mutating func accept(_ socket: consuming Descriptor) {
        // What the book and a stop need is left to them.
        guard connections.count < Self.mostConnections, socket.number < DescriptorLimit.ceiling() else { return }
        let connection = HostConnection(socket, settings.packager.frame)
        numbers[connection.number] = next
        connections[next] = connection
        next += 1
    }

    private mutating func close(_ number: Int) {
        guard let connection = connections.removeValue(forKey: number) else { return }
        numbers[connection.number] = nil
        letters.removeAll { $0.connection == number }
        host.disconnected(number)
    }

    mutating func read(_ watched: ArraySlice<pollfd>, _ now: Timestamp) throws(BookFile.Fault) {
        for one in watched where one.revents != 0 {
            guard let number = numbers[one.fd], let connection = connections[number] else { continue }
            guard connection.receive() else {
                close(number)
                continue
            }
            while connections[number] != nil {
                let frame: FrameReader.Frame?
                do throws(FrameError) { frame = try connection.next() } catch {
                    close(number)
                    break
                }
                guard let frame else { break }
                guard case .message(let bytes, let header) = frame else {
                    post(settings.packager.frame.keepAlive, to: number)
                    continue
                }
                try serve(bytes, header, number, now)
            }
        }
    }

    private mutating func serve(
        _ bytes: [UInt8], _ header: TPDU?, _ number: Int, _ now: Timestamp
    ) throws(BookFile.Fault) {
        let effects: [HostEffect]
        do throws(MessageError) {
            effects = host.receive(try settings.packager.parse(bytes), on: number, at: now)
        } catch {
            effects = host.receivedGarbage(at: now)
        }
        for effect in effects {
            switch effect {
            case .book(let line): try file?.append(line)
            case .send(let message, let after):
                guard let framed = frame(message, header) else { continue }
                // The connection itself is not what is to be tried out.
                let isNetwork = message.type.kind == settings.packager.network.type.kind
                for delay in isNetwork ? [after] : faults?.copies(after: after, rules: settings.rules) ?? [after] {
                    post(framed, to: number, after: delay)
                }
            case .sendHalf(let message):
                if let framed = frame(message, header) {
                    post(Array(framed.prefix(framed.count / 2)), to: number, closes: true)
                }
            case .sendGarbage:
                if let framed = try? settings.packager.frame.frame([0xFF, 0xFE, 0xFD, 0xFC], header?.swapped) {
                    post(framed, to: number)
                }
            }
        }
    }

    private func frame(_ message: ISOMessage, _ header: TPDU?) -> [UInt8]? {
        guard let bytes = try? settings.packager.build(message) else { return nil }
        return try? settings.packager.frame.frame(bytes, header?.swapped)
    }

    private mutating func post(_ bytes: [UInt8], to number: Int, after: UInt64 = 0, closes: Bool = false) {
        letters.append(
            Letter(due: MachineClock.awake + after * 1_000_000, connection: number, bytes: bytes, closes: closes))
    }

    mutating func sendDue() {
        let now = MachineClock.awake
        let ripe = letters.filter { $0.due <= now }
        letters.removeAll { $0.due <= now }
        for letter in ripe {
            guard let connection = connections[letter.connection] else { continue }
            // What a peer does not take at once is not kept for it.
            if !connection.line.send(letter.bytes) || letter.closes { close(letter.connection) }
        }
    }
}

/// One connection, for the thread that serves it.
private final class HostConnection {
    let line: ByteLine
    let number: Int32
    private var reader: FrameReader

    init(_ socket: consuming Descriptor, _ format: FrameFormat) {
        number = socket.number
        line = ByteLine(socket: socket)
        reader = FrameReader(format)
    }

    /// Takes what is there; called only when something is.
    ///
    /// - Returns: whether the other side is there still.
    func receive() -> Bool {
        guard case .bytes(let bytes) = line.receive() else { return false }
        reader.append(bytes)
        return true
    }

    func next() throws(FrameError) -> FrameReader.Frame? { try reader.next() }
}
