// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ISO8583
import TestSupport
import Testing

@testable import AcquirerSimulator
@testable import PSPSandbox

@Suite("The simulated acquirer")
struct SimulatedHostTests {
    @Test func `nothing is done before the sign-on, nor after the sign-off`() throws {
        var rig = try HostRig(signsOn: false)
        #expect(rig.ask(try rig.payment(200, 1500, trace: 2)).first?.text(39) == "91")
        #expect(rig.host.book.bookings.isEmpty)
        rig = try HostRig()
        #expect(rig.ask(try rig.payment(200, 1500, trace: 2)).first?.text(39) == "00")
        #expect(rig.ask(try rig.payment(200, 1500, trace: 3), on: 2).first?.text(39) == "91")
        var leave = ISOMessage(rig.host.packager.network.type)
        leave.set(70, "002")
        #expect(rig.ask(leave).first?.text(39) == "00")
        #expect(rig.ask(try rig.payment(200, 1500, trace: 4)).first?.text(39) == "91")
        leave.set(70, "777")
        #expect(rig.ask(leave).first?.text(39) == rig.host.packager.network.refused)
    }

    @Test func `an amount is answered as the sandbox answers it`() throws {
        for digits in 0..<100 {
            let own = HostAmountRule(UInt64(1_200 + digits), lies: false)
            switch (AmountRule(minorUnits: Int64(1_200 + digits)), own) {
            case (.approve(let one), .approve(let other)): #expect(one == other, "\(digits)")
            case (.approveHalf, .approveHalf): break
            case (.decline(let code, _), .decline(let other)): #expect(code == other, "\(digits)")
            case (.fault(let one), .fault(let other)): #expect(one.rawValue == other.rawValue, "\(digits)")
            case (let one, let other): Issue.record("\(digits): \(one), \(other)")
            }
        }
    }

