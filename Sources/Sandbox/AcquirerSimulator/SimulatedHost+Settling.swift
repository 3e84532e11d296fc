// SPDX-License-Identifier: Apache-2.0
import ISO8583
import PaymentValues

extension SimulatedHost {
    // MARK: - Reversals

    mutating func reverse(_ message: ISOMessage, _ now: Timestamp) -> [HostEffect] {
        if let before = known(message) { return settledAgain(message, before, now) }
        var line = line(.reversal, message, now)
        guard let name = originalName(message) else {
            line.code = "30"
            return settled(message, adding: line)
        }
        guard var original = book.line(name, terminal: message.trimmed(41)) else {
            // What was taken back is not taken any more, also where it comes later.
            line.stopped = name
            line.code = "25"
            return settled(message, adding: line)
        }
        // What was held may have been taken since.
        if let capture = book.capture(of: original.line.number) { original = capture }
        line.original = original.line.number
        line.lastFour = original.line.lastFour
        guard let remains = remainder(message, of: original) else {
            line.code = "13"
            return settled(message, adding: line)
        }
        line.remains = remains
        line.code = "00"
        return settled(message, adding: line)
    }

    /// Field 90 of 1987, field 56 of 1993.
    private func originalName(_ message: ISOMessage) -> String? {
        guard let text = message.text(is1993 ? 56 : 90) else { return nil }
        let digits = Array(text.utf8)
        let timeCount = is1993 ? 12 : 10
        guard digits.count >= 10 + timeCount, let type = MessageType(digits: digits[..<4]) else { return nil }
        func part(_ range: Range<Int>) -> String { String(decoding: digits[range], as: UTF8.self) }
        let acquirer: String
        if is1993 {
            // A length of two digits, then the number.
            guard digits.count >= 24, let count = Int(part(22..<24)), digits.count == 24 + count else { return nil }
            acquirer = part(24..<digits.count)
        } else {
            guard digits.count == 42 else { return nil }
            acquirer = part(20..<31)
        }
        return HostBook.name(type.first.description, part(4..<10), part(10..<(10 + timeCount)), acquirer)
    }

    /// What stays booked: nothing, unless a part is asked for. `nil` for more than is there.
    private func remainder(_ message: ISOMessage, of original: HostBook.Booking) -> UInt64? {
        guard !is1993, let text = message.text(95) else { return is1993 && message.text(24) == "401" ? nil : 0 }
        guard let remains = UInt64(text.prefix(12)), remains <= max(original.held, original.taken) else { return nil }
        return remains
    }

    // MARK: - Reconciliation

    mutating func reconcile(_ message: ISOMessage, _ now: Timestamp) -> [HostEffect] {
        if let before = known(message) { return settledAgain(message, before, now) }
        var line = line(.reconciliation, message, now)
        line.currency = message.text(50) ?? (book.totals.count == 1 ? book.totals.keys.first : nil)
        let totals = line.currency.map { book.totals[$0] ?? HostBook.Totals() }
        line.isInBalance = totals.map { isSame($0, message) } ?? false
        line.code = "00"
        return settled(message, adding: line)
    }

    private func isSame(_ totals: HostBook.Totals, _ message: ISOMessage) -> Bool {
        let own: [(Int, UInt64)] = [
            (74, totals.credits), (75, totals.creditReversals), (76, totals.debits), (77, totals.debitReversals),
            (86, totals.creditAmount), (87, totals.creditReversalAmount), (88, totals.debitAmount),
            (89, totals.debitReversalAmount),
        ]
        for (field, number) in own {
            guard (message.text(field).map { UInt64($0) } ?? 0) == number else { return false }
        }
        guard let net = message.text(97) else { return true }
        let amount = UInt64(net.dropFirst())
        return amount == totals.net.magnitude && (totals.net == 0 || net.hasPrefix(totals.net > 0 ? "D" : "C"))
    }

    // MARK: - Answers

    /// First into the book: a host that is held for its answer meanwhile would be copied with all of its book.
    private mutating func settled(_ message: ISOMessage, adding line: BookLine) -> [HostEffect] {
        let line = append(line)
        return settled(message, line)
    }

    private func settled(_ message: ISOMessage, _ line: BookLine) -> [HostEffect] {
        guard var answer = answer(message, code: line.code ?? "96") else { return [.book(line)] }
        switch line.event {
        case .reversal where is1993:
            answer.set(39, line.code == "00" ? "400" : HostCode.text(line.code ?? "96", is1993: true))
        case .reconciliation where is1993: answer.set(39, line.isInBalance == true ? "500" : "501")
        case .reconciliation: answer.set(66, line.isInBalance == true ? "1" : "2")
        default: break
        }
        return [.book(line), .send(answer, after: 0)]
    }

    private mutating func settledAgain(
        _ message: ISOMessage, _ before: HostBook.Booking, _ now: Timestamp
    ) -> [HostEffect] {
        var line = line(.again, message, now)
        line.original = before.line.number
        line.code = before.line.code
        let sent = settled(message, before.line).filter { if case .send = $0 { true } else { false } }
        return [.book(append(line))] + sent
    }
}
