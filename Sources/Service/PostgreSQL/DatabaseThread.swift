// SPDX-License-Identifier: Apache-2.0
import Linux
import Synchronization

/// A piece of work, handed a thread that lends it a connection.
typealias Work = @Sendable (DatabaseThread) -> Void

/// Work in the order in which it came, and the threads that have none.
final class WorkLine: Sendable {
    private struct State {
        var work: [Work] = []
        var idle: [WakeSignal] = []
        var isStopped = false
    }

    private let state = Mutex(State())
    private let most: Int

    init(most: Int) { self.most = most }

    /// - Returns: whether it will be done.
    func add(_ work: @escaping Work) -> Bool {
        let (isTaken, idle) = state.withLock { state -> (Bool, WakeSignal?) in
            guard !state.isStopped, state.work.count < most else { return (false, nil) }
            state.work.append(work)
            return (true, state.idle.popLast())
        }
        idle?.signal()
        return isTaken
    }

    var isEmpty: Bool { state.withLock { $0.work.isEmpty } }

    /// The next piece; waits for it. `nil` once there will be none.
    func next(_ wake: WakeSignal) -> Work? {
        while true {
            let (work, isStopped) = state.withLock { state -> (Work?, Bool) in
                if !state.work.isEmpty { return (state.work.removeFirst(), false) }
                if !state.isStopped { state.idle.append(wake) }
                return (nil, state.isStopped)
            }
            if let work { return work }
            if isStopped { return nil }
            _ = wake.wait()
        }
    }

    /// What waits is still done.
    func stop() {
        let idle = state.withLock { state in
            state.isStopped = true
            defer { state.idle = [] }
            return state.idle
        }
        for wake in idle { wake.signal() }
    }
}

/// One thread and its connection.
final class DatabaseThread {
    private let address: String
    private let queue: WorkLine
    private let wake: WakeSignal
    private var connection: Connection?

    init(_ address: String, _ queue: WorkLine, _ wake: WakeSignal) {
        self.address = address
        self.queue = queue
        self.wake = wake
    }

    /// The thread's whole life.
    func run() {
        while let work = queue.next(wake) { work(self) }
        connection?.end()
    }

    /// Does the work; again where others were in the way. A connection that was lost is made anew for the next piece.
    func attempt<Result>(
        times: UInt64 = 6, _ body: (Connection) throws(DatabaseError) -> Result
    ) throws(DatabaseError) -> Result {
        var attempt: UInt64 = 0
        while true {
            let connection = try ready()
            do throws(DatabaseError) {
                return try body(connection)
            } catch {
                attempt += 1
                switch error {
                // It has waited for a lock, or worked, for as long as it may: again it would keep others from this connection for seconds.
                case .again(state: "55P03"), .again(state: "57014"): throw error
                // At random, or two that are in each other's way stay so.
                case .again where attempt < times: sleep(milliseconds: .random(in: 1...(4 << attempt)))
                case .duplicate, .again, .refused, .busy: throw error
                case .unknown, .unreachable:
                    connection.end()
                    self.connection = nil
                    throw error
                }
            }
        }
    }

    private func ready() throws(DatabaseError) -> Connection {
        if let connection {
            if connection.isAlive { return connection }
            connection.end()
            self.connection = nil
        }
        let made = try Connection(address)
        connection = made
        return made
    }
}
