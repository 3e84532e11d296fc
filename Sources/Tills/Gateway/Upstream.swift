// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import POSAPI
import PaymentValues

/// The daemon, as each till reaches it: connections that are one till's alone, kept while the till is there. What a till has begun
/// and not read yet, the daemon cancels when the last of them closes.
actor Upstream {
    private struct Held {
        let connection: HTTPClientConnection
        /// Requests that are on it, or wait there for their turn.
        var requests = 0
        /// What is on it may take minutes: nothing else goes there.
        var isWaiting = false
    }

    private struct Line {
        var held: [Held] = []
        /// Connections that are being opened.
        var opening = 0
        /// Of the requests those that wait for an end.
        var waits = 0
        /// Streams and requests of the till that are open.
        var presence = 0
        /// Which leaving a farewell belongs to.
        var leaving: UInt64 = 0

        var connections: Int { held.count + opening }

        // What a line that was dropped meanwhile had begun is not this one's.
        mutating func endWait() { waits = max(0, waits - 1) }
        mutating func endOpening() { opening = max(0, opening - 1) }
    }

    private let client: HTTPClient
    private var lines: [String: Line] = [:]
    private var departures: UInt64 = 0
    /// For a till that reloads its page or looks for its network.
    private let patience: Duration
    static let connectionsPerTill = 6
    /// Of them, for requests that wait: there is always one for a cancel.
    static let waitsPerTill = 4
    /// The daemon has 64 for the gateway; one is for events, some for displays and for cancels.
    private static let connections = 54
    private static let waits = 36
    /// Beside `connections`, for cancels.
    private static let spare = 4
    /// Those of tills, and what the daemon leaves for events and displays.
    static let mostConnections = 64
    /// Longer than any call may wait for a settled state.
    private static let answerTime = Duration.seconds(620)

    init(path: String, patience: Duration = .seconds(20)) {
        var client = HTTPClient(path: path)
        client.maximumAnswerBytes = 4 << 20
        self.client = client
        self.patience = patience
    }

    /// A stream or a request of the till begins.
    func enter(_ till: String) { lines[till, default: Line()].presence += 1 }

    /// It has ended; the last one to leave closes the connections after a while.
    func leave(_ till: String) {
        guard var line = lines[till] else { return }
        line.presence = max(0, line.presence - 1)
        departures &+= 1
        line.leaving = departures
        lines[till] = line
        guard line.presence == 0 else { return }
        let departure = departures
        let patience = patience
        Task { [weak self] in
            try? await Task.sleep(for: patience)
            await self?.farewell(till, departure)
        }
    }

    private func farewell(_ till: String, _ departure: UInt64) async {
        guard let line = lines[till], line.presence == 0, line.leaving == departure else { return }
        await drop(till)
    }

    /// Closes every connection of a till.
    func drop(_ till: String) async {
        let line = lines.removeValue(forKey: till)
        for held in line?.held ?? [] { await held.connection.close() }
    }

    /// Sends a till's request. One that waits for an end has a connection for itself; where the till has too many of those, it is
    /// answered as things are (RFC 7240 lets a preference be ignored). Cancelling the task that waits ends it at the daemon, too.
    func send(_ request: HTTPClientRequest, for till: Till) async throws(HTTPClientError) -> HTTPClientAnswer {
        var request = request
        Self.name(till.till, till.rolesAtDaemon, in: &request)
        let own = lines[till.till]?.waits ?? 0
        if request.waits, own >= Self.waitsPerTill || allWaits >= Self.waits || allConnections >= Self.connections {
            request = request.withoutWait
        }
        let isWaiting = request.waits
        if isWaiting { lines[till.till]?.waits += 1 }
        defer { if isWaiting { lines[till.till]?.endWait() } }
        let (connection, isUsed) = try await connection(of: till.till, for: request)
        do throws(HTTPClientError) {
            let answer = try await connection.send(request, answerWithin: Self.answerTime)
            giveBack(connection, till.till)
            return answer
        } catch {
            forget(connection, till.till)
            if isWaiting, error == .noAnswer(.cancelled) { stay(with: request, till) }
            // The daemon closes what was idle for long: perhaps in the very moment in which this was sent.
            let wasClosed = error == .noAnswer(.closed) || error.isSafeToRepeat
            // Not for a till that was revoked or has gone meanwhile.
            guard isUsed, wasClosed, request.isRepeatable, lines[till.till] != nil, !Task.isCancelled else {
                throw error
            }
        }
        let fresh = try await open(till.till, isWaiting: isWaiting)
        do throws(HTTPClientError) {
            let answer = try await fresh.send(request, answerWithin: Self.answerTime)
            giveBack(fresh, till.till)
            return answer
        } catch {
            forget(fresh, till.till)
            if isWaiting, error == .noAnswer(.cancelled) { stay(with: request, till) }
            throw error
        }
    }

    /// Whoever waited is gone, and the till is not: without a connection that has asked for it, the daemon would cancel the payment two
    /// seconds from now. So it is asked for once more, without waiting.
    private func stay(with request: HTTPClientRequest, _ till: Till) {
        guard request.isRepeatable, lines[till.till] != nil else { return }
        let plain = request.withoutWait
        Task { _ = try? await self.send(plain, for: till) }
    }

    /// Has a receipt of a till's sale sent to an address, over a connection that ends with it.
    ///
    /// - Returns: why it is not sent; `nil` where it is.
    nonisolated func send(_ wish: ReceiptRequest, of id: TransactionID, for till: String) async -> ErrorCode? {
        guard let body = try? WireJSON.encode(wish) else { return .internalFault }
        var request = HTTPClientRequest(
            .post, "/v1/transactions/\(id.text)/receipt", fields: ["Content-Type": "application/json"], body: body)
        Self.name(till, "cashier", in: &request)
        guard let answer = try? await client.send(request, answerWithin: .seconds(30)) else {
            return .daemonUnavailable
        }
        guard answer.status != 204 else { return nil }
        let said = try? WireJSON.decode(ErrorBody.self, from: answer.body)
        return said.flatMap { ErrorCode(rawValue: $0.error.code) } ?? .daemonUnavailable
    }

    /// Looks something up for somebody else's eyes, over a connection that ends with it: it keeps no sale alive.
    nonisolated func look(_ target: String, accept: String, for till: String) async -> HTTPClientAnswer? {
        var request = HTTPClientRequest(.get, target, fields: ["Accept": accept])
        Self.name(till, "cashier", in: &request)
        return try? await client.send(request, answerWithin: .seconds(5))
    }

    /// A question of the gateway's own, which is no till's.
    nonisolated func ask(_ request: HTTPClientRequest) async throws(HTTPClientError) -> HTTPClientAnswer {
        try await client.send(request, answerWithin: .seconds(5))
    }

    nonisolated func events(after cursor: String?) async throws(HTTPClientError) -> EventStream {
        var fields = HTTPFields()
        if let cursor { fields.set("Last-Event-ID", cursor) }
        return try await client.events(
            HTTPClientRequest(.get, "/v1/events?vocabulary=2", fields: fields), answerWithin: .seconds(5))
    }

    private static func name(_ till: String, _ roles: String, in request: inout HTTPClientRequest) {
        request.fields.set("NFC-Tap-On-Behalf-Of", till)
        request.fields.set("NFC-Tap-Roles", roles)
    }

    private var allWaits: Int { lines.values.reduce(0) { $0 + $1.waits } }
    private var allConnections: Int { lines.values.reduce(0) { $0 + $1.connections } }

    /// - Returns: a connection, and whether it was used before.
    private func connection(
        of till: String, for request: HTTPClientRequest
    ) async throws(HTTPClientError) -> (HTTPClientConnection, Bool) {
        lines[till]?.held.removeAll { !$0.connection.isOpen && $0.requests == 0 }
        if let place = lines[till]?.held.firstIndex(where: { $0.requests == 0 }),
            let idle = take(place, till, request)
        {
            return (idle, true)
        }
        let (own, all) = (lines[till]?.connections ?? 0, allConnections)
        let isCancel = request.method == .delete && all < Self.connections + Self.spare
        if own >= Self.connectionsPerTill || all >= Self.connections, !request.waits, !isCancel {
            // It waits for its turn, behind nothing that takes long.
            let quick = lines[till]?.held.indices.filter { lines[till]?.held[$0].isWaiting == false } ?? []
            if let place = quick.min(by: { requests(on: $0, of: till) < requests(on: $1, of: till) }),
                let shared = take(place, till, request)
            {
                return (shared, true)
            }
        }
        return (try await open(till, isWaiting: request.waits), false)
    }

    private func requests(on place: Int, of till: String) -> Int { lines[till]?.held[place].requests ?? 0 }

    private func take(_ place: Int, _ till: String, _ request: HTTPClientRequest) -> HTTPClientConnection? {
        lines[till]?.held[place].requests += 1
        lines[till]?.held[place].isWaiting = request.waits
        return lines[till]?.held[place].connection
    }

    private func open(_ till: String, isWaiting: Bool) async throws(HTTPClientError) -> HTTPClientConnection {
        lines[till]?.opening += 1
        defer { lines[till]?.endOpening() }
        let fresh = try await client.connect()
        lines[till]?.held.append(Held(connection: fresh, requests: 1, isWaiting: isWaiting))
        return fresh
    }

    private func giveBack(_ connection: HTTPClientConnection, _ till: String) {
        guard let place = lines[till]?.held.firstIndex(where: { $0.connection === connection }) else { return }
        lines[till]?.held[place].requests -= 1
        lines[till]?.held[place].isWaiting = false
    }

    private func forget(_ connection: HTTPClientConnection, _ till: String) {
        lines[till]?.held.removeAll { $0.connection === connection }
    }
}

