// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import Linux
import Logging
import Synchronization

/// Takes connections off a listening socket, on a thread of its own: whoever is not let in costs three system calls and nobody else's
/// time.
///
/// The kernel has one queue for all users. One who connects in a loop fills it where it is emptied slowly, and the others' connect(2)
/// fails with EAGAIN.
final class AcceptThread: Sendable {
    /// What the system says to accept4(2); a test says it instead.
    typealias Accept = @Sendable (Int32) -> Result<Int32, SystemError>

    /// Nanoseconds.
    private static let firstPause: UInt64 = 50_000_000
    private static let longestPause: UInt64 = 1_000_000_000
    private static let quietTime: UInt64 = 60_000_000_000

    private let listener: Int32
    private let wake: WakeSignal
    private let isClosed = Atomic(false)
    private let ended = Termination()
    private let accept: Accept
    /// A connection with this number or a higher one would leave too few.
    private let ceiling: Int32
    private let logger: Logger

    /// - Parameters:
    ///   - listener: is closed with the door.
    ///   - most: file descriptors that this process may have; by default what the system says.
    /// - Throws: where there is no descriptor left for the thread that waits.
    init(
        _ listener: Int32, logger: Logger, most: Int32 = AcceptThread.mostDescriptors,
        accept: @escaping Accept = AcceptThread.accept
    ) throws(SystemError) {
        do throws(SystemError) { wake = try WakeSignal() } catch {
            _ = close(listener)
            throw error
        }
        let flags = fcntl(listener, F_GETFL)
        if flags >= 0 { _ = fcntl(listener, F_SETFL, flags | O_NONBLOCK) }
        self.listener = listener
        self.logger = logger
        self.accept = accept
        ceiling = Int32(clamping: DescriptorLimit.ceiling(of: Int(most)))
    }

    /// Starts to take connections.
    ///
    /// - Parameters:
    ///   - admit: owns the descriptor that it is given, and closes it where it lets nobody in.
    ///   - failed: the socket is of no use any more; not called by `shut`.
    /// - Throws: where the system has no thread left.
    func open(
        admitting admit: @escaping @Sendable (Int32) -> Void, failed: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        do throws(SystemError) {
            try PrivateThread.start(named: "accept") {
                let isBroken = self.serve(admit)
                _ = close(self.listener)
                self.ended.happen()
                if isBroken { failed() }
            }
        } catch {
            _ = close(listener)
            ended.happen()
            throw error
        }
    }

    /// Lets nobody in any more. Does not wait.
    func shut() {
        isClosed.store(true, ordering: .releasing)
        wake.signal()
    }

    /// Calls `body` once the socket is closed.
    func whenClosed(_ body: @escaping @Sendable () -> Void) { _ = ended.observe(body) }

    /// - Returns: whether the socket is broken.
    private func serve(_ admit: (Int32) -> Void) -> Bool {
        var pause = Self.firstPause
        var complaint = Complaint()
        while !isClosed.load(ordering: .acquiring) {
            switch accept(listener) {
            case .success(let descriptor) where descriptor < ceiling:
                pause = Self.firstPause
                admit(descriptor)
                continue
            case .success(let descriptor):
                _ = close(descriptor)
                complaint.rise(logger, "too few file descriptors are left for another one")
            case .failure(let error):
                switch error.code {
                case EAGAIN:
                    waitForSomebody()
                    continue
                case EINTR, ECONNABORTED, EPROTO, EPERM: continue
                case EBADF, EINVAL, ENOTSOCK, EOPNOTSUPP, EFAULT:
                    logger.error("listening socket failed", metadata: ["error": "\(error)"])
                    return true
                default: complaint.rise(logger, "\(error)")
                }
            }
            // Whoever waits in the kernel's queue is let in as soon as somebody has left.
            _ = wake.isSignalled(byNanoseconds: MachineClock.awake + pause)
            pause = min(pause * 2, Self.longestPause)
        }
        return false
    }

    private func waitForSomebody() {
        var watched = [
            pollfd(fd: listener, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        _ = Poll.wait(&watched, untilNanoseconds: nil)
    }

    /// One line in a minute, with the number of those that it stands for.
    private struct Complaint {
        private var count = 0
        private var quietUntil: UInt64 = 0

        mutating func rise(_ logger: Logger, _ reason: String) {
            count += 1
            let now = MachineClock.awake
            guard now >= quietUntil else { return }
            logger.warning(
                "connections not accepted: raise LimitNOFILE= of the unit, or lower the number of connections",
                metadata: ["error": "\(reason)", "times": "\(count)"])
            (count, quietUntil) = (0, now + AcceptThread.quietTime)
        }
    }

    /// The soft limit of this process.
    static var mostDescriptors: Int32 { Int32(clamping: DescriptorLimit.current ?? 1_024) }

    /// accept4(2), for a descriptor that does not block and no other program inherits.
    @Sendable static func accept(_ listener: Int32) -> Result<Int32, SystemError> {
        let number = clinux_accept(listener)
        return number >= 0 ? .success(number) : .failure(SystemError(code: 0 &- number))
    }
}
