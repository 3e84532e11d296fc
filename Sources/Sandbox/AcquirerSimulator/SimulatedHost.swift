// SPDX-License-Identifier: Apache-2.0
import CardBytes
public import ISO8583
public import PaymentValues

/// What the host is told to do, and how it misbehaves.
public struct HostRules: Equatable, Sendable {
    /// Milliseconds until amounts ending in 97 and 99 are answered.
    public var slow: UInt64 = 8_000
    public var late: UInt64 = 25_000
    /// Whether amounts ending in 85 to 89 are answered with something wrong.
    public var lies = false
    /// Whether cards of other issuers than the catalogue's are taken, without a look at their cryptograms.
    public var takesAnyCard = false
    /// Whether payments have to have a cryptogram: magnetic stripe data without one are declined.
    public var demandsChip = false

    public init() {}
}

/// What is to be done, in this order: a line is in the file before anything after it is sent.
public enum HostEffect: Equatable, Sendable {
    case book(BookLine)
    /// Milliseconds from now.
    case send(ISOMessage, after: UInt64)
    /// Half of it, then the connection is closed.
    case sendHalf(ISOMessage)
    /// A frame that holds no message.
    case sendGarbage
}

/// An acquirer's host with the test issuer behind it, without I/O. It keeps its own book and its own rules of what belongs together: it
/// shares with a switch no more than the packager.
public struct SimulatedHost: Sendable {
    let packager: Packager
    let rules: HostRules
    public internal(set) var book: HostBook
    /// The last counter of each card, by number and sequence number: it has to grow.
    var counters: [[UInt8]: UInt16] = [:]
    private var signedOn: Set<Int> = []

    /// - Parameter book: what an earlier run has written.
    public init(packager: Packager, rules: HostRules = HostRules(), book: HostBook = HostBook()) {
        self.packager = packager
        self.rules = rules
        self.book = book
    }

    var is1993: Bool { packager.version == .iso1993 }

    /// - Parameter connection: a number that no other connection has or had.
    public mutating func receive(_ message: ISOMessage, on connection: Int, at now: Timestamp) -> [HostEffect] {
        guard message.type.answer != nil else { return refuse(message, at: now, answers: false) }
        if message.type.kind == packager.network.type.kind { return network(message, connection, now) }
        guard [0, 1].contains(message.type.origin) else { return refuse(message, at: now, answers: false) }
        guard signedOn.contains(connection) else {
            // As a host that is closed: try again later.
            return refuse(message, at: now, code: "91")
        }
        switch (message.type.kind, message.type.function) {
        case (1, 0), (2, 0): return pay(message, now)
        case (2, 2): return advise(message, now)
        case (4, 0), (4, 2): return reverse(message, now)
        case (5, 0), (5, 2): return reconcile(message, now)
        default: return refuse(message, at: now, code: "12")
        }
    }

    public mutating func disconnected(_ connection: Int) { signedOn.remove(connection) }

    /// Bytes in a frame that are no message: a real host says nothing either.
    public mutating func receivedGarbage(at now: Timestamp) -> [HostEffect] {
        [.book(append(BookLine(at: now.description, event: .refused, type: "")))]
    }

    mutating func append(_ line: BookLine) -> BookLine { book.append(line) }

    private mutating func refuse(
        _ message: ISOMessage, at now: Timestamp, code: String = "12", answers: Bool = true
    ) -> [HostEffect] {
        var line = line(.refused, message, now)
        line.code = code
        let booked = HostEffect.book(append(line))
        guard answers, let answer = answer(message, code: code) else { return [booked] }
        return [booked, .send(answer, after: 0)]
    }

    private mutating func network(_ message: ISOMessage, _ connection: Int, _ now: Timestamp) -> [HostEffect] {
        let rules = packager.network
        let wish = message.text(rules.field)
        let isKnown = [rules.signOn, rules.signOff, rules.echo].contains(wish)
        if wish == rules.signOn { signedOn.insert(connection) }
        if wish == rules.signOff { signedOn.remove(connection) }
        var line = line(.network, message, now)
        line.code = wish
        guard var answer = answer(message, code: "00") else { return [.book(append(line))] }
        answer[rules.field] = message[rules.field]
        answer.set(39, isKnown ? rules.accepted.min() ?? "00" : rules.refused)
        return [.book(append(line)), .send(answer, after: 0)]
    }

    // MARK: - Messages

    /// What is echoed, if it came and the packager has it.
    private static let echoed = [2, 3, 4, 7, 11, 12, 13, 32, 33, 37, 41, 42, 49, 50]

    /// - Parameter code: of 1987.
    func answer(_ message: ISOMessage, code: String) -> ISOMessage? {
        guard let type = message.type.answer else { return nil }
        var answer = ISOMessage(type)
        for field in Self.echoed where packager.fields[field] != nil {
            answer[field] = message[field]
        }
        answer.set(39, HostCode.text(code, is1993: is1993))
        return answer
    }

    func line(_ event: BookLine.Event, _ message: ISOMessage, _ now: Timestamp) -> BookLine {
        var line = BookLine(at: now.description, event: event, type: message.type.description)
        line.trace = message.text(11)
        line.time = message.text(is1993 ? 12 : 7)
        line.acquirer = message.text(32)
        line.terminal = message.trimmed(41)
        line.merchant = message.trimmed(42)
        line.reference = message.trimmed(37)
        line.amount = message.amount
        line.currency = message.text(49)
        return line
    }

    func name(_ message: ISOMessage) -> String {
        HostBook.name(
            message.type.first.description, message.text(11) ?? "", message.text(is1993 ? 12 : 7) ?? "",
            message.text(32) ?? "")
    }

    /// Whether this came before, from the same terminal.
    func known(_ message: ISOMessage) -> HostBook.Booking? {
        book.line(name(message), terminal: message.trimmed(41))
    }
}

extension ISOMessage {
    func trimmed(_ field: Int) -> String? {
        guard let value = self[field] else { return nil }
        let bytes = value.reversed().drop { $0 == 0x20 }.reversed()
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Field 4.
    var amount: UInt64? { text(4).flatMap { UInt64($0) } }
}
