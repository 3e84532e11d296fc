// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The command line tool as a process: start, work, end.
enum ProgramBenchmark {
    static func run() throws {
        Table.section("Processes, start to end")
        guard let program = Programs.path(of: "nfc-tap") else {
            Table.row("nfc-tap", missing: "it is not built beside this program")
            return
        }
        let record = "7023" + "5A0847617390010100105F24033112315F3401009F080200019F420209789F0702FF00"
        let nothing = try nothing()
        Table.yardstick("/bin/true", nothing)
        Table.row("nfc-tap --version", try times(program, ["--version"]), beside: nothing)
        Table.row("nfc-tap decode, one record", try times(program, ["decode", record]), beside: nothing)
    }

    /// A process that does nothing.
    static func nothing() throws -> Reading { try times("/bin/true", []) }

    private static func times(_ program: String, _ arguments: [String]) throws -> Reading {
        var times: [Double] = []
        for _ in 0..<100 {
            let start = Stopwatch.wallTime()
            try spawn(program, arguments)
            times.append(Double(Stopwatch.wallTime() - start))
        }
        return Reading(times)
    }

    private static func spawn(_ program: String, _ arguments: [String]) throws {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        var words = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe words.indices { unsafe free(words[index]) } }
        var child = pid_t()
        var status: Int32 = 0
        guard unsafe posix_spawn(&child, program, &actions, nil, &words, environ) == 0,
            unsafe waitpid(child, &status, 0) == child, status == 0
        else { throw BenchmarkError.failed("\(program) ended with status \(status)") }
    }
}
