// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import ReaderCore

/// What lies before a virtual reader, and what will go wrong. A value: no threads, no clock.
struct VirtualField {
    private struct Presented {
        let name: String
        /// Tells this presentation from any other, also of the same card.
        let serial: UInt64
        var card: any VirtualCard
    }

    /// What the reader does with a command.
    enum Reaction {
        case answer([UInt8], milliseconds: UInt64)
        case mute
        case lost
    }

    private(set) var isAttached = true
    private(set) var isOn = false
    private(set) var collides = false
    /// What the reader was told of last.
    private enum Told {
        case nothing, card, collision
    }

    private var told = Told.nothing
    private(set) var delayMilliseconds: UInt64 = 0
    var feedback = ReaderFeedback.idle
    /// What would go out in every polling loop if there were a radio.
    var broadcast: [UInt8] = []
    /// No call returns.
    var isHanging = false
    private var presented: Presented?
    private var activeSerial: UInt64?
    private var releasedSerial: UInt64?
    private var lastSerial: UInt64 = 0
    private var commands: UInt64 = 0
    private var faults: [(kind: VirtualFault.Kind, command: UInt64)] = []

    /// Whether a card is activated and still lies there.
    var isActive: Bool { isAttached && activeSerial != nil && activeSerial == presented?.serial }

    /// Whether the card that was active last still lies there.
    private var isReleasedCardPresent: Bool {
        collides || presented.map { $0.serial == activeSerial ?? releasedSerial } ?? false
    }

    /// `nil` as long as the card that was active last lies there.
    mutating func awaitRemoval() -> Void? {
        guard !isReleasedCardPresent else { return nil }
        told = .nothing
        return ()
    }

    // Commands of the person at the reader.

    mutating func present(_ card: any VirtualCard, named name: String) throws(VirtualCommandError) {
        if let presented { throw .cardPresent(presented.name) }
        swap(card, named: name)
    }

    mutating func swap(_ card: any VirtualCard, named name: String) {
        lastSerial &+= 1
        presented = Presented(name: name, serial: lastSerial, card: card)
    }

    mutating func remove() {
        presented = nil
        collides = false
    }

    mutating func collide() throws(VirtualCommandError) {
        guard presented != nil else { throw .noCard }
        collides = true
    }

    mutating func delay(milliseconds: UInt64) { delayMilliseconds = milliseconds }

    mutating func arm(_ fault: VirtualFault) throws(VirtualCommandError) {
        guard faults.count < VirtualFault.most else { throw .tooManyFaults(most: VirtualFault.most) }
        faults.append((fault.kind, commands &+ fault.at))
    }

    mutating func clearFaults() { faults = [] }

    mutating func detach() {
        isAttached = false
        switchOff()
    }

    mutating func attach() { isAttached = true }

    /// One line of `key=value` pairs, always the same keys in the same order.
    var summary: String {
        func yes(_ value: Bool) -> String { value ? "yes" : "no" }
        return "attached=\(yes(isAttached)) field=\(isOn ? "on" : "off") card=\(presented?.name ?? "-")"
            + " active=\(yes(isActive)) collision=\(yes(collides)) delay=\(delayMilliseconds) faults=\(faults.count)"
            + " broadcast=\(broadcast.isEmpty ? "-" : Hex.string(broadcast)) feedback=\(feedback.rawValue)"
    }

    // Calls of the reader.

    /// Raises the field. `nil` as long as nothing is there.
    mutating func activate() -> CardPresence? {
        isOn = true
        activeSerial = nil
        guard !collides else {
            defer { told = .collision }
            return told == .collision ? nil : .collision
        }
        guard var found = presented else {
            defer { told = .nothing }
            return told == .nothing ? nil : .emptied
        }
        told = .card
        found.card.powerOn()
        presented = found
        activeSerial = found.serial
        return .card(found.card.activation)
    }

    mutating func switchOff() {
        isOn = false
        releasedSerial = activeSerial ?? releasedSerial
        activeSerial = nil
    }

    mutating func react(to command: [UInt8]) -> Reaction {
        guard isActive, var found = presented else { return .lost }
        commands &+= 1
        let due = faults.first { $0.command == commands }
        faults.removeAll { $0.command == commands }
        switch due?.kind {
        case .cardGone: return leave()
        case .status(let status): return .answer(status.bytes, milliseconds: delayMilliseconds)
        case .mute: return .mute
        case .garbage: return .answer(VirtualFault.garbage, milliseconds: delayMilliseconds)
        case nil: break
        }
        let reply = found.card.answer(command)
        presented = found
        return switch reply {
        case .answer(let bytes): .answer(bytes, milliseconds: delayMilliseconds)
        case .late(let bytes, let pause):
            .answer(bytes, milliseconds: min(pause, VirtualCommand.longestDelay) + delayMilliseconds)
        case .gone: leave()
        }
    }

    private mutating func leave() -> Reaction {
        presented = nil
        return .lost
    }
}
