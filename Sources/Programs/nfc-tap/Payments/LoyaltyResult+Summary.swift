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

    private func headlineOfPasses(in language: Language) -> String {
        guard let loyalty else { return language.text(.state(state)) }
        return language.text(loyalty.programmes.contains { $0.status == .delivered } ? .passRead : .noPass)
    }
}

extension LoyaltyResult {
    func lines(in language: Language) -> [String] {
        var lines = programmes.map(\.line)
        if let customerText { lines.append(language.line(.customer, customerText)) }
        return lines
    }
}

extension LoyaltyResult.Entry {
    fileprivate var line: String {
        var text = "  \(displayName)  \(status.rawValue)"
        if let statusWord { text += " (\(statusWord))" }
        if let member = pass?.member { text += "  \(member)" }
        if pass?.cryptogram != nil, pass?.member == nil { text += "  (sealed)" }
        return text
    }
}
