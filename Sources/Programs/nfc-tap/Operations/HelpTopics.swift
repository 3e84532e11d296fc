// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Help
import POSAPI
import PaymentValues
import TapClient

struct HelpTopics: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "help-topics", abstract: "Lists the help topics, or prints one of them.",
        discussion: """
            Works without the daemon. If a daemon runs, the topic holding describes its connected readers, otherwise every \
            known model; the topic taps ends with the state of the terms.
            """)

    @Argument(help: ArgumentHelp("Name of the topic; default: list all topics.", valueName: "topic"))
    var topic: String?

    @Option(
        help: ArgumentHelp("Language of the text: \(Language.tags).", valueName: "language"),
        transform: { try choice($0) })
    var language = Language.spoken

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var daemon: DaemonChoice

    func run() async throws {
        guard let topic else {
            let list = HelpTopicList(in: language)
            if json { return try StandardOutput.print(json: list) }
            let width = list.topics.map(\.topic.rawValue.count).max() ?? 0
            for entry in list.topics {
                let name = entry.topic.rawValue
                StandardOutput.print(name + String(repeating: " ", count: width + 2 - name.count) + entry.title)
            }
            return
        }
        guard let topic = HelpTopic(rawValue: topic) else {
            throw Failure(
                "unknown topic \(topic)", hint: "run nfc-tap help-topics to list the topics", exitCode: .malformedInput)
        }
        let status = try? await daemon.client.status()
        let lanes = status?.lanes.filter { $0.reader != nil }
        let page = HelpPage(topic, in: language, lanes: lanes?.isEmpty == false ? lanes : nil)
        if json { return try StandardOutput.print(json: page) }
        StandardOutput.print(page.text(width: 78))
        if topic == .taps, let terms = status?.terms { StandardOutput.print("\n" + terms.note(in: language)) }
    }
}

extension Status.Terms {
    /// How it is with the terms, and who can accept them, in the till's words.
    func note(in language: Language) -> String {
        let state = language.tillText("terms.\(rawValue)")
        guard self == .notAccepted else { return state }
        return state + "\n" + language.tillText("terms.admin").replacing("{command}", with: "nfc-tap terms accept")
    }
}
