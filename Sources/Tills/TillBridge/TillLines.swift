// SPDX-License-Identifier: Apache-2.0
import ECR
import Linux
import LocalHTTP
import Logging
import Synchronization

/// The TCP port or the serial line of a till whose protocol is bytes. Each connection has a thread that reads from it.
final class TillLines: Sendable {
    private let port: TillPort
    private let logger: Logger
    private let places = Mutex(TillPlaces<ByteLine>(most: TillLines.most))
    private let refused = Atomic<Int>(0)

    private static let most = 16
    /// One listens, one is let in or closed.
    static let descriptors = most + 2

    private static let last = Atomic<UInt64>(0)
    /// Before a serial line that has gone is looked for again.
    private static let pause: UInt64 = 2_000

    init(_ port: TillPort, _ logger: Logger) {
        self.port = port
        self.logger = logger
    }

    static func newConnection() -> TillConnection { TillConnection(last.wrappingAdd(1, ordering: .relaxed).newValue) }

    /// Listens, or opens the line, and goes on by itself.
    ///
    /// - Parameter inherited: a descriptor that listens already.
    /// - Throws: where the address or the device cannot be had.
    func begin(inherited: Int32?) throws(SystemError) {
        switch port.till.line {
        case .tcp(let address):
            let listener: Descriptor
            if let inherited {
                listener = Descriptor(owning: inherited)
            } else {
                listener = try Descriptor.listening(at: address)
            }
            let allowed = port.till.allowed
            let box = Mutex<Descriptor?>(consume listener)
            try PrivateThread.start(named: "till-\(port.till.name)") {
                guard let listener = box.withLock({ $0.take() }) else { return }
                var quietUntil: UInt64 = 0
                while true { self.accept(from: listener, allowed, &quietUntil) }
            }
        case .serial(let device, let baud):
            let line = try ByteLine(serialPort: device, baud: baud)
            try PrivateThread.start(named: "till-\(port.till.name)") {
                self.read(line, peer: device)
                while true {
                    sleep(milliseconds: Self.pause)
                    if let again = try? ByteLine(serialPort: device, baud: baud) { self.read(again, peer: device) }
                }
            }
        }
    }

    private func accept(from listener: borrowing Descriptor, _ allowed: Set<String>, _ quietUntil: inout UInt64) {
        let accepted: Descriptor
        do throws(SystemError) { accepted = try listener.accept() } catch {
            // No descriptors left, or the like: it may be better in a moment.
            guard MachineClock.awake >= quietUntil else { return sleep(milliseconds: 500) }
            quietUntil = MachineClock.awake + 60_000_000_000
            logger.error("connection not accepted", metadata: ["till": "\(port.till.name)", "error": "\(error)"])
            return sleep(milliseconds: 500)
        }
        // What a ledger and the way to the daemon need is left to them.
        guard accepted.number < DescriptorLimit.ceiling() else {
            _ = consume accepted
            refuse("that leaves too few file descriptors")
            return sleep(milliseconds: 500)
        }
        guard let peer = TCPAddress.host(ofPeer: accepted.number), Self.admits(peer, allowed) else {
            return refuse("of an address that is not allowed")
        }
        let line = ByteLine(socket: accepted)
        let connection = Self.newConnection()
        switch places.withLock({ $0.enter(connection, line) }) {
        case .free: break
        case .of(let silent): silent.finish()
        case .none: return refuse("beyond those that have sent something")
        }
        do throws(SystemError) {
            try PrivateThread.start(named: "till-line") {
                self.read(line, connection, peer: peer)
                self.places.withLock { $0.leave(connection) }
            }
        } catch {
            places.withLock { $0.leave(connection) }
        }
    }

    static func admits(_ host: String, _ allowed: Set<String>) -> Bool {
        TCPAddress.isLoopback(host) || allowed.contains(host)
    }

    /// The first few, and then each thousandth: a flood must not fill the log.
    private func refuse(_ why: String) {
        let count = refused.wrappingAdd(1, ordering: .relaxed).newValue
        guard count <= 3 || count.isMultiple(of: 1_000) else { return }
        logger.warning(
            "connection \(why) closed", metadata: ["till": "\(port.till.name)", "so far": "\(count)"])
    }

    private func read(_ line: ByteLine, _ connection: TillConnection = newConnection(), peer: String) {
        port.connected(line, connection, peer: peer)
        while true {
            switch line.receive() {
            case .bytes(let bytes):
                places.withLock { $0.speak(connection) }
                port.happened(.bytes(bytes, connection))
            case .closed: return port.happened(.lost(connection, .closed))
            case .broken: return port.happened(.lost(connection, .reset))
            }
        }
    }
}

/// Who is connected to a till's port. Any user of the machine can connect: whoever says nothing gives way.
struct TillPlaces<Line> {
    enum Place {
        case free
        /// That of the one that has been silent for longest.
        case of(Line)
        case none
    }

    private let most: Int
    /// In the order in which they came; the line of those that have sent nothing yet.
    private var places: [(connection: TillConnection, silent: Line?)] = []

    /// - Parameter most: so many at a time.
    init(most: Int) { self.most = most }

    mutating func enter(_ connection: TillConnection, _ line: Line) -> Place {
        var place = Place.free
        if places.count >= most {
            guard let oldest = places.firstIndex(where: { $0.silent != nil }),
                let silent = places.remove(at: oldest).silent
            else { return .none }
            place = .of(silent)
        }
        places.append((connection, line))
        return place
    }

    mutating func speak(_ connection: TillConnection) {
        guard let place = places.firstIndex(where: { $0.connection == connection }) else { return }
        places[place].silent = nil
    }

    mutating func leave(_ connection: TillConnection) { places.removeAll { $0.connection == connection } }
}

/// The TCP port of a till that speaks HTTP.
struct TillExchanges: Sendable {
    let port: TillPort

    /// - Parameter inherited: a descriptor that listens already.
    /// - Throws: where the address cannot be had.
    func server(_ address: TCPAddress, inherited: Int32?, _ logger: Logger) throws(ListenError) -> HTTPServer {
        let allowed = port.till.allowed
        let socket = try ListeningSocket(address: address, inherited: inherited) { TillLines.admits($0, allowed) }
        return HTTPServer(socket: socket, limits: Self.limits, logger: logger) { await answer($0) }
    }

    static var limits: HTTPLimits {
        var limits = HTTPLimits()
        // Whoever comes by TCP is one user.
        limits.connectionsPerUser = limits.connections
        // Nobody shows a token here: what has been quiet for longest gives way to whoever comes.
        limits.strangers = limits.connections
        limits.strangerTime = limits.idleTime
        limits.relayed = 0
        return limits
    }

    private func answer(_ request: HTTPRequest) async -> HTTPResponse {
        let connection = TillLines.newConnection()
        let plain = ProxyRequest(
            request.method.rawValue, "/" + request.path.joined(separator: "/"), host: request.fields.only("Host"),
            origin: request.fields.only("Origin"), contentType: request.fields.only("Content-Type"),
            asksForPrivateNetwork: request.fields.only("Access-Control-Request-Private-Network") == "true",
            body: request.body)
        guard let response = await port.answer(plain, on: connection) else { return HTTPResponse(status: 503) }
        var fields = HTTPFields()
        for header in response.headers { fields.set(header.name, header.value) }
        var answer = HTTPResponse(status: response.status, fields: fields, body: .bytes(response.body))
        let port = port
        answer.whenWritten = { port.happened($0 ? .sent(connection) : .lost(connection, .reset)) }
        return answer
    }
}
