// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import POSAPI
import PaymentValues
import TapClient

struct CardCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "card-command",
        abstract: "Sends commands to a card through the daemon, and prints the answers.",
        discussion: """
            For administrators, in test mode, where the daemon's configuration says card-commands = true under [diagnostics]. \
            The audit chain keeps the first four bytes of each command and never an answer. A command can \
            change a card, or block it for good.
            """)

    @Argument(help: ArgumentHelp("Command APDU in hexadecimal; several are sent in order.", valueName: "command"))
    var commands: [String]

    @Option(help: ArgumentHelp("Name of the lane; required if the daemon has several.", valueName: "name"))
    var lane: String?

    @Option(help: ArgumentHelp("Seconds to wait for a card.", valueName: "seconds"))
    var deadline = Limits.defaultCardCommandDeadlineSeconds

    @OptionGroup var daemon: DaemonChoice

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard Limits.cardCommandDeadlineSeconds.contains(deadline) else {
            throw ValidationError("Give 1 to \(Limits.cardCommandDeadlineSeconds.upperBound) seconds.")
        }
        guard Limits.cardCommands.contains(commands.count) else {
            throw ValidationError("Give 1 to \(Limits.cardCommands.upperBound) commands.")
        }
    }

    func run() async throws {
        let client = daemon.client
        let lane = try await chosenLane(of: client)
        let answer: CardCommandsAnswer
        do throws(TapClientError) {
            answer = try await client.sendCardCommands(commands, on: lane, deadline: deadline)
        } catch {
            throw Failure(error)
        }
        if json {
            try StandardOutput.print(json: answer)
        } else {
            for (command, response) in zip(commands, answer.answers) {
                StandardOutput.print("> \(command)\n< \(response)")
            }
        }
        guard let error = answer.error else { return }
        throw Failure(
            "\(error.message) after \(answer.answers.count) of \(commands.count) commands (\(error.code))",
            hint: error.remedy, exitCode: .notCompleted, code: error.code)
    }

    private func chosenLane(of client: TapClient) async throws -> String {
        if let lane { return lane }
        let names: [String]
        do throws(TapClientError) { names = try await client.lanes().map(\.name) } catch { throw Failure(error) }
        guard let name = names.first, names.count == 1 else {
            throw ValidationError("Name one of the lanes with --lane: \(names.joined(separator: ", ")).")
        }
        return name
    }
}
