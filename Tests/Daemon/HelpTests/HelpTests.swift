// SPDX-License-Identifier: Apache-2.0
import Codes
import Help
import POSAPI
import PaymentValues
import ReaderModels
import TestSupport
import Testing

@Suite("Help for people")
struct HelpTests {
    @Test(
        "Requirements 7 and 8: every topic has a title and paragraphs in each language",
        arguments: HelpTopic.allCases, Language.allCases)
    func topics(topic: HelpTopic, language: Language) {
        let page = HelpPage(topic, in: language)
        #expect(!page.title.isEmpty && page.title.count <= 60 && !page.text.isEmpty)
        for paragraph in page.text {
            #expect(paragraph.count > (language == .japanese ? 15 : 30) && !paragraph.contains("\n"))
        }
        if language != .english { #expect(page.text != HelpPage(topic, in: .english).text) }
    }

    @Test("Requirement 8: each model of reader says where to hold the card, in each language")
    func antennas() throws {
        for language in Language.allCases {
            let readers = try #require(HelpPage(.holding, in: language).readers)
            #expect(readers.map(\.model) == ReaderModels.all.map(\.name))
            if language == .english {
                // Else a place of the models' table would have no key and no translation.
                #expect(readers.map(\.hold) == ReaderModels.all.map(\.antenna))
            }
            #expect(readers.allSatisfy { !$0.hold.isEmpty })
            // Each has a drawing in the tutorial, too.
            let drawings = try Checkout.text("share/till/drawings.js")
            for reader in readers { #expect(drawings.contains("  \(reader.place ?? "?"): ()"), "\(reader.model)") }
        }
        let english = try #require(HelpPage(.holding, in: .english).readers)
        for language in Language.allCases.dropFirst() {
            let own = try #require(HelpPage(.holding, in: language).readers)
            for (one, other) in zip(english, own) { #expect(one.hold != other.hold, "\(one.model) in \(language)") }
        }
    }

    @Test("With lanes only their readers are described, each model once")
    func lanes() {
        let lanes = ["till-1", "till-2", "till-3", "till-4"].map { name in
            var lane = LaneStatus(name: name, state: .ready, features: [])
            if name != "till-4" {
                lane.reader = .init(
                    name: name == "till-3" ? "virtual" : "ACS ACR122U PICC Interface 00 00",
                    model: name == "till-3" ? "Virtual" : "ACS ACR122U", driver: "pcsc")
            }
            return lane
        }
        let readers = HelpPage(.holding, in: .english, lanes: lanes).readers
        #expect(readers?.map(\.model) == ["ACS ACR122U"])
        #expect(readers?.first?.lanes == ["till-1", "till-2"])
        #expect(HelpPage(.taps, in: .english, lanes: lanes).readers == nil)
    }

    @Test("On a terminal no line is longer than it is wide, as long as the words are not")
    func width() {
        for language in Language.allCases {
            for topic in HelpTopic.allCases where topic != .holding {
                let lines = HelpPage(topic, in: language).text(width: 60).split(separator: "\n")
                #expect(lines.allSatisfy { Columns.count($0) <= 60 })
            }
        }
    }

    @Test("The list names every topic in the language asked for")
    func list() {
        let list = HelpTopicList(in: .german)
        #expect(list.topics.map(\.topic) == HelpTopic.allCases)
        #expect(list.topics.first?.title == "Karten annehmen")
    }
}
