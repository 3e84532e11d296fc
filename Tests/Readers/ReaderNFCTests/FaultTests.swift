// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Glibc
import ReaderCore
import ReaderNFC
import Rigs
import Testing

@Suite("Faults of chip and line", .timeLimit(.minutes(5)))
struct FaultTests {
    /// With libnfc's numbers: NFC_EMFCAUTHFAIL, NFC_EINVARG, NFC_ECHIP.
    static let chipStatuses: [(status: PN532Status, code: Int64)] = [
        (.authentication, -30), (.commandNotAcceptable, -2), (.invalidParameter, -2), (.operationNotAllowed, -2),
        (.bufferTooSmall, -90), (.bufferOverflow, -90), (.temperature, -90), (.internalBufferOverflow, -90),
        (.overCurrent, -90),
    ]
    static let cardStatuses = PN532Status.allCases.filter { one in !chipStatuses.contains { $0.status == one } }

    @Test(arguments: cardStatuses)
    func `A chip status that speaks of the card is a torn card`(status: PN532Status) throws {
        let bench = try Bench(InstructionCard.typeA)
        _ = try bench.activate()
        bench.emulator.fault(.status(status))
        #expect(throws: ReaderError.cardLost) { try bench.echoes() }
        #expect(try bench.activate() == .card(InstructionCard.typeA.activation))
        #expect(try bench.echoes())
    }

    @Test(arguments: chipStatuses)
    func `A chip status that speaks of the chip is the reader's fault`(status: PN532Status, code: Int64) throws {
        let bench = try Bench(InstructionCard.typeA)
        _ = try bench.activate()
        bench.emulator.fault(.status(status))
        #expect(throws: ReaderError.faulty(code: code)) { try bench.echoes() }
        #expect(try bench.echoes())
    }

    @Test(arguments: [PN532Fault.wrongChecksum, .garbage, .otherAnswer, .errorFrame])
    func `A damaged answer is a torn card, and the next one is right`(fault: PN532Fault) throws {
        let bench = try Bench(InstructionCard.typeA)
        _ = try bench.activate()
        bench.emulator.fault(fault)
        #expect(throws: ReaderError.cardLost) { try bench.echoes() }
        #expect(try bench.echoes())
    }

    @Test(arguments: [PN532Fault.truncated, .mute, .noAcknowledge])
    func `A missing answer is a time-out, and the card works again once it is activated`(fault: PN532Fault) throws {
        let bench = try Bench(InstructionCard.typeA)
        _ = try bench.activate()
        bench.emulator.fault(fault)
        #expect(throws: ReaderError.timedOut) { try bench.transmit(.echo([1]), within: 120) }
        #expect(try bench.activate() == .card(InstructionCard.typeA.activation))
        #expect(try bench.echoes())
    }

    @Test func `A late answer is never taken for that of the next command`() throws {
        let bench = try Bench(InstructionCard.typeA)
        _ = try bench.activate()
        let answered = bench.emulator.log.count { $0.direction == .fromChip }
        // Late by far: on a busy machine the deadline itself is met late.
        bench.emulator.fault(.late(milliseconds: 2_000))
        #expect(throws: ReaderError.timedOut) { try bench.transmit(.echo([1]), within: 50) }
        // A chip works on one command at a time: what it says late, it says before the next one.
        while bench.emulator.log.count(where: { $0.direction == .fromChip }) == answered { usleep(1_000) }
        #expect(throws: ReaderError.cardLost) { try bench.transmit(.instruction(0x04, 300)) }
        #expect(try bench.activate() == .card(InstructionCard.typeA.activation))
        #expect(try bench.echoes())
    }

    @Test func `A card that leaves in mid-command is a torn card`() throws {
        let bench = try Bench(InstructionCard.typeA)
        _ = try bench.activate()
        bench.emulator.fault(.cardGone)
        #expect(throws: ReaderError.cardLost) { try bench.echoes() }
        #expect(try bench.activate(within: 50) == .emptied)
        #expect(throws: ReaderError.timedOut) { try bench.activate(within: 50) }
    }

    @Test func `A slow card is waited for until the deadline`() throws {
        let bench = try Bench(InstructionCard.typeA)
        _ = try bench.activate()
        // Longer than the 350 ms that libnfc waits when nobody tells it otherwise.
        #expect(try bench.transmit(.instruction(0x04, 500)).status == .success)
        #expect(throws: ReaderError.timedOut) { try bench.transmit(.instruction(0x04, 2_000), within: 100) }
    }

    @Test func `Damaged answers without end are a reader that is gone`() throws {
        let bench = try Bench(InstructionCard.typeA)
        _ = try bench.activate()
        bench.emulator.damage(.garbage)
        #expect(throws: ReaderError.cardLost) { try bench.echoes() }
        #expect(throws: ReaderError.cardLost) { try bench.echoes() }
        #expect(throws: ReaderError.detached) { try bench.echoes() }
    }

    @Test("R22: a chip that has failed three times in a row while a card was read, and answers again, is not gone")
    func slowWhileReading() throws {
        let bench = try Bench(InstructionCard.typeA)
        _ = try bench.activate()
        for _ in 0..<3 { bench.emulator.fault(.garbage) }
        for _ in 0..<3 { #expect(throws: ReaderError.cardLost) { try bench.echoes() } }
        #expect(try bench.activate() == .card(InstructionCard.typeA.activation))
        #expect(try bench.echoes())
        #expect(bench.emulator.faultsToCome == 0)
    }

    @Test(
        "R22: a chip that has failed while it looks for a card, and when it is set up anew, is not gone once it answers",
        arguments: [(PN532Fault.otherAnswer, 0), (.garbage, 1), (.otherAnswer, 2)])
    func slowWhileSearching(fault: PN532Fault, times: Int) throws {
        let bench = try Bench()
        // A look is two searches: of type A and of type B.
        for _ in 0..<3 { bench.emulator.fault(fault, at: 0x4A) }
        // RFConfiguration, with which libnfc begins to set a chip up: first the field is switched off and on for the search.
        for time in 0..<times { bench.emulator.fault(.mute, at: 0x32, after: time == 0 ? 2 : 0) }
        bench.emulator.insert(InstructionCard.typeA)
        #expect(try bench.activate() == .card(InstructionCard.typeA.activation))
        #expect(try bench.echoes())
        #expect(bench.emulator.faultsToCome == 0)
        #expect(bench.reader.lastWorkerEnd == nil)
    }

    @Test("R22: a chip that does not answer the first time it is opened is there")
    func slowToOpen() throws {
        let emulator = try PN532Emulator.start()
        defer { emulator.unplug() }
        // Diagnose, by which libnfc's driver knows that somebody is there.
        emulator.fault(.mute, at: 0x00)
        emulator.insert(InstructionCard.typeA)
        let reader = try Bench.open(emulator)
        defer { reader.close() }
        let presence = try reader.activate(until: Bench.soon(), cancellation: TapCancellation())
        #expect(presence == .card(InstructionCard.typeA.activation))
        #expect(emulator.faultsToCome == 0)
    }

    @Test func `One damaged answer while looking for a card does not end the look`() throws {
        let bench = try Bench()
        bench.emulator.fault(.garbage, at: 0x4A)
        bench.emulator.whenReceived(0x4A) { [emulator = bench.emulator] in
            emulator.insert(InstructionCard.typeA, afterMilliseconds: 50)
        }
        #expect(try bench.activate() == .card(InstructionCard.typeA.activation))
    }
}
