// SPDX-License-Identifier: Apache-2.0
import Codes
public import POSAPI
public import PaymentValues
import ReaderModels

/// A topic as a person reads it.
public struct HelpPage: Codable, Equatable, Sendable {
    /// A model of reader and where to hold the card on it, by its shape and its maker's drawings.
    public struct Reader: Codable, Equatable, Sendable {
        public var model: String
        public var hold: String
        /// The same as a word for a drawing (`HoldingPlace`); missing for a place that has none.
        public var place: String?
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
        title = language.text(.helpTitle(topic))
        text = language.paragraphs(.helpText(topic))
        guard topic == .holding else { return }
        guard let lanes else {
            readers = ReaderModels.all.map { Reader($0, in: language) }
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
                found.append(Reader(model, in: language, lanes: [lane.name]))
            }
        }
        readers = found
    }

    /// For a terminal, lines broken at `width` columns.
    public func text(width: Int) -> String {
        var parts = [title] + text.map { Columns.broken($0, at: width).joined(separator: "\n") }
        if let readers, !readers.isEmpty {
            parts.append(readers.map { "  \($0.model): \($0.hold)" }.joined(separator: "\n"))
        }
        return parts.joined(separator: "\n\n")
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
        topics = HelpTopic.allCases.map { Entry(topic: $0, title: language.text(.helpTitle($0))) }
    }
}

extension HelpPage.Reader {
    /// The model's own English if its place has no key.
    fileprivate init(_ model: ReaderModel, in language: Language, lanes: [String]? = nil) {
        let place = HoldingPlace(model.antenna)
        self.init(
            model: model.name, hold: place.map { language.text(.holding($0)) } ?? model.antenna, place: place?.rawValue,
            lanes: lanes)
    }
}

extension HoldingPlace {
    /// The place that a table of models names in English.
    fileprivate init?(_ antenna: String) {
        let place = HoldingPlace.allCases.first { Language.english.text(.holding($0)) == antenna }
        guard let place else { return nil }
        self = place
    }
}
