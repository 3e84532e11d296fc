// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import EMV
import Explain
import ReaderCore
import TerminalFile

struct Replay: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Replays a recorded tap, command by command.",
        discussion: """
            Runs Entry Point and kernels with the transaction, time and random numbers of the file's header: the same file \
            and terminal always give the same run. Ends with exit code 1 if a command differs from the recorded one, or \
            the outcome from the expected one.
            """)

    @Argument(help: ArgumentHelp("A transcript (.tap); - reads standard input.", valueName: "file"))
    var file: String

    @OptionGroup var terminal: TerminalChoice

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let run = try ReplayRun(file: file, terminal: terminal)
        let report = ReplayReport(run)
        if json {
            try StandardOutput.print(json: report)
        } else {
            for line in report.lines { StandardOutput.print(line) }
        }
        guard !run.isAsRecorded else { return }
        throw Failure(
            run.mismatch.map { _ in "the replay differs from the recording" } ?? "the outcome is not the expected one",
            hint: "give the terminal file of the recording with --terminal", exitCode: .failure)
    }
}

/// With which terminal a recorded tap is played.
struct TerminalChoice: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Terminal configuration and CA keys, like docs/examples/terminal-test.json; default: the test terminal.",
            valueName: "file"))
    var terminal: String?

    func open(for purpose: TerminalFile.Purpose) throws -> TerminalFile {
        try InputFile.terminal(terminal, for: purpose)
    }
}

extension ReplayRun {
    init(file: String, terminal: TerminalChoice) throws {
        try self.init(file: file, InputFile.transcript(file), terminal: terminal)
    }

    init(file: String, _ transcript: Transcript, terminal: TerminalChoice) throws {
        let terminal = try terminal.open(for: .replay)
        do throws(TranscriptHeaderError) {
            try self.init(
                transcript, configuration: terminal.configuration, authentication: terminal.authentication)
        } catch {
            throw ReplayRun.failure(file, error)
        }
    }

    static func failure(_ file: String, _ error: TranscriptHeaderError) -> Failure {
        Failure(
            "\(file), \(error)", hint: "see docs/internals/transcripts.md for the header", exitCode: .malformedInput)
    }
}
