// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import ReaderCore
import ReaderNFC
import Rigs
import Testing

@Suite("Cards through libnfc", .timeLimit(.minutes(5)))
struct CardTests {
    @Test func `The chip names itself`() throws {
        let bench = try Bench()
        #expect(bench.reader.identity.model == "PN532")
        #expect(bench.reader.identity.firmware == "1.6")
        #expect(bench.reader.identity.driver == .libnfc)
        #expect(bench.reader.identity.name == bench.emulator.connectionString)
    }

    @Test(arguments: [InstructionCard.typeA, .otherTypeA, .typeB])
    func `A card is activated as what it is`(card: InstructionCard) throws {
        let bench = try Bench(card)
        #expect(try bench.activate() == .card(card.activation))
        #expect(try bench.echoes())
    }

    @Test func `A card that comes later ends the wait`() throws {
        let bench = try Bench()
        bench.emulator.insert(InstructionCard.typeB, afterMilliseconds: 60)
        #expect(try bench.activate() == .card(InstructionCard.typeB.activation))
    }

    @Test func `An empty field ends the wait at the deadline`() throws {
        let bench = try Bench()
        let deadline = Bench.soon(80)
        #expect(throws: ReaderError.timedOut) {
            try bench.reader.activate(until: deadline, cancellation: TapCancellation())
        }
        #expect(monotonicNow() >= deadline)
    }

    @Test func `A cancelled wait ends at once and leaves the reader usable`() throws {
        let bench = try Bench()
        let cancellation = TapCancellation()
        bench.emulator.whenReceived(0x4A) { cancellation.cancel() }
        #expect(throws: ReaderError.cancelled) {
            try bench.reader.activate(until: Bench.soon(30_000), cancellation: cancellation)
        }
        bench.emulator.insert(InstructionCard.typeA)
        #expect(try bench.activate() == .card(InstructionCard.typeA.activation))
    }

    @Test func `A wait cancelled before it begins does not begin`() throws {
        let bench = try Bench(InstructionCard.typeA)
        let cancellation = TapCancellation()
        cancellation.cancel()
        #expect(throws: ReaderError.cancelled) {
            try bench.reader.activate(until: Bench.soon(), cancellation: cancellation)
        }
    }

    @Test("R1: that a card has left is told once, and a lost answer leaves it where it is")
    func leaves() throws {
        let bench = try Bench(InstructionCard.typeA)
        #expect(try bench.activate() == .card(InstructionCard.typeA.activation))
        bench.emulator.fault(.status(.checksum))
        #expect(throws: ReaderError.cardLost) { try bench.transmit(.echo([1])) }
        #expect(try bench.activate() == .card(InstructionCard.typeA.activation))
        bench.emulator.remove()
        #expect(try bench.activate() == .emptied)
        #expect(throws: ReaderError.timedOut) { try bench.activate(within: 100) }
    }

    @Test("R1: a tag that takes no commands is known by its SAK", arguments: [0x00, 0x08, 0x18] as [UInt8])
    func tag(sak: UInt8) throws {
        var tag = InstructionCard.memory
        tag.activation.sak = sak
        let bench = try Bench(tag)
        guard case .card(let card) = try bench.activate() else { Issue.record("no card"); return }
        #expect(card.sak == sak && card.takesCommands == false)
        #expect(InstructionCard.typeA.activation.takesCommands == true)
        #expect(InstructionCard.typeB.activation.takesCommands == true)
    }

    @Test(arguments: [(InstructionCard.typeA, InstructionCard.otherTypeA), (.typeA, .typeB)])
    func `Two cards collide, and one of them alone is activated`(
        first: InstructionCard, second: InstructionCard
    ) throws {
        let bench = try Bench(first, second)
        #expect(try bench.activate() == .collision)
        #expect(throws: ReaderError.timedOut, "R12: they are told of once") { try bench.activate(within: 300) }
        bench.emulator.remove()
        #expect(try bench.activate() == .emptied)
        #expect(throws: ReaderError.timedOut, "it is told once") { try bench.activate(within: 300) }
        bench.emulator.swap(second)
        #expect(try bench.activate() == .card(second.activation))
        #expect(try bench.echoes())
    }

    /// At the edge of the field: it answers the search for other cards, and is gone when it is to be selected.
    @Test
    func `R5: a card that answers and cannot be selected is told of after a second, once, and the next one is read`()
        throws
    {
        let bench = try Bench()
        let begun = monotonicNow()
        bench.emulator.insert(PN532Card(InstructionCard.typeA, searchesPerAnswer: 8))
        #expect(try bench.activate() == .unreadable)
        #expect(monotonicNow() >= begun.advanced(byMilliseconds: 1_000))
        #expect(throws: ReaderError.timedOut, "told already") { _ = try bench.activate(within: 1_500) }
        bench.emulator.swap(InstructionCard.typeB)
        var presence = try bench.activate()
        if presence == .emptied { presence = try bench.activate() }
        #expect(presence == .card(InstructionCard.typeB.activation))
        #expect(try bench.echoes())
    }

    @Test(arguments: [0, 1, 51, 100, 254, 255, 256])
    func `Answers of every length arrive whole`(length: Int) throws {
        let bench = try Bench(InstructionCard.typeA)
        _ = try bench.activate()
        let response = try bench.transmit(.instruction(0x02, length))
        #expect(response.data == (0..<length).map { UInt8(truncatingIfNeeded: $0) })
        #expect(response.status == .success)
    }

    @Test(arguments: [64, 100, 257])
    func `An answer that the chip hands over in pieces arrives whole`(piece: Int) throws {
        let bench = try Bench()
        bench.emulator.insert(PN532Card(InstructionCard.typeA, piece: piece))
        _ = try bench.activate()
        #expect(try bench.transmit(.instruction(0x02, 256)).data == (0..<256).map { UInt8($0) })
        #expect(try bench.echoes())
    }

    @Test func `The longest short command reaches the card whole`() throws {
        let bench = try Bench(InstructionCard.typeA)
        _ = try bench.activate()
        let command = try CommandAPDU(
            cla: 0xE0, ins: 0x0A, p1: 0, p2: 0, data: [UInt8](repeating: 0x5A, count: 255), le: 256)
        #expect(try bench.transmit(command).data == [0, 0, 1, 5])
    }

    @Test func `An answer that the chip cannot hold is the reader's fault, and the next one is right`() throws {
        let bench = try Bench(InstructionCard.typeA)
        _ = try bench.activate()
        #expect(throws: ReaderError.faulty(code: -90)) { try bench.transmit(.instruction(0x02, 300)) }
        #expect(try bench.echoes())
    }

    @Test(arguments: [0x06])
    func `An answer without a status word is a torn card`(ins: UInt8) throws {
        let bench = try Bench(InstructionCard.typeA)
        _ = try bench.activate()
        #expect(throws: ReaderError.cardLost) { try bench.transmit(.instruction(ins)) }
        #expect(try bench.echoes())
    }

    @Test func `A card that is no ISO-DEP card is shown, but takes no command`() throws {
        let bench = try Bench(InstructionCard.memory)
        #expect(try bench.activate() == .card(InstructionCard.memory.activation))
        #expect(throws: ReaderError.cardLost) { try bench.echoes() }
        #expect(!bench.emulator.log.contains { $0.direction == .fromHost && $0.data.first == 0x40 })
    }

    @Test(arguments: [InstructionCard.typeA, .typeB])
    func `Presence follows the card`(card: InstructionCard) throws {
        let bench = try Bench(card)
        _ = try bench.activate()
        #expect(try bench.reader.isCardPresent(until: Bench.soon()))
        bench.emulator.remove()
        #expect(try !bench.reader.isCardPresent(until: Bench.soon()))
    }

    @Test func `Release switches the field off`() throws {
        let bench = try Bench(InstructionCard.typeA)
        _ = try bench.activate()
        #expect(bench.emulator.isFieldOn)
        bench.reader.release()
        #expect(!bench.emulator.isFieldOn)
        #expect(try bench.activate() == .card(InstructionCard.typeA.activation))
    }

    @Test func `Removal is seen, also of a card that was released`() throws {
        let bench = try Bench(InstructionCard.typeA)
        _ = try bench.activate()
        bench.reader.release()
        #expect(throws: ReaderError.timedOut) {
            try bench.reader.waitForRemoval(until: Bench.soon(80), cancellation: TapCancellation())
        }
        bench.emulator.remove(afterMilliseconds: 60)
        try bench.reader.waitForRemoval(until: Bench.soon(), cancellation: TapCancellation())
        #expect(!bench.emulator.isFieldOn)
    }

    @Test func `The wait for removal can be cancelled`() throws {
        let bench = try Bench(InstructionCard.typeA)
        _ = try bench.activate()
        let cancellation = TapCancellation()
        bench.emulator.whenReceived(0x4A) { cancellation.cancel() }
        #expect(throws: ReaderError.cancelled) {
            try bench.reader.waitForRemoval(until: Bench.soon(30_000), cancellation: cancellation)
        }
    }

    @Test func `Closing gives the chip back`() throws {
        let bench = try Bench(InstructionCard.typeA)
        _ = try bench.activate()
        bench.reader.close()
        #expect(bench.emulator.log.last { $0.direction == .fromHost }?.data == [0x16, 0xF0])
        #expect(bench.reader.lastWorkerEnd == .exited(0))
        #expect(throws: ReaderError.detached) { try bench.activate() }
    }
}
