// SPDX-License-Identifier: Apache-2.0
import Linux
import Synchronization

/// The connections there are, by user: who may come in, and whom to tell when the server stops.
final class ConnectionTable: Sendable {
    private struct Entry {
        var connection: HTTPConnection
        var stop: @Sendable () -> Void
        var standing: PeerStanding
        /// The connection only carries events from now on.
        var isStream = false
        /// Closes it, where it is one that nobody has vouched for.
        var dismiss: (@Sendable () -> Void)?
        /// When it asked last, as a number that grows.
        var turn: UInt64 = 0
        /// The connection's request is being answered.
        var isAsking = false

        var isStranger: Bool { dismiss != nil }
    }

    /// What one user has.
    private struct Share {
        var connections = 0
        var streams = 0
        /// When as many connections as at first may come at once, in nanoseconds of the monotonic clock.
        var paceUntil: UInt64 = 0
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
        var users: [UInt32: Share] = [:]
        var connections = 0
        var streams = 0
        /// Connections that nobody has vouched for.
        var strangers = 0
        var turns: UInt64 = 0
        /// Of those who speak for others.
        var relayed = 0
        /// Connections that are only there to be told that they may not.
        var refused = 0
        var isStopping = false

        /// Of those that nobody has vouched for, the one that has been quiet for longest.
        var quietest: UInt64? {
            entries.filter { $0.value.isStranger && !$0.value.isAsking }.min { $0.value.turn < $1.value.turn }?.key
        }
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
    private let standing: @Sendable (PeerCredentials) -> PeerStanding
    private let count: ConnectionCount?
    /// Seconds' worth of connections that may come at once.
    private static let burst: UInt64 = 4
    /// Users beyond these are forgotten once they have nothing: an id costs an attacker nothing.
    private static let rememberedUsers = 256

    init(
        limits: HTTPLimits, count: ConnectionCount? = nil,
        standing: @escaping @Sendable (PeerCredentials) -> PeerStanding = { _ in .administering }
    ) {
        self.limits = limits
        self.count = count
        self.standing = standing
    }

