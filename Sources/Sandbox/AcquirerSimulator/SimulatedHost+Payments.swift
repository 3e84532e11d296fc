// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import ISO8583
import PaymentValues

/// Why a payment is declined before its amount is looked at, with the code of 1987.
struct HostRefusal: Error, Equatable {
    let code: String
    var cryptogram: String?
}

extension SimulatedHost {
    mutating func pay(_ message: ISOMessage, _ now: Timestamp) -> [HostEffect] {
        let isCredit = message.text(3)?.hasPrefix("20") ?? false
        var line = line(message.type.kind == 1 ? .authorization : .sale, message, now)
        line.isCredit = isCredit
        return decide(message, line, now) { amount, lies in HostAmountRule(amount, lies: lies) }
    }

    /// 0220: takes what was held, or tells of what the card has approved. It has happened already, so faults are not for it.
    mutating func advise(_ message: ISOMessage, _ now: Timestamp) -> [HostEffect] {
        var line = line(.advice, message, now)
        line.isCredit = message.text(3)?.hasPrefix("20") ?? false
        let held = message.trimmed(37).flatMap { book.heldAuthorization(reference: $0, terminal: message.trimmed(41)) }
        guard let held else {
            return decide(message, line, now) { amount, lies in HostAmountRule(amount, lies: lies) }
        }
        if let before = known(message) { return again(message, before, now) }
        line.original = held.line.number
        line.lastFour = held.line.lastFour
        let amount = message.amount ?? 0
        let isRight = amount > 0 && amount <= held.held && line.currency == held.line.currency
        line.code = isRight ? "00" : "13"
        if isRight { line.booked = amount }
        return answered(message, append(line), fault: nil)
    }

    private mutating func decide(
        _ message: ISOMessage, _ line: BookLine, _ now: Timestamp, rule: (UInt64, Bool) -> HostAmountRule
    ) -> [HostEffect] {
        if let before = known(message) { return again(message, before, now) }
        var line = line
        line.lastFour = message.panDigits.map { String($0.suffix(4).map { Character(Unicode.Scalar($0 + 0x30)) }) }
        var fault: HostFault?
        do throws(HostRefusal) {
            line.cryptogram = try examine(message, now)
            let amount = message.amount ?? 0
            switch rule(amount, rules.lies) {
            case .approve(let code): approve(&line, code, amount)
            case .approveHalf where line.event != .advice: approve(&line, "10", amount / 2)
            case .approveHalf: approve(&line, "00", amount)
            case .decline(let code): line.code = code
            case .fault(.malfunction): line.code = "96"
            case .fault(let other):
                approve(&line, "00", amount)
                fault = other
                line.fault = "\(other)"
            }
        } catch {
            line.code = error.code
            line.cryptogram = error.cryptogram
        }
        return answered(message, append(line), fault: fault)
    }

    private mutating func approve(_ line: inout BookLine, _ code: String, _ amount: UInt64) {
        line.code = code
        line.booked = amount
        let number = String((book.approvals + 1) % 1_000_000)
        line.approval = String(repeating: "0", count: 6 - number.count) + number
    }

    /// The same answer as before, unless it is another message under the same name.
    private mutating func again(
        _ message: ISOMessage, _ before: HostBook.Booking, _ now: Timestamp
    ) -> [HostEffect] {
        var line = line(.again, message, now)
        line.original = before.line.number
        let isSame =
            before.line.amount == message.amount && before.line.currency == message.text(49)
            && before.line.reference == message.trimmed(37)
        line.code = isSame ? before.line.code : "94"
        let booked = HostEffect.book(append(line))
        guard isSame else { return [booked] + (answer(message, code: "94").map { [.send($0, after: 0)] } ?? []) }
        return [booked] + (self.message(for: message, before.line).map { [.send($0, after: 0)] } ?? [])
    }

    // MARK: - Answers

