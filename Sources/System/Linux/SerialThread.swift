// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// A serial executor on one private thread, for an actor that owns what blocks: calls stay off the
/// cooperative pool, and every one comes from the same thread. Lanes and the journal run on one each.
///
/// ```swift
/// actor Lane {
///     let thread: SerialThread
///     nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
/// }
/// ```
public final class SerialThread: SerialExecutor {
    private let queue: JobQueue

    /// Starts the thread.
    ///
    /// - Parameter name: shown by tools such as top, at most 15 bytes.
    /// - Throws: where the system has no thread or file descriptor left.
    public init(name: String) throws(SystemError) {
        let queue = try JobQueue()
        self.queue = queue
        try PrivateThread.start(named: name) { queue.run() }
    }

    deinit { queue.stop() }

    public func enqueue(_ job: consuming ExecutorJob) {
        unsafe queue.add(.job(UnownedJob(job), asUnownedSerialExecutor()))
    }

    /// Runs `work` on the thread behind what waits for it, without a task.
    public func perform(_ work: @escaping @Sendable () -> Void) { queue.add(.work(work)) }

    /// Whether the calling thread is this one.
    public func isIsolatingCurrentContext() -> Bool? { queue.isCurrent }

    /// Ends the thread once every job queued so far has run; waits for it, except on the thread itself. A job that
    /// comes later runs on the thread that queues it, still one at a time, so that no task waits for ever.
    public func stop() {
        queue.stop()
        if !queue.isCurrent { queue.waitUntilStopped() }
    }
}

/// Jobs in the order in which they came. The thread holds this, not the executor, so that the executor can go.
private final class JobQueue: Sendable {
    @safe enum Entry {
        case job(UnownedJob, UnownedSerialExecutor)
        case work(@Sendable () -> Void)

        func run() {
            switch self {
            case .job(let job, let executor): unsafe job.runSynchronously(on: executor)
            case .work(let work): work()
            }
        }
    }

    private struct State {
        var entries: [Entry] = []
        /// Who runs jobs now: the private thread until it stops, then whoever adds one.
        var runner: pthread_t?
        /// The private thread waits, and nobody has woken it.
        var isIdle = false
        var isStopping = false
        var threadHasEnded = false
    }

    private let state = Mutex(State())
    private let wake: WakeSignal
    private let ended: WakeSignal

    init() throws(SystemError) {
        wake = try WakeSignal()
        ended = try WakeSignal()
    }

    var isCurrent: Bool {
        guard let runner = state.withLock({ $0.runner }) else { return false }
        return pthread_equal(runner, pthread_self()) != 0
    }

    func add(_ entry: sending Entry) {
        let (runsHere, wakes) = state.withLock { state -> (Bool, Bool) in
            state.entries.append(entry)
            guard state.threadHasEnded, state.runner == nil else {
                defer { state.isIdle = false }
                return (false, state.isIdle)
            }
            state.runner = pthread_self()
            return (true, false)
        }
        if runsHere { runUntilEmpty() } else if wakes { wake.signal() }
    }

    func stop() {
        state.withLock { $0.isStopping = true }
        wake.signal()
    }

    func waitUntilStopped() { _ = ended.isSignalled() }

    /// The private thread's whole life.
    func run() {
        state.withLock { $0.runner = pthread_self() }
        while true {
            runEntries()
            let (hasEnded, hasMore) = state.withLock { state -> (Bool, Bool) in
                guard state.entries.isEmpty else { return (false, true) }
                state.isIdle = !state.isStopping
                guard state.isStopping else { return (false, false) }
                state.runner = nil
                state.threadHasEnded = true
                return (true, false)
            }
            if hasEnded { return ended.signal() }
            if !hasMore { _ = wake.wait() }
        }
    }

    private func runUntilEmpty() {
        while true {
            runEntries()
            let isDone = state.withLock { state in
                if state.entries.isEmpty { state.runner = nil }
                return state.entries.isEmpty
            }
            if isDone { return }
        }
    }

    private func runEntries() {
        let entries = state.withLock { state in
            let entries = state.entries
            state.entries = []
            return entries
        }
        for entry in entries { entry.run() }
    }
}
