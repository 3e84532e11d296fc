// SPDX-License-Identifier: Apache-2.0
import CLinux
import CardBytes
import Glibc
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
        var started: pid_t = 0
        let code = spawn(program, socket: childEnd, &started)
        guard code == 0 else {
            _ = close(pair[0])
            switch code {
            case EAGAIN, ENOMEM, EMFILE, ENFILE: throw .faulty(code: Int64(code))
            default: throw .serviceUnavailable(.workerMissing)
            }
        }
        socket = pair[0]
        identifier = started
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

/// posix_spawn with nothing of this process but `socket` (as descriptor 3) and stderr; a group of its own, so that the
/// terminal's interrupt reaches the owner first; no signal blocked or ignored.
private func spawn(_ program: String, socket: Int32, _ started: inout pid_t) -> Int32 {
    var actions = unsafe posix_spawn_file_actions_t()
    _ = unsafe posix_spawn_file_actions_init(&actions)
    defer { _ = unsafe posix_spawn_file_actions_destroy(&actions) }
    _ = unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    _ = unsafe posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    _ = unsafe posix_spawn_file_actions_adddup2(&actions, socket, WorkerProgram.socket)
    _ = unsafe clinux_close_from(&actions, WorkerProgram.socket + 1)

    var attributes = posix_spawnattr_t()
    _ = unsafe posix_spawnattr_init(&attributes)
    defer { _ = unsafe posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    var all = sigset_t()
    _ = unsafe sigemptyset(&none)
    _ = unsafe sigfillset(&all)
    _ = unsafe posix_spawnattr_setsigmask(&attributes, &none)
    _ = unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    _ = unsafe posix_spawnattr_setpgroup(&attributes, 0)
    let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
    _ = unsafe posix_spawnattr_setflags(&attributes, Int16(flags))

    // libnfc is quiet and never scans; a crash prints no memory.
    let environment = ["LIBNFC_LOG_LEVEL=0", "LIBNFC_AUTO_SCAN=false", "SWIFT_BACKTRACE=enable=no"]
    return unsafe withCStrings([program]) { arguments in
        unsafe withCStrings(environment) { variables in
            unsafe posix_spawn(&started, program, &actions, &attributes, arguments, variables)
        }
    }
}

/// The strings as a C array with a final NULL, for the length of the call.
private func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    var pointers = unsafe strings.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    return unsafe body(&pointers)
}