    /// The answer that a line of the book gives to its message.
    private func message(for message: ISOMessage, _ line: BookLine) -> ISOMessage? {
        let code = line.code ?? "96"
        guard var answer = answer(message, code: code) else { return nil }
        if code == "10", let booked = line.booked { answer.set(4, Self.digits(booked, 12)) }
        if let approval = line.approval, packager.fields[38] != nil { answer.set(38, approval) }
        if answer[37] == nil, let reference = line.time.map({ $0 + (line.trace ?? "") }), reference.utf8.count >= 12 {
            answer.set(37, String(reference.suffix(12)))
        }
        if line.cryptogram == "verified", packager.fields[55] != nil, let record = message.record,
            let data = TestIssuer.answer(to: record, responseCode: Array(code.utf8))
        {
            var writer = TLVWriter()
            writer.append(0x91, data)
            answer[55] = writer.bytes
        }
        return answer
    }

    private mutating func answered(_ message: ISOMessage, _ line: BookLine, fault: HostFault?) -> [HostEffect] {
        let booked = HostEffect.book(line)
        guard let answer = self.message(for: message, line) else { return [booked] }
        guard let fault else { return [booked, .send(answer, after: 0)] }
        var other = answer
        switch fault {
        case .malfunction: return [booked, .send(answer, after: 0)]
        case .answersTwice: return [booked, .send(answer, after: 0), .send(answer, after: 0)]
        case .closesMidAnswer: return [booked, .sendHalf(answer)]
        case .garbage: return [booked, .sendGarbage]
        case .slow: return [booked, .send(answer, after: rules.slow)]
        case .neverAnswers: return [booked]
        case .late: return [booked, .send(answer, after: rules.late)]
        case .otherAmount: other.set(4, Self.digits((line.amount ?? 0) + 1, 12))
        case .otherTrace: other.set(11, line.trace == "000001" ? "000002" : "000001")
        case .otherCurrency: other.set(49, line.currency == "840" ? "978" : "840")
        case .noCode: other[39] = nil
        case .contradiction:
            other.set(39, HostCode.text("05", is1993: is1993))
            other[38] = nil
            return [booked, .send(answer, after: 0), .send(other, after: 50)]
        }
        return [booked, .send(other, after: 0)]
    }

    static func digits(_ number: UInt64, _ count: Int) -> String {
        let text = String(number).suffix(count)
        return String(repeating: "0", count: count - text.count) + text
    }

    // MARK: - Looking at a payment

    /// - Returns: what became of the cryptogram; `nil` where there is no chip data.
    private mutating func examine(_ message: ISOMessage, _ now: Timestamp) throws(HostRefusal) -> String? {
        // A PIN is never asked for, so nobody may send one.
        guard message[52] == nil else { throw HostRefusal(code: "30") }
        for field in [3, 4, 11, is1993 ? 12 : 7, 41, 49] where message[field] == nil { throw HostRefusal(code: "30") }
        guard message.amount != nil, let digits = message.panDigits else { throw HostRefusal(code: "30") }
        if book.stopped.contains(name(message)) { throw HostRefusal(code: "94") }
        guard Self.passesLuhn(digits), rules.takesAnyCard || TestIssuer.isTestCard(digits) else {
            throw HostRefusal(code: "14")
        }
        if let expiry = message.text(14), Self.isOver(expiry, now) { throw HostRefusal(code: "54") }
        guard let chip = message[55] else {
            if rules.demandsChip { throw HostRefusal(code: "30") }
            return nil
        }
        guard let record = message.record else { throw HostRefusal(code: "30") }
        return try examine(chip: record, message, digits, isEmpty: chip.isEmpty)
    }

