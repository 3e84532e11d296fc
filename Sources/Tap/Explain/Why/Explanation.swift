// SPDX-License-Identifier: Apache-2.0
/// Why a transaction went as it did, in plain words: which application, which kernel, which cardholder verification,
/// which cryptogram, and how it ended. Everything is said from what terminal and card exchanged and from the terminal's
/// configuration; card numbers and names are not repeated.
public struct Explanation: Equatable, Sendable, Encodable {
    public struct Section: Equatable, Sendable, Encodable {
        public let title: String
        public let sentences: [String]
    }

    public let sections: [Section]

    public init(_ trace: TapTrace) {
        let facts = TapFacts(trace)
        let all = [
            Section(title: "Transaction", sentences: [Phrase.transaction(trace.transaction).capitalizedFirst + "."]),
            Section(title: "Before the card", sentences: SelectionStory.limits(facts)),
            Section(title: "Card", sentences: SelectionStory.card(facts)),
            Section(title: "Application", sentences: SelectionStory.application(facts)),
            Section(title: "Kernel", sentences: SelectionStory.kernel(facts)),
            Section(title: "Reading", sentences: ReadingStory.sentences(facts)),
            Section(title: "Offline data authentication", sentences: AuthenticationStory.sentences(facts)),
            Section(title: "Cardholder verification", sentences: VerificationStory.sentences(facts)),
            Section(title: "Decision", sentences: DecisionStory.sentences(facts)),
            Section(title: "Outcome", sentences: OutcomeStory.sentences(facts)),
        ]
        sections = all.filter { !$0.sentences.isEmpty }
    }

    /// Titles, and the sentences below them.
    public var lines: [String] {
        sections.flatMap { [$0.title] + $0.sentences.map { "  \($0)" } }
    }
}

extension String {
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
