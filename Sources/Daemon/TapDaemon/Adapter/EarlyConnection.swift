// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import Synchronization

/// The connection on which an authorisation will go out, opened while its card is still being read: what the adapter takes
/// to accept one does not delay the payment.
///
/// Closed with its last owner, used or not.
final class EarlyConnection: Sendable {
    private enum State {
        case none
        case opening(Task<HTTPClientConnection?, Never>)
        case open(HTTPClientConnection, since: ContinuousClock.Instant)
    }

    private let adapter: AdapterLink
    private let life: Duration
    private let state = Mutex(State.none)

    /// - Parameter life: an older one is not used: an adapter may close what has been silent for some seconds, also in
    ///   the very moment in which a payment is sent.
    init(_ adapter: AdapterLink, life: Duration = .seconds(3)) {
        self.adapter = adapter
        self.life = life
    }

    deinit {
        if case .opening(let task) = state.withLock({ $0 }) { task.cancel() }
    }

    /// Begins to open one, unless there is one: each time a card answers.
    func open() {
        state.withLock { state in
            forget(&state)
            switch state {
            case .opening, .open: return
            case .none: break
            }
            state = .opening(
                Task { [weak self, adapter] in
                    let connection: HTTPClientConnection?
                    // Without an adapter there is nobody to tell yet: `take` asks again once there is something to send.
                    do throws(AdapterUnreachable) { connection = try await adapter.connect() } catch {
                        connection = nil
                    }
                    self?.ended(connection)
                    return connection
                })
        }
    }

    /// Lets go what is too old or closed.
    private func forget(_ state: inout State) {
        guard case .open(let connection, let since) = state else { return }
        if !connection.isOpen || since.duration(to: .now) >= life { state = .none }
    }

    private func ended(_ connection: HTTPClientConnection?) {
        state.withLock { state in
            guard case .opening = state else { return }
            state = connection.map { .open($0, since: .now) } ?? .none
        }
    }

    /// The connection, or a new one where there is none that can be used.
    func take() async throws(AdapterUnreachable) -> HTTPClientConnection {
        let state = state.withLock { state in
            forget(&state)
            return state
        }
        switch state {
        case .open(let connection, _): return connection
        case .opening(let task):
            // Its time counts: an adapter that accepts nothing is not waited for twice.
            guard let connection = await task.value else { throw AdapterUnreachable() }
            return connection
        case .none: return try await adapter.connect()
        }
    }
}
