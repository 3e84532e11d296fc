// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Glibc
import Linux
import ReaderCore

/// A running worker and this side of its socket. Ends the process when it goes.
struct WorkerProcess: ~Copyable {
    let socket: Int32
    let identifier: pid_t
    private var isReaped = false

    /// - Throws: `.serviceUnavailable(.workerMissing)` where the program cannot be started, `.faulty` with errno where
    ///   the system is out of descriptors or processes.
    init(program: String) throws(ReaderError) {
        var pair: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &pair) == 0 else { throw .faulty(code: Int64(errno)) }
        // Above the numbers that the child gets, so that no dup2 there overwrites it.
        let childEnd = fcntl(pair[1], F_DUPFD_CLOEXEC, WorkerProgram.socket + 1)
        _ = close(pair[1])
        defer { _ = close(childEnd) }
        guard childEnd >= 0 else {
            _ = close(pair[0])
            throw .faulty(code: Int64(errno))
        }
        // libnfc is quiet and never scans; a crash prints no memory.
        let environment = ["LIBNFC_LOG_LEVEL=0", "LIBNFC_AUTO_SCAN=false", "SWIFT_BACKTRACE=enable=no"]
        do throws(SystemError) {
            identifier = try StartedProgram(
                alone: program, environment: environment, socket: childEnd, as: WorkerProgram.socket
            ).identifier
        } catch {
            _ = close(pair[0])
            switch error.code {
            case EAGAIN, ENOMEM, EMFILE, ENFILE: throw .faulty(code: Int64(error.code))
            default: throw .serviceUnavailable(.workerMissing)
            }
        }
        socket = pair[0]
    }

    /// Kills the process and waits a moment for the kernel to give it up; never longer than half a second.
    mutating func end() -> WorkerEnd {
        guard !isReaped else { return .stillEnding }
        _ = kill(identifier, SIGKILL)
        return reap(until: monotonicNow().advanced(byMilliseconds: 500))
    }

    /// Waits until the process has ended by itself.
    mutating func reap(until deadline: TapInstant) -> WorkerEnd {
        while true {
            var status: Int32 = 0
            let result = unsafe waitpid(identifier, &status, WNOHANG)
            if result == identifier {
                isReaped = true
                let signal = status & 0x7F
                return signal == 0 ? .exited(status >> 8 & 0xFF) : .signalled(signal)
            }
            guard result == 0 || errno == EINTR, monotonicNow() < deadline else { return .stillEnding }
            _ = poll(nil, 0, 2)
        }
    }

    deinit {
        _ = close(socket)
        guard !isReaped else { return }
        _ = kill(identifier, SIGKILL)
        _ = waitpid(identifier, nil, WNOHANG)
    }
}
