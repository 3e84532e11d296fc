// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV

/// The final outcome and what the terminal does with it (EMV Contactless Book B §3.5).
enum OutcomeStory {
    static func sentences(_ facts: TapFacts) -> [String] {
        let outcome = facts.trace.outcome.outcome
        var sentences = [status(outcome)]
        if let step = outcome.endedAt {
            let verb = outcome.status == .onlineRequest ? "Something failed" : "It ended"
            sentences.append("\(verb) at \(Phrase.step(step)).")
        }
        if let error = Phrase.error(outcome.error) { sentences.append("Error indication: \(error).") }
        if let request = outcome.uiOnOutcome { sentences.append("Shown at the end: \(Phrase.signal(request)).") }
        if let interface = outcome.alternateInterface {
            switch interface {
            case .contactChip: sentences.append("The contact chip is preferred.")
            case .magStripe: sentences.append("The magnetic stripe is preferred.")
            case .both: sentences.append("The contact chip or the magnetic stripe will do.")
            }
        }
        if outcome.receipt { sentences.append("A receipt is to be printed.") }
        if let start = outcome.start {
            sentences.append("Entry Point is to go on at Start \("\(start)".uppercased()).")
        }
        if let status = facts.endlessAnswer {
            sentences.append(
                "The card answered \(status) again and again and gave nothing: the reader gave it up, and it had not left."
            )
        }
        if let limit = facts.trace.tapLimit {
            sentences.append("The card asked to be presented again \(limit) times: no further tap was tried.")
        } else if let error = facts.trace.interruption {
            sentences.append("The wait for a card ended: \(error).")
        }
        return sentences
    }

    private static func status(_ outcome: EMV.Outcome) -> String {
        switch outcome.status {
        case .approved: "Approved offline; the acquirer gets the data for clearing."
        case .declined: "Declined offline."
        case .onlineRequest: "Online request: the acquirer gets the data record and the issuer decides."
        case .endApplication: "The application ended without a decision."
        case .selectNext: "The next application was to be tried, but none was left."
        case .tryAnotherInterface: "Another interface is to be used."
        case .tryAgain: "The card is to be presented again."
        }
    }
}
