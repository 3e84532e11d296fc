import ArgumentParser
import Help
import TapClient
import Wire

struct HelpTopics: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "help-topics", abstract: "Explains taking cards: topics, or one of them.",
        discussion: """
            Works without the daemon. Where one runs, holding describes the readers that are connected, else every model \
            that is known, and the tutorial ends with the state of the terms.
            """)

    @Argument(help: ArgumentHelp("The topic.", valueName: "topic"))
    var topic: String?

    @Option(help: ArgumentHelp("en or de.", valueName: "language"), transform: { try choice($0) })
    var language = Language.english

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
                "no topic \(topic)", hint: "nfc-tap help-topics lists them", exitCode: .malformedInput)
        }
        let status = try? await daemon.client.status()
        let lanes = status?.lanes.filter { $0.reader != nil }
        let page = HelpPage(topic, in: language, lanes: lanes?.isEmpty == false ? lanes : nil)
        if json { return try StandardOutput.print(json: page) }
        StandardOutput.print(page.text(width: 78))
        if topic == .taps, let terms = status?.terms { StandardOutput.print("\n" + terms.note) }
    }
}

extension Status.Terms {
    /// What is left to do about them, in one line.
    var note: String {
        switch self {
        case .notRequired: "Terms: none needed in test mode."
        case .accepted: "Terms: accepted."
        case .notAccepted:
            "Terms: not accepted yet; an administrator reads and accepts them, see nfc-tap help-topics terms."
        case .revoked: "Terms: revoked; ask your payment service, see nfc-tap help-topics terms."
        }
    }
}
