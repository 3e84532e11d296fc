// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import Wire

/// The daemon, as each till reaches it: connections that are one till's alone, kept while the till is there. What a till has begun
/// and not read yet, the daemon cancels when the last of them closes.
actor Upstream {
    private struct Line {
        var idle: [HTTPClientConnection] = []
        var all: [HTTPClientConnection] = []
        /// Streams and requests of the till that are open.
        var presence = 0
        /// Which leaving a farewell belongs to.
        var leaving: UInt64 = 0
    }

    private let client: HTTPClient
    private var lines: [String: Line] = [:]
    private var departures: UInt64 = 0
    /// For a till that reloads its page or looks for its network.
    private let patience: Duration
    private static let connectionsPerTill = 4
    /// The daemon has 64 for the gateway; one is for events, some for displays.
    private static let connections = 56
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
        for connection in line?.all ?? [] { await connection.close() }
    }

    /// Sends a till's request over a connection of its own.
    func send(_ request: HTTPClientRequest, for till: Till) async throws(HTTPClientError) -> HTTPClientAnswer {
        var request = request
        Self.name(till.till, till.rolesAtDaemon, in: &request)
        let (connection, isUsed) = try await connection(of: till.till)
        do throws(HTTPClientError) {
            let answer = try await connection.send(request, answerWithin: Self.answerTime)
            giveBack(connection, till.till)
            return answer
        } catch {
            forget(connection, till.till)
            // The daemon closes what was idle for long: perhaps in the very moment in which this was sent.
            let wasClosed = error == .noAnswer(.closed) || error.isSafeToRepeat
            // Not for a till that was revoked or has gone meanwhile.
            guard isUsed, wasClosed, request.isRepeatable, lines[till.till] != nil else { throw error }
        }
        let fresh = try await client.connect()
        keep(fresh, till.till)
        do throws(HTTPClientError) {
            let answer = try await fresh.send(request, answerWithin: Self.answerTime)
            giveBack(fresh, till.till)
            return answer
        } catch {
            forget(fresh, till.till)
            throw error
        }
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

    /// - Returns: a connection, and whether it was used before.
    private func connection(of till: String) async throws(HTTPClientError) -> (HTTPClientConnection, Bool) {
        while let idle = lines[till]?.idle.popLast() {
            if idle.isOpen { return (idle, true) }
            forget(idle, till)
        }
        let own = lines[till]?.all ?? []
        let all = lines.values.reduce(0) { $0 + $1.all.count }
        if let busy = own.last, own.count >= Self.connectionsPerTill || all >= Self.connections {
            // It waits there for its turn.
            return (busy, true)
        }
        let fresh = try await client.connect()
        keep(fresh, till)
        return (fresh, false)
    }

    private func keep(_ connection: HTTPClientConnection, _ till: String) { lines[till]?.all.append(connection) }

    private func giveBack(_ connection: HTTPClientConnection, _ till: String) {
        guard let line = lines[till], line.all.contains(where: { $0 === connection }),
            !line.idle.contains(where: { $0 === connection })
        else { return }
        lines[till]?.idle.append(connection)
    }

    private func forget(_ connection: HTTPClientConnection, _ till: String) {
        lines[till]?.all.removeAll { $0 === connection }
        lines[till]?.idle.removeAll { $0 === connection }
    }
}

extension HTTPClientRequest {
    /// The daemon does it once, however often it comes.
    fileprivate var isRepeatable: Bool { method != .post || fields.contains("Idempotency-Key") }
}
