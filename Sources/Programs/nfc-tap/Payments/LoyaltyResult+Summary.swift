// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues

extension Transaction {
    /// The result of reading passes: the programmes, then what the customer should do.
    func passSummary(in language: Language) -> String {
        var lines = [headlineOfPasses(in: language)]
        if let loyalty { lines += loyalty.lines(in: language) }
        if let error { lines += error.lines(in: language) }
        lines.append(language.line(.transaction, "\(id)"))
        return lines.joined(separator: "\n")
    }

    func headlineOfPasses(in language: Language) -> String {
        guard let loyalty else { return language.text(.state(state)) }
        return language.text(loyalty.programmes.contains { $0.status == .delivered } ? .passRead : .noPass)
    }
}

extension LoyaltyResult {
    func lines(in language: Language) -> [String] {
        var lines = programmes.map { $0.line(in: language) }
        // What the answer has is in the language of the request.
        if let text = customerAction.text(in: language.rawValue) { lines.append(language.line(.customer, text)) }
        return lines
    }
}

extension LoyaltyResult.Entry {
    /// Why there is no pass, as the API's word.
    fileprivate func line(in language: Language) -> String {
        var text = "  \(displayName)  \(language.tillText(status == .delivered ? "till.passRead" : "till.noPass"))"
        if status != .delivered, status != .noPass { text += " (\(status.rawValue))" }
        if let statusWord { text += " (\(statusWord))" }
        if let member = pass?.member { text += "  \(member)" }
        if pass?.cryptogram != nil, pass?.member == nil { text += "  (sealed)" }
        return text
    }
}