    @Test func `each fault is one of the answer, and what was approved is booked`() throws {
        var rig = try HostRig { $0.lies = true }
        var trace = 10
        func fault(_ digits: UInt64) throws -> ([HostEffect], HostBook.Booking) {
            trace += 1
            let effects = rig.effects(try rig.payment(200, 1_000 + digits, trace: trace))
            let booking = try #require(rig.host.book.bookings.values.max { $0.line.number < $1.line.number })
            return (Array(effects.dropFirst()), booking)
        }
        func codes(_ effects: [HostEffect]) -> [String] {
            effects.map { effect in
                switch effect {
                case .send(let message, let after): "\(message.text(39) ?? "-") \(after)"
                case .sendHalf: "half"
                case .sendGarbage: "garbage"
                case .book: "book"
                }
            }
        }
        #expect(codes(try fault(93).0) == ["96 0"])
        #expect(rig.host.book.totals["978"] == nil)
        #expect(codes(try fault(94).0) == ["00 0", "00 0"])
        #expect(codes(try fault(95).0) == ["half"])
        #expect(codes(try fault(96).0) == ["garbage"])
        #expect(codes(try fault(97).0) == ["00 8000"])
        #expect(codes(try fault(98).0) == [])
        #expect(codes(try fault(99).0) == ["00 25000"])
        #expect(rig.host.book.totals["978"]?.debits == 6)
        let lies = try (85...89).map { try fault(UInt64($0)) }
        #expect(codes(lies[0].0) == ["00 0"] && codes(lies[3].0) == ["00 0", "05 50"] && codes(lies[4].0) == ["- 0"])
        guard case .send(let other, _)? = lies[0].0.first, case .send(let traced, _)? = lies[1].0.first,
            case .send(let currency, _)? = lies[2].0.first
        else { return #expect(Bool(false)) }
        #expect(other.amount == 1_086 && traced.text(11) == "000001" && currency.text(49) == "840")
        #expect(lies.allSatisfy { $0.1.taken == $0.1.line.amount })
    }

    // MARK: - The issuer

    private struct Row: Decodable {
        var kind: String
        var id: String
        var pan: String?
        var psn: String?
        var de55: String?
        var arpc_method1: String?
    }

    private func rows() throws -> [Row] {
        let rows: [Row] = try VectorFile.rows("iso8583/messages.jsonl").filter { $0.kind == "arqc" }
        try #require(rows.count >= 4)
        return rows
    }

    private func message(
        _ row: Row, _ rig: HostRig, _ type: UInt16 = 100, trace: Int, change: (String) -> String = { $0 }
    )
        throws -> ISOMessage
    {
        let chip = try Hex.bytes(change(try #require(row.de55)))
        let amount = try #require(
            try TLV.children(chip).first { $0.tag == 0x9F02 }.map { Hex.string(Array(chip[$0.value])) })
        var message = try rig.payment(type, try #require(UInt64(amount)), trace: trace)
        message.set(2, try #require(row.pan))
        message.set(23, "0" + (try #require(row.psn)))
        message[55] = chip
        return message
    }

    @Test func `cryptograms of pyemv are verified, and its response cryptogram is the answer`() throws {
        var compared = 0
        for (number, row) in try rows().enumerated() {
            var rig = try HostRig()
            // The amounts of two of them ask for a late answer and for a decline.
            let answer = rig.effects(try message(row, rig, trace: number + 2)).compactMap { effect -> ISOMessage? in
                if case .send(let answer, _) = effect { answer } else { nil }
            }.first
            let data = Hex.string(try #require(answer?[55]))
            #expect(rig.written.last?.cryptogram == "verified", "\(row.id)")
            #expect(rig.written.last?.lastFour == row.pan.map { String($0.suffix(4)) })
            if answer?.text(39) == "00" {
                #expect(data == "910A" + (row.arpc_method1 ?? "") + "3030", "\(row.id)")
                compared += 1
            } else {
                #expect(answer?.text(39) == "01" && data.hasSuffix("3031"), "\(row.id)")
            }
        }
        #expect(compared == 3)
    }

    @Test func `a changed cryptogram, a changed amount and a counter that does not grow are declined`() throws {
        let row = try #require(try rows().first)
        var rig = try HostRig()
        func code(_ message: ISOMessage) -> String? { rig.ask(message).first?.text(39) }
        #expect(
            code(try message(row, rig, trace: 2) { $0.replacing("C8488D0492D6212E", with: "C8488D0492D6212F") }) == "82"
        )
        var more = try message(row, rig, trace: 3)
        more.set(4, "000000001501")
        #expect(code(more) == "30")
        #expect(code(try message(row, rig, trace: 4) { $0.replacing("9F270180", with: "9F270140") }) == "30")
        #expect(code(try message(row, rig, trace: 5) { $0.replacing("9F360200", with: "9F360201") }) == "82")
        #expect(code(try message(row, rig, trace: 6)) == "00")
        #expect(code(try message(row, rig, trace: 7)) == "94")
        #expect(rig.written.last?.cryptogram == "replayed")
        // An advice tells of what the card has approved, and of nothing else.
        #expect(code(try message(row, rig, 220, trace: 8)) == "30")
        var pin = try rig.payment(200, 1_500, trace: 9)
        pin[52] = [UInt8](repeating: 1, count: 8)
        #expect(code(pin) == "30")
    }

    @Test func `real cards, wrong numbers and cards that have expired are declined`() throws {
        var rig = try HostRig()
        var message = try rig.payment(200, 1_500, trace: 2)
        message.set(2, "4761739001010118")
        #expect(rig.ask(message).first?.text(39) == "14")
        message = try rig.payment(200, 1_500, trace: 3)
        message.set(2, "4000000000000002")
        #expect(rig.ask(message).first?.text(39) == "14")
        message = try rig.payment(200, 1_500, trace: 4)
        message.set(14, "2610")
        #expect(rig.ask(message).first?.text(39) == "54")
        message = try rig.payment(200, 1_500, trace: 5)
        message.set(14, "2611")
        #expect(rig.ask(message).first?.text(39) == "00")
        var open = try HostRig { $0.takesAnyCard = true }
        message = try open.payment(200, 1_500, trace: 3)
        message.set(2, "4000000000000002")
        #expect(open.ask(message).first?.text(39) == "00")
    }

    // MARK: - What belongs together

    @Test func `a repeat is answered as before and booked once`() throws {
        var rig = try HostRig()
        let first = try rig.payment(200, 1_010, trace: 2)
        let answer = try #require(rig.ask(first).first)
        #expect(answer.text(39) == "10" && answer.amount == 505)
        var repeated = try rig.payment(201, 1_010, trace: 2)
        #expect(rig.ask(repeated).first == answer)
        #expect(rig.ask(first).first == answer)
        repeated.set(4, "000000001011")
        #expect(rig.ask(repeated).first?.text(39) == "94")
        #expect(rig.host.book.totals["978"]?.debitAmount == 505)
        // Another terminal's message of the same trace number is another payment.
        var other = first
        other.set(41, "TERM0002")
        #expect(rig.ask(other).first?.text(39) == "10")
        #expect(rig.host.book.totals["978"]?.debitAmount == 1_010)
    }

    @Test(arguments: [Packager.BuiltIn.bcd1987, .ascii1993])
    func `a reversal takes back whole payments, also such as have not come yet`(dialect: Packager.BuiltIn) throws {
        var rig = try HostRig(dialect)
        let base: UInt16 = rig.host.is1993 ? 1_000 : 0
        let payment = try rig.payment(base + 200, 1_500, trace: 2)
        _ = rig.ask(payment)
        let reversal = try rig.reversal(of: payment, trace: 3)
        let done = rig.host.is1993 ? "400" : "00"
        #expect(rig.ask(reversal).first?.text(39) == done)
        #expect(rig.ask(try rig.reversal(of: payment, trace: 3, type: base + 421)).first?.text(39) == done)
        #expect(rig.host.book.totals["978"]?.net == 0 && rig.host.book.totals["978"]?.debitReversals == 1)

        let later = try rig.payment(base + 200, 2_500, trace: 9)
        #expect(rig.ask(try rig.reversal(of: later, trace: 10)).first?.text(39) == (rig.host.is1993 ? "480" : "25"))
        #expect(rig.ask(later).first?.text(39) == (rig.host.is1993 ? "913" : "94"))
        #expect(rig.host.book.totals["978"]?.debits == 1)
    }

    @Test func `a part is taken back, and never more than is there`() throws {
        var rig = try HostRig()
        let payment = try rig.payment(200, 1_500, trace: 2)
        _ = rig.ask(payment)
        #expect(rig.ask(try rig.reversal(of: payment, trace: 3, remains: 1_600)).first?.text(39) == "13")
        #expect(rig.ask(try rig.reversal(of: payment, trace: 4, remains: 400)).first?.text(39) == "00")
        #expect(rig.host.book.totals["978"]?.net == 400)
        #expect(rig.host.book.summary.first?.contains(#""taken":400"#) == true)
    }

    @Test func `what is held is taken by an advice of its reference, once, and taken back with it`() throws {
        var rig = try HostRig()
        let held = try rig.payment(100, 1_500, trace: 2, reference: "632714000002")
        _ = rig.ask(held)
        #expect(rig.host.book.totals["978"] == nil)
        let capture = try rig.payment(220, 1_200, trace: 3, reference: "632714000002")
        #expect(rig.ask(capture).first?.text(39) == "00")
        var again = try rig.payment(221, 1_200, trace: 3, reference: "632714000002")
        #expect(rig.ask(again).first?.text(39) == "00")
        #expect(rig.host.book.totals["978"]?.debitAmount == 1_200 && rig.host.book.totals["978"]?.debits == 1)
        again = try rig.payment(220, 1_600, trace: 4, reference: "632714000099")
        #expect(rig.ask(again).first?.text(39) == "00")
        #expect(rig.ask(try rig.reversal(of: held, trace: 5)).first?.text(39) == "00")
        #expect(rig.host.book.totals["978"]?.net == 1_600)
    }

    @Test(arguments: [Packager.BuiltIn.bcd1987, .ascii1993])
    func `sums that are those of the book are in balance, and count from there`(dialect: Packager.BuiltIn) throws {
        var rig = try HostRig(dialect)
        let base: UInt16 = rig.host.is1993 ? 1_000 : 0
        let payment = try rig.payment(base + 200, 1_500, trace: 2)
        _ = rig.ask(payment)
        _ = rig.ask(try rig.payment(base + 200, 700, trace: 3))
        _ = rig.ask(try rig.reversal(of: payment, trace: 4))
        var refund = try rig.payment(base + 200, 300, trace: 5)
        refund.set(3, "200000")
        _ = rig.ask(refund)
        func sums(_ trace: Int, debits: String = "0000000002") throws -> ISOMessage {
            var message = ISOMessage(try #require(MessageType(base + 500)))
            message.set(11, SimulatedHost.digits(UInt64(trace), 6))
            message.set(rig.host.is1993 ? 12 : 7, rig.host.is1993 ? "261123150000" : "1123150000")
            message.set(41, "TERM0001")
            message.set(50, "978")
            for (field, text) in [74: "0000000001", 75: "0000000000", 76: debits, 77: "0000000001"] {
                message.set(field, text)
            }
            for (field, number) in [86: 300, 87: 0, 88: 2_200, 89: 1_500] {
                message.set(field, SimulatedHost.digits(UInt64(number), 16))
            }
            message.set(97, "D0000000000000400")
            return message
        }
        func isInBalance(_ answer: ISOMessage?) -> Bool? {
            rig.host.is1993 ? answer?.text(39).map { $0 == "500" } : answer?.text(66).map { $0 == "1" }
        }
        let right = try sums(7)
        #expect(isInBalance(rig.ask(right).first) == true)
        #expect(isInBalance(rig.ask(right).first) == true)
        #expect(isInBalance(rig.ask(try sums(8)).first) == false)
        #expect(rig.host.book.totals["978"] == HostBook.Totals())
    }

    @Test func `the book on the disk comes to the same as the one in memory`() throws {
        var rig = try HostRig()
        let payment = try rig.payment(200, 1_500, trace: 2)
        _ = rig.ask(payment)
        _ = rig.ask(try rig.payment(100, 1_551, trace: 3))
        _ = rig.ask(try rig.reversal(of: payment, trace: 4))
        let text = rig.written.map { $0.json + "\n" }.joined()
        #expect(!text.contains("4761739001010119"))
        let book = try BookFile.read(Array(text.utf8))
        #expect(book.summary == rig.host.book.summary && book.totals == rig.host.book.totals)
        #expect(book.summary.count == 2)
        #expect(throws: BookFile.Fault.notALine(2)) {
            try BookFile.read(
                Array(
                    text.split(separator: "\n").enumerated().filter { $0.offset != 1 }.map { $0.element + "\n" }
                        .joined().utf8))
        }
    }
}
