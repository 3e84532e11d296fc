import ReaderModels
public import Wire

/// A topic as it is read.
public struct HelpPage: Codable, Equatable, Sendable {
    /// A model of reader and where to hold the card on it, by its shape and its maker's drawings.
    public struct Reader: Codable, Equatable, Sendable {
        public var model: String
        public var hold: String
        /// Lanes that have one; missing in a list of all models.
        public var lanes: [String]?
    }

    public var topic: HelpTopic
    public var language: String
    public var title: String
    public var text: [String]
    /// With `holding`.
    public var readers: [Reader]?

    /// - Parameter lanes: readers that are here, by lane; `nil` lists every model that is known.
    public init(_ topic: HelpTopic, in language: Language, lanes: [LaneStatus]? = nil) {
        self.topic = topic
        self.language = language.rawValue
        title = topic.title(in: language)
        text = topic.paragraphs(in: language)
        guard topic == .holding else { return }
        guard let lanes else {
            readers = ReaderModels.all.map { Reader(model: $0.name, hold: $0.antenna(in: language)) }
            return
        }
        var found: [Reader] = []
        for lane in lanes {
            guard let reader = lane.reader else { continue }
            let model = ReaderModels.model(named: reader.model) ?? ReaderModels.model(named: reader.name)
            guard let model else { continue }
            if let index = found.firstIndex(where: { $0.model == model.name }) {
                found[index].lanes?.append(lane.name)
            } else {
                found.append(Reader(model: model.name, hold: model.antenna(in: language), lanes: [lane.name]))
            }
        }
        readers = found
    }

    /// For a terminal, lines broken at `width` characters.
    public func text(width: Int) -> String {
        var parts = [title] + text.map { HelpPage.broken($0, at: width) }
        if let readers, !readers.isEmpty {
            parts.append(readers.map { "  \($0.model): \($0.hold)" }.joined(separator: "\n"))
        }
        return parts.joined(separator: "\n\n")
    }

    private static func broken(_ text: String, at width: Int) -> String {
        var lines: [String] = [""]
        for word in text.split(separator: " ") {
            let last = lines[lines.count - 1]
            if last.isEmpty {
                lines[lines.count - 1] = String(word)
            } else if last.count + 1 + word.count <= width {
                lines[lines.count - 1] = last + " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines.joined(separator: "\n")
    }
}

/// Answer of `GET /v1/help`.
public struct HelpTopicList: Codable, Equatable, Sendable {
    public struct Entry: Codable, Equatable, Sendable {
        public var topic: HelpTopic
        public var title: String
    }

    public var topics: [Entry]

    public init(in language: Language) {
        topics = HelpTopic.allCases.map { Entry(topic: $0, title: $0.title(in: language)) }
    }
}

extension ReaderModel {
    /// Where to hold the card; the table's English where there is no translation.
    func antenna(in language: Language) -> String {
        switch language {
        case .english: antenna
        case .german: ReaderModel.german[antenna] ?? antenna
        }
    }

    static let german = [
        "over the board's copper loop": "über der Kupferschleife der Platine",
        "the flat side of the stick, away from the plug": "die flache Seite des Stifts, vom Stecker entfernt",
        "the middle of the face with the lights": "die Mitte der Seite mit den Lampen",
        "the middle of the top face": "die Mitte der Oberseite",
        "the top face, behind the slot for cards with contacts": "die Oberseite, hinter dem Schlitz für Chipkarten",
        "the top face, beside the display where there is one": "die Oberseite, neben der Anzeige, wo es eine gibt",
        "the top face, beside the slot for cards with contacts": "die Oberseite, neben dem Schlitz für Chipkarten",
    ]
}
