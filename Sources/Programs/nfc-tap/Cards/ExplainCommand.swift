// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Explain
import ReaderCore

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explains why a recorded tap went as it did.",
        discussion: """
            Explains why the application and kernel were chosen, which limits applied, what was read, how the card was \
            authenticated, which verification rule applied, which cryptogram was requested and given, and how the tap \
            ended. With --html, also writes a page with a chart of the tap's phases. If the recording has times, the \
            chart shows how long card and terminal took for each command.
            """)

    @Argument(help: ArgumentHelp("A transcript (.tap); - reads standard input.", valueName: "file"))
    var file: String

    @OptionGroup var terminal: TerminalChoice

    @Flag(help: "Print JSON.")
    var json = false

    @Option(help: ArgumentHelp("Write a page with a chart to this new file.", valueName: "page"))
    var html: String?

    func validate() throws {
        guard html == nil || !json else { throw ValidationError("Give --html or --json, not both.") }
    }

    func run() throws {
        let transcript = try InputFile.transcript(file)
        let run = try ReplayRun(file: file, transcript, terminal: terminal)
        let explanation = Explanation(run.trace)
        if let html {
            try OutputFile.create(html, page(transcript, run, explanation))
        } else if json {
            try StandardOutput.print(json: explanation)
        } else {
            for line in explanation.lines { StandardOutput.print(line) }
        }
        guard let mismatch = run.mismatch else { return }
        throw Failure(
            "step \(mismatch.step + 1) differs from the recording, so the card's answers end there",
            hint: "give the terminal file of the recording with --terminal", exitCode: .failure)
    }

    private func page(_ transcript: Transcript, _ run: ReplayRun, _ explanation: Explanation) throws(Failure) -> String
    {
        do throws(TranscriptHeaderError) {
            return try TapChart(transcript, run).page(explanation)
        } catch {
            throw ReplayRun.failure(file, error)
        }
    }
}
