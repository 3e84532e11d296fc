// SPDX-License-Identifier: Apache-2.0
import NIOCore
import Synchronization

/// The connections there are, by user: who may come in, and whom to tell when the server stops.
final class ConnectionTable: Sendable {
    private struct Entry {
        var connection: HTTPConnection
        var channel: any Channel
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
        var countByUser: [UInt32: Int] = [:]
        /// Connections that are only there to be told that they may not.
        var refused = 0
        var isStopping = false
    }

    enum Verdict: Equatable {
        case admitted
        /// Tell it so.
        case refused(HTTPRefusal)
        /// There are too many of those already: close without a word.
        case dropped
    }

    private let state = Mutex(State())
    private let limits: HTTPLimits

    private let count: ConnectionCount?

    init(limits: HTTPLimits, count: ConnectionCount? = nil) {
        self.limits = limits
        self.count = count
    }

    /// Decides, and counts the connection until it closes.
    func admit(_ connection: HTTPConnection, _ channel: any Channel) -> Verdict {
        let verdict = state.withLock { state -> Verdict in
            if let refusal = refusal(of: connection.peer.userID, state) {
                guard state.refused < limits.connections else { return .dropped }
                state.refused += 1
                return .refused(refusal)
            }
            state.entries[connection.id] = Entry(connection: connection, channel: channel)
            state.countByUser[connection.peer.userID, default: 0] += 1
            return .admitted
        }
        switch verdict {
        case .admitted:
            count?.opened()
            _ = connection.closing.observe { self.remove(connection) }
        case .refused: _ = connection.closing.observe { self.state.withLock { $0.refused -= 1 } }
        case .dropped: break
        }
        return verdict
    }

    /// Lets nobody in any more; who is in is told.
    func stop() {
        let entries = state.withLock { state in
            state.isStopping = true
            return Array(state.entries.values)
        }
        for entry in entries {
            entry.connection.stopping.happen()
            entry.channel.pipeline.fireUserInboundEventTriggered(ServerConnectionHandler.Stop())
        }
    }

    private func refusal(of user: UInt32, _ state: State) -> HTTPRefusal? {
        if state.isStopping { return .shuttingDown }
        if state.entries.count >= limits.connections { return .tooManyConnections }
        if state.countByUser[user, default: 0] >= limits.connectionsPerUser { return .tooManyConnectionsOfUser }
        return nil
    }

    private func remove(_ connection: HTTPConnection) {
        state.withLock { state in
            guard state.entries.removeValue(forKey: connection.id) != nil else { return }
            count?.closed()
            let left = state.countByUser[connection.peer.userID, default: 1] - 1
            state.countByUser[connection.peer.userID] = left > 0 ? left : nil
        }
    }
}