    private mutating func examine(
        chip record: [(Tag, [UInt8])], _ message: ISOMessage, _ digits: [UInt8], isEmpty: Bool
    ) throws(HostRefusal) -> String {
        let values = Dictionary(record, uniquingKeysWith: { first, _ in first })
        // What the card has signed is what is asked for.
        let agrees =
            !isEmpty && values[0x9F02].map(Hex.string) == message.text(4)
            && values[0x5F2A].map(Hex.string) == message.text(49).map { "0" + $0 }
            && values[0x9C].map(Hex.string) == message.text(3).map { String($0.prefix(2)) }
        guard agrees else { throw HostRefusal(code: "30", cryptogram: "mismatch") }
        // An online request for what is asked, and a card's own approval for what is told.
        let wanted: UInt8 = message.type.function == 2 ? 0x40 : 0x80
        guard Self.type(values) == wanted else {
            throw HostRefusal(code: "30", cryptogram: "wrongType")
        }
        switch TestIssuer.verify(record) {
        case .verified: break
        case .unknownCard where rules.takesAnyCard: return "unknownCard"
        case .unknownCard: throw HostRefusal(code: "14", cryptogram: "unknownCard")
        case .wrongCryptogram: throw HostRefusal(code: "82", cryptogram: "wrong")
        case .missing(let tag): throw HostRefusal(code: "30", cryptogram: "missing \(tag)")
        }
        guard let counter = values[0x9F36], counter.count == 2 else { throw HostRefusal(code: "30") }
        let (card, count) = (digits + (values[0x5F34] ?? [0]), UInt16(counter[0]) << 8 | UInt16(counter[1]))
        if let last = counters[card], count <= last { throw HostRefusal(code: "94", cryptogram: "replayed") }
        counters[card] = count
        return "verified"
    }

    /// 9F27; Visa's contactless kernel leaves it out of its data record, and the type stands in bits 6 and 5 of byte 5 of 9F10 (EMV Book C-3,
    /// 5.4.3.1), over which the cryptogram is made.
    private static func type(_ values: [Tag: [UInt8]]) -> UInt8? {
        if let information = values[0x9F27] { return information.first.map { $0 & 0xC0 } }
        guard let data = values[0x9F10], data.count >= 7, data[0] == 0x06 else { return nil }
        return data[4] << 2 & 0xC0
    }

    private static func passesLuhn(_ digits: [UInt8]) -> Bool {
        var sum = 0
        for (position, digit) in digits.reversed().enumerated() {
            let value = Int(digit) * (position.isMultiple(of: 2) ? 1 : 2)
            sum += value > 9 ? value - 9 : value
        }
        return (8...19).contains(digits.count) && sum.isMultiple(of: 10)
    }

    /// - Parameter expiry: YYMM.
    private static func isOver(_ expiry: String, _ now: Timestamp) -> Bool {
        guard expiry.utf8.count == 4, let number = Int(expiry) else { return true }
        let today = now.components
        return (number / 100 + 2000, number % 100) < (today.year, today.month)
    }
}

extension ISOMessage {
    /// 0…9 each, from field 2, else from the track.
    var panDigits: [UInt8]? {
        let number = self[2].map { $0[...] } ?? self[35]?.prefix { $0 != UInt8(ascii: "D") }
        guard let number, !number.isEmpty, number.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return number.map { $0 & 0x0F }
    }

    /// Field 55 with the card's number and sequence number, as an issuer needs them; `nil` where it is no list of objects, each once.
    var record: [(Tag, [UInt8])]? {
        guard let chip = self[55], let digits = panDigits, let nodes = try? TLV.children(chip) else { return nil }
        var record = nodes.map { ($0.tag, Array(chip[$0.value])) }
        guard Set(record.map(\.0)).count == record.count else { return nil }
        let padded = digits.count.isMultiple(of: 2) ? digits : digits + [0x0F]
        record.removeAll { $0.0 == 0x5A }
        record.append(
            (0x5A, stride(from: 0, to: padded.count, by: 2).map { padded[$0] << 4 | padded[$0 + 1] }))
        if !record.contains(where: { $0.0 == 0x5F34 }),
            let sequence = text(23).flatMap({ UInt8($0.suffix(2), radix: 16) })
        {
            record.append((0x5F34, [sequence]))
        }
        return record
    }
}
