import Glibc

/// A program run to its end: system tools that apply a fix or know something for the support bundle.
public struct ProgramRun {
    public let succeeded: Bool
    /// The first MiB of standard output.
    public let output: String

    /// Runs `words[0]`, found by PATH, with the rest as arguments, without a shell and without input. Its complaints go to
    /// our standard error.
    public init(_ words: [String]) {
        var ends: [Int32] = [-1, -1]
        guard !words.isEmpty, unsafe pipe(&ends) == 0 else {
            (succeeded, output) = (false, "")
            return
        }
        let child = ProgramRun.start(words, output: ends[1])
        _ = close(ends[1])
        defer { _ = close(ends[0]) }
        guard let child else {
            (succeeded, output) = (false, "")
            return
        }
        output = ProgramRun.readAll(ends[0])
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) < 0, errno == EINTR {}
        succeeded = status == 0
    }

    private static func start(_ words: [String], output: Int32) -> pid_t? {
        var actions = unsafe posix_spawn_file_actions_t()
        _ = unsafe posix_spawn_file_actions_init(&actions)
        defer { _ = unsafe posix_spawn_file_actions_destroy(&actions) }
        _ = unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        _ = unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        let environment = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "SYSTEMD_PAGER="]
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        var variables = unsafe environment.map { unsafe strdup($0) } + [nil]
        defer {
            for index in unsafe arguments.indices { unsafe free(arguments[index]) }
            for index in unsafe variables.indices { unsafe free(variables[index]) }
        }
        var child: pid_t = 0
        guard unsafe posix_spawnp(&child, words[0], &actions, nil, &arguments, &variables) == 0 else { return nil }
        return child
    }

    private static func readAll(_ descriptor: Int32) -> String {
        var all: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16 * 1_024)
        while true {
            let count = unsafe read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            // The rest is read too, so that the program can end, and dropped.
            if all.count < 1_024 * 1_024 { all += piece.prefix(count) }
        }
        return String(decoding: all, as: UTF8.self)
    }
}
