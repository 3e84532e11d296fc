// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ReaderVirtual
import Testing

@Suite("Commands of the virtual reader")
struct VirtualCommandTests {
    static let good: [(line: String, command: VirtualCommand)] = [
        ("present visa", .present("visa")), ("swap mastercard", .swap("mastercard")), ("remove", .remove),
        ("collide", .collide), ("delay 0", .delay(milliseconds: 0)), ("delay 60000", .delay(milliseconds: 60_000)),
        ("fault card-gone after 0", .fault(VirtualFault(.cardGone, at: 1))),
        ("fault card-gone after 3", .fault(VirtualFault(.cardGone, at: 4))),
        ("fault status 6a82 at 2", .fault(VirtualFault(.status(0x6A82), at: 2))),
        ("fault mute at 1", .fault(VirtualFault(.mute, at: 1))),
        ("fault garbage at 10000", .fault(VirtualFault(.garbage, at: 10_000))), ("fault none", .clearFaults),
        ("detach", .detach), ("attach", .attach), ("hang", .hang),
        ("resume", .resume), ("state", .state), ("  present \t visa \r\n", .present("visa")),
    ]

    @Test(arguments: good) func `Every command is understood`(line: String, command: VirtualCommand) throws {
        #expect(try VirtualCommand(line) == command)
    }

    static let bad: [(line: String, error: VirtualCommandError)] = [
        ("", .missing(.command)), ("   ", .missing(.command)), ("presnt visa", .unknownCommand("presnt")),
        ("PRESENT visa", .unknownCommand("PRESENT")), ("present", .missing(.cardName)), ("swap", .missing(.cardName)),
        ("present visa now", .unexpected("now", after: "present")),
        ("remove visa", .unexpected("visa", after: "remove")),
        ("delay", .missing(.milliseconds)), ("delay -1", .notInRange("-1", .milliseconds, least: 0, most: 60_000)),
        ("delay 60001", .notInRange("60001", .milliseconds, least: 0, most: 60_000)),
        ("delay 99999999999999999999", .notInRange("99999999999999999999", .milliseconds, least: 0, most: 60_000)),
        ("fault", .missing(.fault)), ("fault smoke", .unknownFault("smoke")),
        ("fault mute", .expected("at", found: nil)), ("fault mute after 1", .expected("at", found: "after")),
        ("fault mute at 0", .notInRange("0", .count, least: 1, most: 10_000)),
        ("fault card-gone after 10000", .notInRange("10000", .count, least: 0, most: 9_999)),
        ("fault status 6A8 at 1", .notAStatusWord("6A8")), ("fault status 6A8G at 1", .notAStatusWord("6A8G")),
        ("fault status at 1", .notAStatusWord("at")), ("fault none at 1", .unexpected("at", after: "fault")),
        (String(repeating: "x", count: 257), .tooLong),
    ]

    @Test(arguments: bad) func `A wrong word is named`(line: String, error: VirtualCommandError) {
        #expect(throws: error) { try VirtualCommand(line) }
    }

    @Test func `An error says what to write instead`() throws {
        let desk = try Desk("present one")
        #expect(desk.control.answer(to: "present three").hasSuffix("named 'three': write one of one, two"))
        #expect(desk.control.answer(to: "present two").hasSuffix("use swap, or remove it first"))
        #expect(desk.control.answer(to: "delay soon").hasSuffix("write a whole number from 0 to 60000"))
        #expect(desk.control.answer(to: "fault status 1 at 1").contains("'1' is not a status word"))
    }

    @Test func `A refused command changes nothing`() throws {
        let desk = try Desk("present one")
        let before = desk.control.answer(to: "state")
        for line in ["present two", "swap three", "delay x", "fault mute at 0"] {
            #expect(desk.control.answer(to: line).hasPrefix("error "))
        }
        #expect(desk.control.answer(to: "state") == before)
    }

    @Test func `Nothing to collide with is an error, nothing to remove is not`() throws {
        let desk = try Desk()
        #expect(throws: VirtualCommandError.noCard) { try desk.control.obey("collide") }
        try desk.control.obey("remove")
    }

    @Test func `The state has the same keys in the same order`() throws {
        let desk = try Desk("present one", "delay 7", "fault mute at 2")
        try desk.activate()
        #expect(
            desk.control.answer(to: "state")
                == "ok attached=yes field=on card=one active=yes collision=no delay=7 faults=1 broadcast=- feedback=idle"
        )
        try desk.control.obey("collide")
        try desk.control.obey("detach")
        #expect(
            desk.control.answer(to: "state")
                == "ok attached=no field=off card=one active=no collision=yes delay=7 faults=1 broadcast=- feedback=idle"
        )
    }
}
