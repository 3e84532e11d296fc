// SPDX-License-Identifier: Apache-2.0
public import POSAPI
public import PaymentValues
import Receipt

/// The report of an end of day, for a printer.
public struct EndOfDayReport: Sendable {
    private let end: EndOfDay
    private let language: Language
    private let isCopy: Bool

    public init(_ end: EndOfDay, language: Language, isCopy: Bool = false) {
        self.end = end
        self.language = language
        self.isCopy = isCopy
    }

    /// Lines of at most `width` characters, the last one ended.
    ///
    /// - Parameters:
    ///   - width: brought into `Receipt.widths`.
    ///   - secondsFromUTC: of the shop's clock.
    public func text(width: Int = 42, secondsFromUTC: Int = 0) -> String {
        let words = ReceiptWords(language)
        var paper = ReceiptPaper(
            width: min(max(width, Receipt.widths.lowerBound), Receipt.widths.upperBound), in: language)
        let isTest = end.totals.lines.contains { $0.mode == .test }
        if isTest { paper.centre(words[.test]) }
        if isCopy { paper.centre(self[.copy]) }
        if let merchant = end.merchant {
            paper.centre(merchant.payee)
            for line in merchant.address ?? [] { paper.centre(line) }
        }
        paper.blank()
        paper.pair("\(self[.endOfDay]) \(end.day.number)", end.day.label ?? "")
        if let closed = end.day.closedAt {
            paper.pair(words[.date], words.text(of: closed, secondsFromUTC: secondsFromUTC))
        }
        if let terminal = end.terminal { paper.pair(words[.terminal], terminal) }
        for line in end.totals.lines { print(line, words, on: &paper) }
        print(end.totals.net, words, on: &paper)
        printOpen(words, on: &paper)
        printFigures(words, on: &paper)
        if isTest {
            paper.rule()
            paper.centre(words[.test])
        }
        return paper.text
    }

    private subscript(_ word: ReportWord) -> String { language.text(.report(word)) }

    private func print(_ line: TotalsLine, _ words: ReceiptWords, on paper: inout ReceiptPaper) {
        paper.rule()
        paper.pair("\(line.currency)  \(line.scheme ?? "")", line.mode == .test ? self[.test] : "")
        func figure(_ word: ReportWord, _ figure: Figure, always: Bool = false) {
            guard always || figure != Figure() else { return }
            paper.figure(self[word], figure.count, amount(figure.value, line.currency, words))
        }
        figure(.payments, line.captured, always: true)
        figure(.ofThisTips, line.tips)
        figure(.reversed, line.reversed, always: true)
        figure(.refunds, line.refunded, always: true)
        figure(.corrected, line.corrected)
        paper.pair(self[.net], amount(line.net, line.currency, words))
        figure(.held, line.held)
        figure(.released, line.released)
        figure(.handedOver, line.handedOver)
        if line.declined > 0 { paper.figure(self[.declined], line.declined) }
        if line.cancelled > 0 { paper.figure(self[.cancelledCount], line.cancelled) }
    }

    private func print(_ net: [NetSum], _ words: ReceiptWords, on paper: inout ReceiptPaper) {
        guard !net.isEmpty else { return }
        paper.rule()
        for sum in net {
            let mode = sum.mode == .test ? " " + self[.test] : ""
            paper.pair(self[.net] + mode, words.text(of: Money(value: sum.value, currency: sum.currency)))
        }
    }

    private func printOpen(_ words: ReceiptWords, on paper: inout ReceiptPaper) {
        let days = end.totals.days ?? []
        guard end.totals.openCount > 0 || !days.isEmpty else { return }
        paper.rule()
        paper.left(self[.openTitle])
        for day in days { paper.pair("\(self[.dayOpen]) \(day.number)", word(for: day.state) ?? "") }
        for entry in end.totals.open {
            let name = entry.number.map { "\($0)" } ?? entry.transaction.text
            paper.pair("\(name) \(language.text(.openEntry(entry.kind)))", words.text(of: entry.amount))
        }
        let more = end.totals.openCount - end.totals.open.count
        if more > 0 { paper.left("+ \(more) \(self[.openMore])") }
    }

    private func word(for state: BusinessDay.State) -> String? {
        switch state {
        case .open: nil
        case .closed: self[.serviceAsked]
        case .balanced: self[.serviceBalanced]
        case .differs: self[.serviceDiffers]
        case .unconfirmed: self[.serviceUnconfirmed]
        }
    }

    /// What the payment service says of the day, as it is known when this is printed.
    private func printFigures(_ words: ReceiptWords, on paper: inout ReceiptPaper) {
        guard let service = end.service else { return }
        paper.rule()
        paper.pair(
            "\(self[.service]) \(service.reference ?? "")",
            end.resolution != nil ? self[.settled] : word(for: end.day.state) ?? "")
        if service.contradiction == true { paper.left(self[.serviceContradiction]) }
        if let elsewhere = service.elsewhere { paper.pair(self[.elsewhere], "\(elsewhere)") }
        // What cancels out is no difference of an equal day.
        let isEqual = end.day.state == .balanced && end.resolution == nil
        for difference in isEqual ? [] : end.differences ?? [] {
            let kind: ReportWord =
                switch difference.kind {
                case .captured: .payments
                case .refunded: .refunds
                case .reversed: .reversed
                }
            paper.left("\(difference.currency)  \(difference.scheme ?? "")  \(self[kind])")
            for (word, figure) in [(ReportWord.ours, difference.ours), (.theirs, difference.theirs)] {
                paper.figure("  \(self[word])", figure.count, amount(figure.value, difference.currency, words))
            }
            for item in difference.items ?? [] {
                let missing = item.theirs == nil ? self[.ours] : item.ours == nil ? self[.theirs] : ""
                let value = item.theirs ?? item.ours ?? 0
                // In full: it is looked up here and at the payment service.
                paper.left(item.id)
                paper.pair("  \(missing)", amount(value, difference.currency, words))
            }
            let more = (difference.itemCount ?? 0) - (difference.items?.count ?? 0)
            if more > 0 { paper.left("  + \(more) \(self[.openMore])") }
        }
        if let resolution = end.resolution { paper.left(resolution.note) }
    }

    /// Without the currency, which stands above.
    private func amount(_ value: Int64, _ currency: Currency, _ words: ReceiptWords) -> String {
        String(words.text(of: Money(value: value, currency: currency)).dropLast(currency.code.count + 1))
    }
}
