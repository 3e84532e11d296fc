// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// Another program, started by this one without a shell.
package struct StartedProgram: Sendable {
    package let identifier: Int32

    init(identifier: Int32) { self.identifier = identifier }

    /// - Parameters:
    ///   - program: a path, or a name that is looked for in PATH.
    ///   - environment: `name=value`; `nil` hands on that of this process.
    ///   - input: what its standard input comes from; `nil` for an empty one.
    ///   - output: what its standard output goes to; `nil` drops it, and standard error with it.
    package init(
        _ program: String, _ arguments: [String], environment: [String]? = nil, input: Int32? = nil, output: Int32?
    ) throws(SystemError) {
        var actions = unsafe posix_spawn_file_actions_t()
        _ = unsafe posix_spawn_file_actions_init(&actions)
        defer { _ = unsafe posix_spawn_file_actions_destroy(&actions) }
        if let input {
            _ = unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        } else {
            _ = unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        }
        if let output {
            _ = unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        } else {
            _ = unsafe posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
            _ = unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        }
        // Threads of the pool block signals, and a child that inherits that could not be told to end.
        var attributes = posix_spawnattr_t()
        _ = unsafe posix_spawnattr_init(&attributes)
        defer { _ = unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        _ = unsafe sigemptyset(&none)
        _ = unsafe posix_spawnattr_setsigmask(&attributes, &none)
        _ = unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var child: pid_t = 0
        let result = unsafe withCStrings([program] + arguments) { words in
            guard let environment else {
                return unsafe posix_spawnp(&child, program, &actions, &attributes, words, environ)
            }
            return unsafe withCStrings(environment) {
                unsafe posix_spawnp(&child, program, &actions, &attributes, words, $0)
            }
        }
        guard result == 0 else { throw SystemError(code: result) }
        identifier = child
    }

    /// Asks it to end.
    package func terminate() { _ = kill(identifier, SIGTERM) }

    /// Waits until it has ended. Once only: the number may be another program's after that.
    ///
    /// - Returns: whether it said that it had done its work (status 0).
    @discardableResult
    package func waitUntilEnded() -> Bool {
        var status: Int32 = 0
        while unsafe waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        return status == 0
    }

    /// Runs a program to its end. Its complaints go to our standard error.
    ///
    /// - Parameters:
    ///   - input: what it reads; at most what a pipe holds, so that nobody waits for it.
    ///   - limit: bytes of its output that are kept. The rest is read too, so that it can end, and dropped.
    /// - Throws: `EFBIG` for a longer input.
    package static func run(
        _ program: String, _ arguments: [String], environment: [String], input: [UInt8] = [], keeping limit: Int
    ) throws(SystemError) -> (isSuccess: Bool, output: [UInt8]) {
        guard input.count <= 65_536 else { throw SystemError(code: EFBIG) }
        let inner = try pipe()
        let given = Descriptor(owning: inner[0])
        let giving = Descriptor(owning: inner[1])
        let outer = try pipe()
        let reading = Descriptor(owning: outer[0])
        let writing = Descriptor(owning: outer[1])
        try Descriptor.write(input.span, to: giving.number)
        _ = consume giving
        let child = try StartedProgram(
            program, arguments, environment: environment, input: given.number, output: writing.number)
        // The end comes when nobody can write any more.
        _ = consume writing
        _ = consume given
        var output: [UInt8] = []
        while let piece = try? reading.read(atMost: 16 * 1_024), !piece.isEmpty {
            output += piece.prefix(max(0, limit - output.count))
        }
        return (child.waitUntilEnded(), output)
    }

    /// Reading and writing end, which no child gets by itself.
    private static func pipe() throws(SystemError) -> [Int32] {
        var ends: [Int32] = [-1, -1]
        guard unsafe Glibc.pipe(&ends) == 0 else { throw .last }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return ends
    }

    /// Goes on as `program` in place of this one.
    ///
    /// - Throws: what keeps it from being started; there is no other way back.
    package static func replaceThisOne(by program: String, _ arguments: [String]) throws(SystemError) -> Never {
        _ = unsafe withCStrings([program] + arguments) { unsafe execv(program, $0) }
        throw .last
    }
}

/// The strings as a C array with a final NULL, for the length of the call.
func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    var pointers = unsafe strings.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    return unsafe body(&pointers)
}
