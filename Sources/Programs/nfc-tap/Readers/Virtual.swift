// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CardBytes
import ReaderCore
import ReaderVirtual

struct Virtual: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Controls the daemon's virtual reader.",
        discussion: """
            Commands: present visa, remove, swap mastercard, delay 50, fault card-gone after 2, detach, attach, hang, \
            resume, state. nfc-tap simulate --list lists the cards.
            """)

    @Option(
        help: ArgumentHelp(
            "Control socket of the virtual reader: reader.sock in the runtime folder.", valueName: "path")
    )
    var control: String

    @Argument(help: ArgumentHelp("The command, word by word.", valueName: "command"))
    var words: [String]

    @Flag(help: "Print JSON.")
    var json = false

    /// With --json.
    private struct Answer: Encodable {
        let answer: String
    }

    func run() throws {
        let answer: String
        do throws(VirtualSocketError) {
            answer = try VirtualReaderSocket.send(
                words.joined(separator: " "), to: control, until: monotonicNow().advanced(byMilliseconds: 5_000))
        } catch {
            throw Failure(error.description, hint: "start nfc-tapd with a virtual reader", exitCode: .unavailable)
        }
        if answer.hasPrefix("error ") {
            throw Failure(
                String(answer.dropFirst(6)), hint: "run nfc-tap virtual --help to list the commands",
                exitCode: .malformedInput)
        }
        if json { return try StandardOutput.print(json: Answer(answer: answer)) }
        StandardOutput.print(answer)
    }
}