    /// Decides, and counts the connection until it closes.
    ///
    /// - Parameters:
    ///   - dismiss: closes it, where it has to give way.
    ///   - stop: tells it that the server stops.
    func admit(
        _ connection: HTTPConnection,
        dismiss: @escaping @Sendable () -> Void = {}, stop: @escaping @Sendable () -> Void
    ) -> Verdict {
        let standing = self.standing(connection.peer)
        let user = connection.peer.userID
        var gone: Entry?
        let verdict = state.withLock { state -> Verdict in
            if let most = limits.strangers, standing != .none, standing != .relaying, !state.isStopping {
                if state.strangers >= most {
                    guard let quiet = state.quietest else { return .dropped }
                    gone = state.entries.removeValue(forKey: quiet)
                    state.strangers -= 1
                }
                state.turns += 1
                state.entries[connection.id] = Entry(
                    connection: connection, stop: stop, standing: standing, dismiss: dismiss, turn: state.turns)
                state.strangers += 1
                connection.beginStrange { [weak self, weak connection] in
                    if let connection { self?.vouched(connection) }
                }
                return .admitted
            }
            if let refusal = refusal(of: user, standing, state) {
                guard state.refused < limits.connections else { return .dropped }
                state.refused += 1
                return .refused(refusal)
            }
            state.entries[connection.id] = Entry(connection: connection, stop: stop, standing: standing)
            if standing == .relaying {
                state.relayed += 1
            } else {
                state.users[user, default: Share()].connections += 1
                state.connections += 1
            }
            return .admitted
        }
        if let gone {
            count?.closed()
            gone.dismiss?()
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

    /// A connection becomes a stream of events, and leaves its place to another.
    ///
    /// - Returns: why it may not.
    func beginStream(_ connection: HTTPConnection) -> HTTPRefusal? {
        let user = connection.peer.userID
        return state.withLock { state in
            guard let entry = state.entries[connection.id], !entry.isStream else { return nil }
            guard entry.standing != .relaying else { return nil }
            let share = entry.standing.share(of: limits.streams, reserved: limits.reserved)
            guard state.streams < share, state.users[user, default: Share()].streams < limits.streamsPerUser else {
                return .tooManyStreams
            }
            state.entries[connection.id]?.isStream = true
            state.streams += 1
            if entry.isStranger {
                state.entries[connection.id]?.dismiss = nil
                state.strangers -= 1
            } else {
                state.connections -= 1
                state.users[user, default: Share()].connections -= 1
            }
            state.users[user, default: Share()].streams += 1
            return nil
        }
    }

    /// A request of the connection is being answered, or has been.
    func asks(_ connection: HTTPConnection, _ isAsking: Bool) {
        guard limits.strangers != nil else { return }
        state.withLock { state in
            state.turns += 1
            state.entries[connection.id]?.turn = state.turns
            state.entries[connection.id]?.isAsking = isAsking
        }
    }

    /// Gives the connection a place among the known from now on, if one is free.
    private func vouched(_ connection: HTTPConnection) {
        let user = connection.peer.userID
        state.withLock { state in
            guard let entry = state.entries[connection.id], entry.isStranger, state.connections < limits.connections,
                state.users[user, default: Share()].connections < limits.connectionsPerUser
            else { return }
            state.entries[connection.id]?.dismiss = nil
            state.strangers -= 1
            state.connections += 1
            state.users[user, default: Share()].connections += 1
        }
    }

    /// Lets nobody in any more; who is in is told.
    func stop() {
        let entries = state.withLock { state in
            state.isStopping = true
            return Array(state.entries.values)
        }
        for entry in entries {
            entry.connection.stopping.happen()
            entry.stop()
        }
    }

    private func refusal(of user: UInt32, _ standing: PeerStanding, _ state: State) -> HTTPRefusal? {
        if state.isStopping { return .shuttingDown }
        guard standing != .none else { return .notAllowed }
        if standing == .relaying { return state.relayed < limits.relayed ? nil : .tooManyConnectionsOfUser }
        if state.connections >= standing.share(of: limits.connections, reserved: limits.reserved) {
            return .tooManyConnections
        }
        if state.users[user, default: Share()].connections >= limits.connectionsPerUser {
            return .tooManyConnectionsOfUser
        }
        return nil
    }

    /// Whether a user may come in again so soon: a loop that connects and closes must not keep the others waiting.
    func isInPace(_ user: UInt32, at now: UInt64 = MachineClock.awake) -> Bool {
        state.withLock { isInPace(user, now, &$0) }
    }

    private func isInPace(_ user: UInt32, _ now: UInt64, _ state: inout State) -> Bool {
        let pause = 1_000_000_000 / UInt64(max(1, limits.connectionsPerSecond))
        let until = max(state.users[user, default: Share()].paceUntil, now) &+ pause
        guard until &- now <= Self.burst * 1_000_000_000 else { return false }
        state.users[user, default: Share()].paceUntil = until
        if state.users.count > Self.rememberedUsers {
            state.users = state.users.filter {
                $0.value.connections > 0 || $0.value.streams > 0 || $0.value.paceUntil > now
            }
        }
        return true
    }

    private func remove(_ connection: HTTPConnection) {
        let user = connection.peer.userID
        state.withLock { state in
            guard let entry = state.entries.removeValue(forKey: connection.id) else { return }
            count?.closed()
            if entry.standing == .relaying {
                state.relayed -= 1
            } else if entry.isStranger {
                state.strangers -= 1
            } else if entry.isStream {
                state.streams -= 1
                state.users[user, default: Share()].streams -= 1
            } else {
                state.connections -= 1
                state.users[user, default: Share()].connections -= 1
            }
        }
    }
}
