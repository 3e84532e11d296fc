// SPDX-License-Identifier: Apache-2.0
import Codes

/// What the bridge itself prints on a till's paper, in the till's language.
public struct ZVTWords: Sendable {
    public var receipt: String
    public var terminal: String
    public var endOfDay: String
    public var total: String
    /// Cards whose network is not known.
    public var others: String
    /// In place of a sum's decimal point.
    public var decimalSeparator: String
    /// Columns of the till's printer.
    public var width: Int

    public init(
        receipt: String = "Receipt no.", terminal: String = "TID", endOfDay: String = "End of day",
        total: String = "TOTAL",
        others: String = "…", decimalSeparator: String = ".", width: Int = 42
    ) {
        self.receipt = receipt
        self.terminal = terminal
        self.endOfDay = endOfDay
        self.total = total
        self.others = others
        self.decimalSeparator = decimalSeparator
        self.width = width
    }

    func pair(_ left: String, _ right: String) -> String {
        left + String(repeating: " ", count: max(1, width - left.count - right.count)) + right
    }
}

extension ZVTTerminal {
    private static func filled(_ number: UInt64, _ count: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }

    private var terminalID: String { "\(settings.words.terminal) \(Self.filled(settings.terminal, 8))" }

    /// Under the receipt number that a reversal wants, and the terminal id by which the till knows this terminal.
    func paper(_ receipts: [TillReceipt], number: UInt64, _ session: ZVTSession) -> [ZVTPacket] {
        let line = settings.words.pair("\(settings.words.receipt) \(Self.filled(number, 4))", terminalID)
        return paper(receipts.map { TillReceipt(copy: $0.copy, lines: [line] + $0.lines) }, session)
    }

    func paper(_ receipts: [TillReceipt], _ session: ZVTSession) -> [ZVTPacket] { ZVTAnswer.prints(receipts, session) }

    /// Of the reversal or booking of this payment, with the number that it has itself; empty where its receipts were not to be
    /// had, as after a restart.
    func followedPaper(_ key: AttemptKey) -> [Outgoing] {
        guard let followed, followed.key == key, let attempt = desk.attempt(key) else { return [] }
        return paper(followed.receipts, number: Attempt.receipt(of: attempt.highest), session).map {
            Outgoing(packet: $0, role: .notice)
        }
    }

    /// The sums of the batch by network, as the totals tell them.
    func paper(of turnover: Turnover) -> TillReceipt {
        let words = settings.words
        var lines = [words.pair(words.endOfDay, terminalID)]
        if let first = turnover.first, let last = turnover.last {
            let ends = [first, last].map { Self.filled(Attempt.receipt(of: $0), 4) }
            lines.append("\(words.receipt) \(ends[0]) - \(ends[1])")
        }
        lines.append(String(repeating: "-", count: words.width))
        var total: Int64? = 0
        for sum in turnover.sums {
            lines.append(words.pair("\(sum.count) x \(sum.network?.rawValue ?? words.others)", text(of: sum.amount)))
            total = total.flatMap { total in
                let (next, overflow) = total.addingReportingOverflow(sum.amount)
                return overflow || sum.amount == .max ? nil : next
            }
        }
        if let total { lines.append(words.pair(words.total, text(of: total))) }
        return TillReceipt(copy: .merchant, lines: lines)
    }

    private func text(of amount: Int64) -> String {
        let digits = Self.filled(amount.magnitude, settings.currency.exponent + 1)
        let (whole, rest) = (digits.dropLast(settings.currency.exponent), digits.suffix(settings.currency.exponent))
        let sum = rest.isEmpty ? "\(whole)" : "\(whole)\(settings.words.decimalSeparator)\(rest)"
        return "\(amount < 0 ? "-" : "")\(sum) \(settings.currency.letters)"
    }
}
