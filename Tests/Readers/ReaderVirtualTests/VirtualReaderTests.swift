// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Foundation
import ReaderCore
import ReaderVirtual
import Testing

@Suite("The virtual reader", .timeLimit(.minutes(5)))
struct VirtualReaderTests {
    @Test func `A card that lies there is activated and answers`() throws {
        let desk = try Desk("present one")
        #expect(try desk.activate() == .card(CountingCard(name: 1).activation))
        #expect(try desk.ask() == [1, 1])
        #expect(try desk.ask() == [1, 2])
    }

    @Test func `A card that comes later wakes the reader at once`() throws {
        let desk = try Desk()
        desk.onceWaiting { [control = desk.control] in _ = control.answer(to: "present two") }
        #expect(try desk.activate(within: 60_000) == .card(CountingCard(name: 2).activation))
    }

    @Test func `An empty field ends the wait at the deadline, not before`() throws {
        let desk = try Desk()
        let deadline = Desk.soon(30)
        #expect(throws: ReaderError.timedOut) {
            try desk.reader.activate(until: deadline, cancellation: TapCancellation())
        }
        #expect(monotonicNow() >= deadline)
    }

    @Test func `Cancelling wakes the reader at once`() throws {
        let desk = try Desk()
        let cancellation = TapCancellation()
        desk.onceWaiting { cancellation.cancel() }
        #expect(throws: ReaderError.cancelled) {
            try desk.reader.activate(until: Desk.soon(60_000), cancellation: cancellation)
        }
    }

    @Test func `A wait cancelled before it begins does not touch the card`() throws {
        let desk = try Desk("present one")
        let cancellation = TapCancellation()
        cancellation.cancel()
        #expect(throws: ReaderError.cancelled) {
            try desk.reader.activate(until: Desk.soon(), cancellation: cancellation)
        }
        #expect(desk.control.answer(to: "state").contains("field=off"))
    }

    @Test func `A new activation is a new session of the same card`() throws {
        let desk = try Desk("present one")
        try desk.activate()
        _ = try desk.ask()
        desk.reader.release()
        #expect(throws: ReaderError.cardLost) { try desk.ask() }
        try desk.activate()
        #expect(try desk.ask() == [1, 1])
    }

    @Test func `A card taken away is torn, and its successor must be activated`() throws {
        let desk = try Desk("present one")
        try desk.activate()
        try desk.control.obey("remove")
        #expect(throws: ReaderError.cardLost) { try desk.ask() }
        try desk.control.obey("present two")
        #expect(throws: ReaderError.cardLost) { try desk.ask() }
        try desk.activate()
        #expect(try desk.ask() == [2, 1])
    }

    @Test func `A swap leaves no gap, but tears the first card`() throws {
        let desk = try Desk("present one")
        try desk.activate()
        try desk.control.obey("swap two")
        #expect(throws: ReaderError.cardLost) { try desk.ask() }
        #expect(try desk.activate() == .card(CountingCard(name: 2).activation))
    }

    @Test func `Two cards collide until they are removed`() throws {
        let desk = try Desk("present one", "collide")
        #expect(try desk.activate() == .collision)
        #expect(throws: ReaderError.cardLost) { try desk.ask() }
        #expect(throws: ReaderError.timedOut) {
            try desk.reader.waitForRemoval(until: Desk.soon(10), cancellation: TapCancellation())
        }
        try desk.control.obey("remove")
        #expect(try desk.activate() == .emptied)
        #expect(throws: ReaderError.timedOut, "it is told once") { try desk.activate(within: 10) }
        try desk.control.obey("present one")
        #expect(try desk.activate() == .card(CountingCard(name: 1).activation))
    }

    @Test("R1: that a card has left is told once, and that it lies there still is not")
    func leaves() throws {
        let desk = try Desk("present one")
        #expect(try desk.activate() == .card(CountingCard(name: 1).activation))
        #expect(try desk.activate() == .card(CountingCard(name: 1).activation))
        try desk.control.obey("remove")
        #expect(try desk.activate() == .emptied)
        #expect(throws: ReaderError.timedOut) { try desk.activate(within: 10) }
        try desk.control.obey("present one")
        try desk.activate()
        desk.reader.release()
        try desk.control.obey("remove")
        try desk.reader.waitForRemoval(until: Desk.soon(), cancellation: TapCancellation())
        #expect(throws: ReaderError.timedOut, "whoever waited for it knows it") { try desk.activate(within: 10) }
    }

    @Test("R12: two cards are told of once, and the wait for one of them ends in time")
    func collision() throws {
        let desk = try Desk("present one", "collide")
        #expect(try desk.activate() == .collision)
        #expect(throws: ReaderError.timedOut) { try desk.activate(within: 10) }
    }

    @Test func `Removal of the released card is waited for`() throws {
        let desk = try Desk("present one")
        try desk.activate()
        desk.reader.release()
        #expect(throws: ReaderError.timedOut) {
            try desk.reader.waitForRemoval(until: Desk.soon(10), cancellation: TapCancellation())
        }
        let control = desk.control
        Thread.detachNewThread { _ = control.answer(to: "remove") }
        try desk.reader.waitForRemoval(until: Desk.soon(60_000), cancellation: TapCancellation())
    }

    @Test func `Another card in its place means that the released one has left`() throws {
        let desk = try Desk("present one")
        try desk.activate()
        desk.reader.release()
        try desk.control.obey("swap two")
        try desk.reader.waitForRemoval(until: Desk.soon(), cancellation: TapCancellation())
    }

    @Test func `The wait for removal can be cancelled`() throws {
        let desk = try Desk("present one")
        try desk.activate()
        let cancellation = TapCancellation()
        Thread.detachNewThread { cancellation.cancel() }
        #expect(throws: ReaderError.cancelled) {
            try desk.reader.waitForRemoval(until: Desk.soon(60_000), cancellation: cancellation)
        }
    }

    @Test func `Delayed answers come after the delay`() throws {
        let desk = try Desk("present one", "delay 30")
        try desk.activate()
        let begin = monotonicNow()
        #expect(try desk.ask() == [1, 1])
        #expect(monotonicNow().nanoseconds(since: begin) >= 30_000_000)
    }

    @Test func `An answer later than the deadline is a time-out at the deadline`() throws {
        let desk = try Desk("present one", "delay 60000")
        try desk.activate()
        #expect(throws: ReaderError.timedOut) { try desk.ask(within: 20) }
        try desk.control.obey("delay 0")
        #expect(try desk.ask() == [1, 2])
        #expect(throws: ReaderError.timedOut) { try desk.ask(p1: 0x01, p2: 255, within: 20) }
    }

    @Test func `A card removed during its delay is torn at once`() throws {
        let desk = try Desk("present one", "delay 60000")
        try desk.activate()
        let control = desk.control
        Thread.detachNewThread { _ = control.answer(to: "remove") }
        #expect(throws: ReaderError.cardLost) { try desk.ask(within: 60_000) }
    }

    @Test func `A card that leaves by itself, or answers without a status word, is torn`() throws {
        let desk = try Desk("present one")
        try desk.activate()
        #expect(throws: ReaderError.cardLost) { try desk.ask(p1: 0x03) }
        #expect(throws: ReaderError.cardLost) { try desk.ask(p1: 0x02) }
        #expect(desk.control.answer(to: "state").contains("card=-"))
    }

    @Test func `A reader that hangs answers nothing, not even a cancellation, until it is resumed`() throws {
        let desk = try Desk("present one")
        try desk.control.obey("hang")
        let cancellation = TapCancellation()
        cancellation.cancel()
        let control = desk.control
        Thread.detachNewThread {
            _ = control.answer(to: "remove")
            _ = control.answer(to: "resume")
        }
        #expect(throws: ReaderError.cancelled) {
            try desk.reader.activate(until: monotonicNow(), cancellation: cancellation)
        }
        // It came back after the resume, not before: the card had gone first.
        #expect(control.answer(to: "state").contains("card=-"))
    }

    @Test func `A detached reader does nothing until it is attached`() throws {
        let desk = try Desk("present one")
        try desk.activate()
        try desk.control.obey("detach")
        #expect(throws: ReaderError.detached) { try desk.ask() }
        #expect(throws: ReaderError.detached) { try desk.activate() }
        #expect(throws: ReaderError.detached) {
            try desk.reader.waitForRemoval(until: Desk.soon(), cancellation: TapCancellation())
        }
        try desk.control.obey("attach")
        #expect(throws: ReaderError.cardLost) { try desk.ask() }
        try desk.activate()
        #expect(try desk.ask() == [1, 1])
    }

    @Test func `Detaching ends a wait at once`() throws {
        let desk = try Desk()
        desk.onceWaiting { [control = desk.control] in _ = control.answer(to: "detach") }
        #expect(throws: ReaderError.detached) { try desk.activate(within: 60_000) }
    }

    @Test func `A closed reader is of no use, a new one on the same control is`() throws {
        let desk = try Desk("present one")
        desk.reader.close()
        #expect(throws: ReaderError.detached) { try desk.activate() }
        let next = VirtualReader(desk.control)
        let presence = try next.activate(until: Desk.soon(), cancellation: TapCancellation())
        #expect(presence == .card(CountingCard(name: 1).activation))
    }

    @Test(arguments: ReaderFeedback.allCases) func `What a person would see is in the state`(shown: ReaderFeedback)
        throws
    {
        let desk = try Desk()
        desk.reader.show(shown)
        #expect(desk.control.answer(to: "state").hasSuffix("feedback=\(shown.rawValue)"))
    }

    @Test func `The identity says that the reader is virtual`() throws {
        let control = try VirtualReaderControl(name: "lane-2", card: CountingCard.named)
        #expect(VirtualReader(control).identity.driver == .virtual)
        #expect(VirtualReader(control).identity.name == "lane-2")
    }
}
