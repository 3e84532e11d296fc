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
            ended.
            """)

    @Argument(help: ArgumentHelp("A transcript (.tap); - reads standard input.", valueName: "file"))
    var file: String

    @OptionGroup var terminal: TerminalChoice

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let run = try ReplayRun(file: file, terminal: terminal)
        let explanation = Explanation(run.trace)
        if json {
            try StandardOutput.print(json: explanation)
        } else {
            for line in explanation.lines { StandardOutput.print(line) }
        }
        guard let mismatch = run.mismatch else { return }
        throw Failure(
            "step \(mismatch.step + 1) differs from the recording, so the card's answers end there",
            hint: "give the terminal file of the recording with --terminal", exitCode: .failure)
    }
}
