// SPDX-License-Identifier: Apache-2.0
public import NIOCore
import NIOPosix
import Synchronization

enum EventLoops {
    /// One thread for all local sockets of the process: each request is some microseconds of its time. Never shut down, so
    /// that a server and its clients may come and go.
    ///
    /// Not two: with Swift 6.3.1 two loops that met a generic type of NIO for the first time in the same moment crashed
    /// in the runtime's metadata cache (a null pointer under `swift_checkMetadataState`): once in 50 to 700 starts, with
    /// and without our `free` that wipes.
    static let shared = MultiThreadedEventLoopGroup(numberOfThreads: 1)
}

/// Runs tasks on the thread of all local sockets, so that a request goes from its socket to its handler and back without a change of
/// thread: each costs the system more than most of what is done on it. Nothing that runs here may block.
public final class SocketThread: TaskExecutor {
    private struct State {
        var jobs = CircularBuffer<UnownedJob>()
        var isDue = false
    }

    public static let shared = SocketThread()

    /// For sockets whose bytes such tasks read and write.
    public let loop: any EventLoop = EventLoops.shared.next()
    private let state = Mutex(State())
    /// After so many the sockets are looked at: an event loop does all that it has been given first.
    private static let mostAtOnce = 32
    /// Less, and the loop would take it for something that it has been given.
    private static let pause = TimeAmount.microseconds(50)

    private init() {}

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isFirst = state.withLock { state in
            state.jobs.append(job)
            defer { state.isDue = true }
            return !state.isDue
        }
        if isFirst { loop.execute { self.run() } }
    }

    private func run() {
        for _ in 0..<Self.mostAtOnce {
            let job = state.withLock { state in
                let job = state.jobs.popFirst()
                if job == nil { state.isDue = false }
                return job
            }
            guard let job else { return }
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
        loop.scheduleTask(in: Self.pause) { self.run() }
    }
}
