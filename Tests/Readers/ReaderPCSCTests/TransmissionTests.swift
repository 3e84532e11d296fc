// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import ReaderCore
import ReaderPCSC
import Rigs
import Testing

extension PCSCTests {
    @Suite struct TransmissionTests {
        @Test(arguments: ["6985", "6A82", "6283", "6110", "6C08", "9000"])
        func `a status word passes through unchanged`(status: String) throws {
            let live = try LiveReader("Status \(status)")
            try live.fake.insert(SmokeCard(), into: live.name)
            _ = try live.activate()
            #expect(try live.transmit("E003\(status)").status.description == status)
        }

        @Test(arguments: [0, 1, 254, 255, 256])
        func `an answer of any short length arrives whole`(count: Int) throws {
            let live = try LiveReader("Length \(count)")
            try live.fake.insert(SmokeCard(), into: live.name)
            _ = try live.activate()
            let answer = try live.transmit("E002" + Hex.string([UInt8(count >> 8), UInt8(count & 0xFF)]))
            #expect(answer.data == (0..<count).map { UInt8(truncatingIfNeeded: $0) })
        }

        @Test func `the longest command arrives whole`() throws {
            let live = try LiveReader("Long command")
            try live.fake.insert(SmokeCard(), into: live.name)
            _ = try live.activate()
            let command = "E00A0000FF" + String(repeating: "5A", count: 255) + "00"
            #expect(try live.transmit(command).data == [0, 0, 1, 5])
        }

        @Test(arguments: ["E006", "E007"])
        func `an answer without a whole status word is a lost card`(instruction: String) throws {
            let live = try LiveReader("Short \(instruction)")
            try live.fake.insert(SmokeCard(), into: live.name)
            _ = try live.activate()
            #expect(throws: ReaderError.cardLost) { _ = try live.transmit(instruction + "0000") }
        }

        @Test func `an answer longer than a short one is a lost card`() throws {
            let live = try LiveReader("Overlong")
            try live.fake.insert(SmokeCard(), into: live.name)
            _ = try live.activate()
            #expect(throws: ReaderError.cardLost) { _ = try live.transmit("E0020101") }
        }

        @Test func `a card that leaves in mid-command is lost, until another is presented`() throws {
            let live = try LiveReader("Torn")
            try live.fake.insert(SmokeCard(), into: live.name)
            _ = try live.activate()
            #expect(throws: ReaderError.cardLost) { _ = try live.transmit("E0050000") }
            #expect(throws: ReaderError.cardLost) { _ = try live.transmit(select) }
            #expect(try live.activate() == .emptied)
            #expect(throws: ReaderError.timedOut) { _ = try live.activate(milliseconds: 50) }
            try live.fake.insert(SmokeCard(), into: live.name)
            _ = try live.activate()
            #expect(try live.transmit(select).status == .success)
        }

        /// NO_SMARTCARD, NOT_TRANSACTED, COMM_DATA_LOST, UNRESPONSIVE, UNPOWERED, RESET, REMOVED.
        @Test(
            arguments: [
                0x8010_000C, 0x8010_0016, 0x8010_002F, 0x8010_0066, 0x8010_0067, 0x8010_0068, 0x8010_0069,
            ] as [UInt32])
        func `every way to lose a card is a lost card`(code: UInt32) throws {
            let live = try LiveReader("Lost \(code)")
            try live.fake.insert(SmokeCard(), into: live.name)
            _ = try live.activate()
            live.fake.force(.code(code), on: .transmit, reader: live.name)
            #expect(throws: ReaderError.cardLost) { _ = try live.transmit(select) }
            _ = try live.activate()
            #expect(try live.transmit(select).status == .success)
        }

        @Test func `a card that another program reset is lost, and can be activated again`() throws {
            let live = try LiveReader("Reset")
            try live.fake.insert(SmokeCard(), into: live.name)
            _ = try live.activate()
            live.fake.mark(live.name, with: PCSCCode.resetCard)
            #expect(throws: ReaderError.cardLost) { _ = try live.transmit(select) }
            _ = try live.activate()
            #expect(try live.transmit(select).status == .success)
        }

        @Test func `a swapped card never answers for the one before it`() throws {
            let live = try LiveReader("Swap")
            try live.fake.insert(TestCard(uid: [1, 1, 1, 1]), into: live.name)
            _ = try live.activate()
            try live.fake.swap(TestCard(uid: [2, 2, 2, 2]), in: live.name)
            #expect(throws: ReaderError.cardLost) { _ = try live.transmit(select) }
            _ = try live.activate()
            #expect(try live.transmit(select).data == [2, 2, 2, 2])
        }

        @Test func `an unknown code is the reader's own error, with the code`() throws {
            let live = try LiveReader("Strange")
            try live.fake.insert(SmokeCard(), into: live.name)
            _ = try live.activate()
            live.fake.force(.code(0x8010_0099), on: .transmit, reader: live.name)
            #expect(throws: ReaderError.faulty(code: 0x8010_0099)) { _ = try live.transmit(select) }
        }

        @Test func `a command without an active card is a lost card`() throws {
            let live = try LiveReader("Inactive")
            #expect(throws: ReaderError.cardLost) { _ = try live.transmit(select) }
            try live.fake.insert(SmokeCard(), into: live.name)
            _ = try live.activate()
            live.reader.release()
            #expect(throws: ReaderError.cardLost) { _ = try live.transmit(select) }
        }

        @Test func `a slow card has until the deadline`() throws {
            let live = try LiveReader("Slow")
            try live.fake.insert(SmokeCard(), into: live.name)
            _ = try live.activate()
            #expect(try live.transmit("E0040064").status == .success)
        }

        @Test func `a card that never answers costs the deadline and no more`() throws {
            let live = try LiveReader("Stuck")
            try live.fake.insert(SmokeCard(), into: live.name)
            _ = try live.activate()
            live.fake.force(.hang, on: .transmit, reader: live.name)
            noSooner(than: 60) {
                #expect(throws: ReaderError.timedOut) { _ = try live.transmit(select, milliseconds: 60) }
            }
            live.fake.forgetFaults(reader: live.name)
            #expect(try live.activate().isCard)
            #expect(try live.transmit(select).status == .success)
        }

        @Test func `an answer after the deadline is never taken for the next command's`() throws {
            let live = try LiveReader("Late")
            try live.fake.insert(SmokeCard(), into: live.name)
            _ = try live.activate()
            // Late by a second: on a busy machine the deadline itself is met late.
            #expect(throws: ReaderError.timedOut) { _ = try live.transmit("E00403E8", milliseconds: 30) }
            // The daemon still holds the card for the connection that was severed, until the card has answered.
            #expect(try live.activate().isCard)
            #expect(try live.transmit(select).data.count == 49)
        }

        @Test func `a release that gets no answer ends too`() throws {
            let live = try LiveReader("Stuck release")
            try live.fake.insert(SmokeCard(), into: live.name)
            _ = try live.activate()
            live.fake.force(.hang, on: .disconnect, reader: live.name)
            live.reader.release()
            #expect(try live.activate().isCard)
        }
    }
}
