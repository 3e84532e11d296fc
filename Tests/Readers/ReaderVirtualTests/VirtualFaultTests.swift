// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ReaderCore
import ReaderVirtual
import Testing

@Suite("Faults of the virtual reader", .timeLimit(.minutes(5)))
struct VirtualFaultTests {
    @Test(arguments: [0, 1, 3]) func `The card is gone after so many answers`(answers: Int) throws {
        let desk = try Desk("present one", "fault card-gone after \(answers)")
        try desk.activate()
        for number in 0..<answers { #expect(try desk.ask() == [1, UInt8(number + 1)]) }
        #expect(throws: ReaderError.cardLost) { try desk.ask() }
        #expect(try desk.activate(within: 5) == .emptied)
        #expect(throws: ReaderError.timedOut) { try desk.activate(within: 5) }
    }

    @Test func `A status word comes at its command, once, and the card does not see the command`() throws {
        let desk = try Desk("present one", "fault status 6985 at 2")
        try desk.activate()
        #expect(try desk.ask() == [1, 1])
        let command = try CommandAPDU(cla: 0, ins: 1, p1: 0, p2: 0)
        #expect(try desk.reader.transmit(command, until: Desk.soon()) == ResponseAPDU(status: 0x6985))
        #expect(try desk.ask() == [1, 2])
    }

    @Test func `A mute card is a time-out at the deadline`() throws {
        let desk = try Desk("present one", "fault mute at 1")
        try desk.activate()
        let deadline = Desk.soon(20)
        let command = try CommandAPDU(cla: 0, ins: 1, p1: 0, p2: 0)
        #expect(throws: ReaderError.timedOut) { try desk.reader.transmit(command, until: deadline) }
        #expect(monotonicNow() >= deadline)
        #expect(try desk.ask() == [1, 1])
    }

    @Test func `Garbage has status 9000 and is no TLV`() throws {
        let desk = try Desk("present one", "fault garbage at 1")
        try desk.activate()
        let command = try CommandAPDU(cla: 0, ins: 1, p1: 0, p2: 0)
        let response = try desk.reader.transmit(command, until: Desk.soon())
        #expect(response.status == .success)
        #expect(throws: TLVError.self) { try TLV.nodes(response.data) }
    }

    @Test func `Faults count from when they are armed, and several may wait`() throws {
        let desk = try Desk("present one")
        try desk.activate()
        _ = try desk.ask()
        try desk.control.obey("fault status 6A82 at 2")
        try desk.control.obey("fault card-gone after 2")
        #expect(try desk.ask() == [1, 2])
        #expect(try desk.ask() == [])
        #expect(throws: ReaderError.cardLost) { try desk.ask() }
    }

    @Test func `Faults that have not happened can be called off`() throws {
        let desk = try Desk("present one", "fault mute at 1", "fault none")
        try desk.activate()
        #expect(try desk.ask() == [1, 1])
        #expect(desk.control.answer(to: "state").contains("faults=0"))
    }

    @Test func `Only so many faults can wait`() throws {
        let desk = try Desk()
        for _ in 0..<VirtualFault.most { try desk.control.obey("fault mute at 9") }
        #expect(throws: VirtualCommandError.tooManyFaults(most: VirtualFault.most)) {
            try desk.control.obey("fault mute at 9")
        }
    }
}
