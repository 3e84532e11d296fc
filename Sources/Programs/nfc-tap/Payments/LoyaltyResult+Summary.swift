// SPDX-License-Identifier: Apache-2.0
import Wire

extension Transaction {
    /// The result of reading passes: the programmes, then what the customer should do.
    var passSummary: String {
        var lines = [headlineOfPasses]
        if let loyalty { lines += loyalty.lines }
        if let error {
            lines.append("  error          \(error.message) (\(error.code))\n  remedy         \(error.resolution)")
        }
        lines.append("  transaction    \(id)")
        return lines.joined(separator: "\n")
    }

    private var headlineOfPasses: String {
        guard let loyalty else { return state.rawValue.uppercased() }
        return loyalty.programmes.contains { $0.status == .delivered } ? "PASS READ" : "NO PASS"
    }
}

extension LoyaltyResult {
    var lines: [String] {
        var lines = programmes.map(\.line)
        if let customerText { lines.append("  customer       \(customerText)") }
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
