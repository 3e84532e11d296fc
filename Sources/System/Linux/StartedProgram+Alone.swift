// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

extension StartedProgram {
    /// Starts a program with nothing of this process but a socket and standard error: in a group of its own, so that the
    /// terminal's interrupt reaches the owner first, with no signal blocked or ignored.
    ///
    /// - Parameters:
    ///   - program: its path.
    ///   - environment: `name=value`, and nothing besides.
    ///   - number: the descriptor on which it finds the socket, the last one that it has.
    package init(
        alone program: String, environment: [String], socket: Int32, as number: Int32
    ) throws(SystemError) {
        var actions = unsafe posix_spawn_file_actions_t()
        _ = unsafe posix_spawn_file_actions_init(&actions)
        defer { _ = unsafe posix_spawn_file_actions_destroy(&actions) }
        _ = unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        _ = unsafe posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        _ = unsafe posix_spawn_file_actions_adddup2(&actions, socket, number)
        _ = unsafe clinux_close_from(&actions, number + 1)

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

        var child: pid_t = 0
        let result = unsafe withCStrings([program]) { words in
            unsafe withCStrings(environment) {
                unsafe posix_spawn(&child, program, &actions, &attributes, words, $0)
            }
        }
        guard result == 0 else { throw SystemError(code: result) }
        self.init(identifier: child)
    }
}