extension HTTPClientRequest {
    /// It is answered once a payment has ended, minutes later perhaps: `Prefer: wait=N`, or `?wait=N`.
    var waits: Bool { fields.all("Prefer").contains { Self.isWait($0) } || query.contains { $0.hasPrefix("wait=") } }

    /// The same question, answered as things are.
    var withoutWait: HTTPClientRequest {
        var plain = self
        plain.fields = HTTPFields()
        for field in fields.fields where !(field.name.lowercased() == "prefer" && Self.isWait(field.value)) {
            plain.fields.append(field.name, field.value)
        }
        let rest = query.filter { !$0.hasPrefix("wait=") }
        plain.target = path + (rest.isEmpty ? "" : "?" + rest.joined(separator: "&"))
        return plain
    }

    private static func isWait(_ preference: String) -> Bool {
        preference.split(separator: ",").contains {
            $0.lowercased().filter { $0 != " " && $0 != "\t" }.hasPrefix("wait")
        }
    }

    private var path: String { String(target.prefix { $0 != "?" }) }
    private var query: [Substring] { target.dropFirst(path.count + 1).split(separator: "&") }

    /// The daemon does it once, however often it comes.
    fileprivate var isRepeatable: Bool { method != .post || fields.contains("Idempotency-Key") }
}
