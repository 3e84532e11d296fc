// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import POSAPI
import PaymentValues
import TapClient

struct Prepare: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prepares the lanes for a card, and waits until they are ready.",
        discussion: """
            The daemon prepares lanes on its own when it starts, when a reader is connected, and after the machine was \
            suspended. Interrupting the command does not stop the preparation.
            """)

    @Option(help: ArgumentHelp("Name of the lane; default: all lanes.", valueName: "name"))
    var lane: String?

    @OptionGroup var daemon: DaemonChoice

    @Flag(help: "Print JSON, one object for each lane.")
    var json = false

    /// Seconds that one call waits: a preparation may take minutes, an answer should not.
    private static let patience = 30

    func run() async throws {
        let client = daemon.client
        let progress = PreparationProgress(isTerminal: StandardError.isTerminal)
        // Events are for the person watching; the answers say what became of it.
        let watch = Task {
            do throws(TapClientError) {
                for try await event in client.events(maximumOutage: .seconds(2)) { await progress.take(event) }
            } catch {
                return
            }
        }
        defer { watch.cancel() }
        do {
            let names = if let lane { [lane] } else { try await client.lanes().map(\.name) }
            for name in names {
                await progress.follow(name)
                var answer = try await client.prepare(name, waiting: Prepare.patience)
                while answer.outcome == .configuring {
                    answer = try await client.prepare(name, waiting: Prepare.patience)
                }
                await progress.end()
                try show(answer)
            }
        } catch let error as TapClientError {
            await progress.end()
            throw Failure(error)
        }
    }

    private func show(_ answer: PrepareAnswer) throws {
        if json { return try StandardOutput.print(line: answer) }
        let reader = answer.lane.reader
        let parts = [Language.spoken.tillText("lane.ready"), reader?.model, reader?.firmware].compactMap(\.self)
        StandardOutput.print("\(answer.lane.name): \(parts.joined(separator: ", "))")
    }
}
