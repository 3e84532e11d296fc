// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Foundation
import ReaderCore
import ReaderVirtual
import Rigs
import Testing

/// A lane's reader, and a customer before it.
protocol SweepDesk: Sendable {
    /// Of the lane.
    var lane: String { get }

    func insert(_ card: any VirtualCard)

    /// A card of the catalogue.
    func insert(named name: String) throws

    func remove()

    /// Takes back every fault, also one without end.
    func repair() throws

    /// Tones so far; `nil` where nobody can hear them.
    var tones: Int? { get }
}

extension SweepDesk {
    func insert(named name: String) throws { insert(try #require(CardCatalogue.card(named: name))) }

    var tones: Int? { nil }
}

/// A reader behind the unmodified pcscd.
struct IFDDesk: SweepDesk {
    let lane: String
    let reader: IFDReader
    let isHeard: Bool
    /// pcscd's.
    let socket: String

    func insert(_ card: any VirtualCard) { reader.insert(card) }

    func remove() { reader.remove() }

    func repair() {
        reader.forgetFaults()
        reader.plug()
    }

    var tones: Int? { isHeard ? reader.tones : nil }
}

/// A PN532 behind the unmodified libnfc.
struct PN532Desk: SweepDesk {
    let lane: String
    let emulator: PN532Emulator

    func insert(_ card: any VirtualCard) { emulator.insert(card) }

    func remove() { emulator.remove() }

    func repair() {
        emulator.forgetFaults()
        emulator.damage(nil)
        emulator.delay(milliseconds: 0)
    }
}

/// A virtual reader, by the words of its control socket.
struct VirtualDesk: SweepDesk {
    let lane: String
    let socket: String

    /// Cards of the catalogue alone are presented here.
    func insert(_ card: any VirtualCard) { Issue.record("a virtual reader takes a card by its name") }

    func insert(named name: String) throws { try tell("present \(name)") }

    func remove() { try? tell("remove") }

    func repair() throws {
        for command in ["fault none", "delay 0", "attach"] { try? tell(command) }
    }

    func tell(_ command: String) throws {
        let answer = try VirtualReaderSocket.send(
            command, to: socket, until: monotonicNow().advanced(byMilliseconds: 10_000))
        guard answer.hasPrefix("ok") else { throw Trouble.refused("\(command): \(answer)") }
    }
}
