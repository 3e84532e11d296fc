// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A client's connection, for as long as anybody holds on to it. It tells when the client has gone.
///
/// A client that shuts down only its sending side (`nc -N`, half-closed) is still there and gets its answers.
public final class HTTPConnection: Sendable {
    /// Unique in this process.
    public let id: UInt64
    public let peer: PeerCredentials
    let closing = Termination()
    /// The server is being stopped.
    let stopping = Termination()
    private let holds = Atomic<Int>(0)
    private let owner = Mutex<String?>(nil)
    private let stranger = Mutex<(@Sendable () -> Void)?>(nil)
    private static let lastID = Atomic<UInt64>(0)

    public init(peer: PeerCredentials) {
        id = Self.lastID.wrappingAdd(1, ordering: .relaxed).newValue
        self.peer = peer
    }

    public var isClosed: Bool { closing.hasHappened }

    /// Suspends until the connection is closed, or the task cancelled.
    public func closed() async { await closing.wait() }

    /// Calls `body` once when the connection closes, at once if it has. `body` runs on a socket thread: it must not block.
    @discardableResult
    public func onClose(_ body: @escaping @Sendable () -> Void) -> CloseObservation {
        CloseObservation(termination: closing, id: closing.observe(body))
    }

    /// Whether the connection is `name`'s: it belongs to the first one that asks, until it closes.
    public func belongs(to name: String) -> Bool {
        owner.withLock { owner in
            if owner == nil { owner = name }
            return owner == name
        }
    }

    /// Says that whoever asks here is known: the connection no longer gives way to strangers, and may stay as long as any. Without
    /// effect where `HTTPLimits.strangers` is `nil`.
    public func vouch() {
        let vouched = stranger.withLock { stranger in
            defer { stranger = nil }
            return stranger
        }
        vouched?()
    }

    /// Nobody has vouched for it.
    var isStranger: Bool { stranger.withLock { $0 != nil } }

    /// Counts the connection as a stranger's from now on.
    ///
    /// - Parameter vouched: called once, when somebody vouches for it.
    func beginStrange(_ vouched: @escaping @Sendable () -> Void) { stranger.withLock { $0 = vouched } }

    /// Keeps the idle limit from closing the connection, until `release` has been called as often as `hold`: for a
    /// client that waits for something it has started here.
    public func hold() { holds.wrappingAdd(1, ordering: .relaxed) }

    public func release() { holds.wrappingSubtract(1, ordering: .relaxed) }

    var isHeld: Bool { holds.load(ordering: .relaxed) > 0 }

    /// Stands for one `onClose` closure.
    public struct CloseObservation: Sendable {
        let termination: Termination
        let id: UInt64

        /// Forgets the closure; no effect once it has been called.
        public func cancel() { termination.forget(id) }
    }
}
