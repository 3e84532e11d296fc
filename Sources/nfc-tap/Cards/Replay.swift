import ArgumentParser
import EMV
import Explain
import TapSession

struct Replay: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Plays a recorded tap again, command by command.",
        discussion: """
            Entry Point and kernels run with the transaction, time and random numbers of the file's header, so that the same \
            file and terminal always give the same run. Exit code 1 where a command differs from the recorded one, or the \
            outcome from what the header expects.
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
            hint: "use the terminal file of the recording (--terminal)", exitCode: .failure)
    }
}

/// With which terminal a recorded tap is played.
struct TerminalChoice: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Terminal configuration and CA keys, as docs/examples/terminal-test.json; the test terminal where absent.",
            valueName: "file"))
    var terminal: String?

    func open(for purpose: TerminalFile.Purpose) throws -> TerminalFile {
        try InputFile.terminal(terminal, for: purpose)
    }
}

extension ReplayRun {
    init(file: String, terminal: TerminalChoice) throws {
        let transcript = try InputFile.transcript(file)
        let terminal = try terminal.open(for: .replay)
        do throws(TranscriptHeaderError) {
            try self.init(
                transcript, configuration: terminal.configuration, authentication: terminal.authentication)
        } catch {
            throw Failure(
                "\(file), \(error)", hint: "see docs/transcripts.md for the header", exitCode: .malformedInput)
        }
    }
}
