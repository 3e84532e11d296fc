public import Wire

/// What people who take and give cards want to know. Every type of transaction has its topic, and so has every end.
public enum HelpTopic: String, Codable, CaseIterable, Sendable {
    /// How to take a payment, a refund, a card check and passes.
    case taps
    /// Where to hold the card, by model of the reader.
    case holding
    case retries
    case declined
    case unknown
    case pin
    case queue
    case receipts
    case loyalty
    case checks
    case terms
    /// Trying it all without money.
    case practice = "try"

    public func title(in language: Language) -> String {
        switch language {
        case .english: HelpText.english(self).title
        case .german: HelpText.german(self).title
        }
    }

    /// Paragraphs in plain text.
    func paragraphs(in language: Language) -> [String] {
        switch language {
        case .english: HelpText.english(self).paragraphs
        case .german: HelpText.german(self).paragraphs
        }
    }
}

/// One topic in one language.
struct HelpText {
    let title: String
    let paragraphs: [String]

    init(_ title: String, _ paragraphs: String...) {
        self.title = title
        self.paragraphs = paragraphs
    }
}
