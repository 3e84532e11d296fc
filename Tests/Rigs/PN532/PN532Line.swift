// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim

/// The emulated chip together with its line: framing, timing, faults. Time and bytes come in, bytes go out.
struct PN532Line {
    typealias Event = (at: TapInstant, body: @Sendable (inout PN532Chip) -> Void)

    private(set) var chip = PN532Chip()
    private(set) var log: [PN532LogEntry] = []
    var events: [Event] = []
    /// `skipped` commands of that code are answered first.
    var faults: [(code: UInt8, skipped: Int, fault: PN532Fault)] = []
    /// What is wrong with every answer that no fault of its own was meant for.
    var damage: PN532Fault?
    var delayMilliseconds: UInt64 = 0
    /// What is to be done once a command of that code arrives.
    var observers: [(code: UInt8, body: @Sendable () -> Void)] = []
    /// Observers whose command has arrived.
    private var notified: [@Sendable () -> Void] = []
    private var parser = PN532FrameParser()
    /// Answers on their way, oldest first.
    private var due: [(at: TapInstant, data: [UInt8], frame: [UInt8])] = []
    /// A command that waits for a card.
    private var waiting: (command: [UInt8], until: TapInstant?, otherwise: [UInt8])?

    /// When something happens without the host.
    var nextDue: TapInstant? {
        (events.map(\.at) + due.map(\.at) + [waiting?.until].compactMap(\.self)).min()
    }

    /// - Returns: what goes out on the line now.
    mutating func advance(to now: TapInstant, received: [UInt8]) -> [UInt8] {
        runEvents(now)
        var output: [UInt8] = []
        parser.feed(received)
        while let event = parser.next() {
            waiting = nil
            switch event {
            case .command(let command): output += accept(command, now)
            case .abort: due = []
            case .damaged: output += PN532Frame.nack
            }
        }
        retry(now)
        return output + takeDue(now)
    }

    mutating func takeNotified() -> [@Sendable () -> Void] {
        defer { notified = [] }
        return notified
    }

    private mutating func runEvents(_ now: TapInstant) {
        let past = events.filter { $0.at <= now }.sorted { $0.at < $1.at }
        events.removeAll { $0.at <= now }
        for event in past { event.body(&chip) }
    }

    /// - Returns: the acknowledgement.
    private mutating func accept(_ command: [UInt8], _ now: TapInstant) -> [UInt8] {
        log.append(PN532LogEntry(at: now, direction: .fromHost, data: command))
        notified += observers.filter { $0.code == command.first }.map(\.body)
        observers.removeAll { $0.code == command.first }
        var fault = damage
        if let index = faults.firstIndex(where: { $0.code == command.first }) {
            faults[index].skipped -= 1
            if faults[index].skipped < 0 { fault = faults.remove(at: index).fault }
        }
        if fault == .cardGone { chip.removeActive() }
        if case .status(let status) = fault {
            queue(status.answer(to: command), at: now, fault: nil)
            return PN532Frame.ack
        }
        if fault == .noAcknowledge { return [] }
        react(to: command, now, fault)
        return PN532Frame.ack
    }

    private mutating func react(to command: [UInt8], _ now: TapInstant, _ fault: PN532Fault?) {
        switch chip.execute(command) {
        case .answer(let data, let milliseconds):
            queue(data, at: now.advanced(byMilliseconds: milliseconds), fault: fault)
        case .wait(let milliseconds, let otherwise):
            waiting = (command, milliseconds.map { now.advanced(byMilliseconds: $0) }, otherwise)
        case .syntaxError:
            due.append((now, [], PN532Frame.error))
        }
    }

    private mutating func retry(_ now: TapInstant) {
        guard let wait = waiting else { return }
        if case .answer(let data, _) = chip.execute(wait.command) {
            waiting = nil
            queue(data, at: now, fault: nil)
        } else if let until = wait.until, until <= now {
            waiting = nil
            queue(wait.otherwise, at: now, fault: nil)
        }
    }

    private mutating func queue(_ data: [UInt8], at instant: TapInstant, fault: PN532Fault?) {
        var at = instant.advanced(byMilliseconds: delayMilliseconds)
        var frame = PN532Frame.answer(data)
        switch fault {
        case .wrongChecksum: frame[frame.count - 2] ^= 0x01
        case .truncated: frame.removeLast(4)
        case .byteLost: frame.remove(at: frame.count / 2)
        case .mute: return
        case .garbage: frame = (0..<40).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
        case .otherAnswer: frame = PN532Frame.answer([0x33])
        case .errorFrame: frame = PN532Frame.error
        case .late(let milliseconds): at = at.advanced(byMilliseconds: milliseconds)
        case .status, .noAcknowledge, .cardGone, nil: break
        }
        due.append((at, data, frame))
    }

    private mutating func takeDue(_ now: TapInstant) -> [UInt8] {
        let ready = due.filter { $0.at <= now }
        due.removeAll { $0.at <= now }
        for answer in ready { log.append(PN532LogEntry(at: now, direction: .fromChip, data: answer.data)) }
        return ready.flatMap(\.frame)
    }
}
