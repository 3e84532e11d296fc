// SPDX-License-Identifier: Apache-2.0
import ECR
import Foundation
import Linux
import Logging
import MDB
import TapClient
import TestSupport
import Testing

@testable import TillBridge

/// What a vending machine's sale asks of the daemon, and what of it is on disk whenever the bridge ends.
@Suite("What a vending machine owes and is owed")
struct VendingTerminalTests {
    /// A desk, and what has been written down for it.
    private struct Kiosk {
        private(set) var desk: VendingTerminal
        private(set) var written: [UInt64: Vend] = [:]
        private(set) var asked: [TillEffect] = []
        private(set) var answers: [[UInt16]] = []
        private(set) var alarms: [VendingTerminal.Alarm] = []
        private(set) var timers: [MDBTimer] = []

        init(_ contents: TillLedger.Contents = .init()) throws {
            let till = try #require(try VendingFileTests.till())
            desk = VendingTerminal(till, try #require(till.vending), contents, at: 0)
            written = contents.vends
        }

        mutating func take(_ effects: [VendingTerminal.Effect]) {
            for effect in effects {
                switch effect {
                case .send(let words): answers.append(words)
                case .record(let vend): written[vend.sale.number] = vend.isOver ? nil : vend
                case .ask(let effect): asked.append(effect)
                case .arm(let timer, _): timers.append(timer)
                case .alarm(let alarm): alarms.append(alarm)
                }
            }
        }

        mutating func say(_ command: UInt8...) {
            let words = [UInt16(command[0]) | MDBLine.modeBit] + command.dropFirst().map(UInt16.init)
            take(desk.receive(MDBLine.marked(words + [UInt16(MDBLine.checksum(command))])))
        }

        /// The machine has heard the block that was sent last.
        mutating func acknowledge() { take(desk.receive([0x00])) }

        mutating func handle(_ input: TillInput) { take(desk.handle(input)) }

        mutating func restore() { take(desk.restored()) }

        mutating func fire(_ timer: MDBTimer) { take(desk.fired(timer)) }

        mutating func setUp() {
            say(0x10)
            say(0x12)
            acknowledge()
            say(0x11, 0x00, 0x03, 0x10, 0x02, 0x01)
            acknowledge()
            say(0x11, 0x01, 0x01, 0xF4, 0x00, 0x32)
            say(0x17, 0x04, 0x00, 0x00, 0x00, 0x20)
            say(0x14, 0x01)
        }

        /// Goods for 1.50 are asked for.
        mutating func ask() throws -> StartRequest {
            say(0x13, 0x00, 0x00, 0x96, 0x00, 0x07)
            guard case .start(let demand)? = asked.last else { throw Hung(description: "\(asked)") }
            return demand
        }

        /// Up to the goods.
        mutating func approve(_ key: AttemptKey) {
            handle(.settled(key, .approved(TillApproval(amount: 150, reference: "1"))))
            say(0x12)
            acknowledge()
        }

        /// The program ends, and begins again with what is on disk.
        func again() throws -> Kiosk {
            var contents = TillLedger.Contents()
            (contents.installation, contents.counter, contents.vends) = ("abc", desk.wire.peripheral.counter, written)
            var next = try Kiosk(contents)
            next.restore()
            return next
        }
    }

    private func ready() throws -> Kiosk {
        var contents = TillLedger.Contents()
        contents.installation = "abc"
        var kiosk = try Kiosk(contents)
        kiosk.restore()
        kiosk.setUp()
        #expect(kiosk.desk.wire.peripheral.isAlwaysIdle && kiosk.desk.wire.peripheral.state == .enabled)
        return kiosk
    }

    @Test("A sale is written down before it is asked for, within the machine's patience, and kept once it is sold")
    func sold() throws {
        var kiosk = try ready()
        let demand = try kiosk.ask()
        #expect(demand.order.amount == 150 && demand.order.kind == .sale && demand.order.identity == nil)
        #expect(demand.deadline == 25 && demand.confirmWithin == 150)
        #expect(kiosk.written[1]?.key == demand.key && demand.key.text == "ecr-main-abc-1")
        kiosk.approve(demand.key)
        #expect(kiosk.answers.last == [0x05, 0x00, 0x96, 0x19B] && kiosk.written[1]?.sale.phase == .told)
        kiosk.say(0x13, 0x02, 0x00, 0x07)
        #expect(kiosk.asked.last == .confirm(demand.key) && kiosk.written[1]?.debt == .keep)
        kiosk.handle(.confirmed(demand.key))
        #expect(kiosk.written.isEmpty && kiosk.desk.vends.isEmpty)
    }

    @Test("A record and what stands behind it come in this order")
    func order() throws {
        var kiosk = try ready()
        let words: [UInt16] = [0x113, 0x00, 0x00, 0x96, 0x00, 0x07, 0x0B0]
        var desk = kiosk.desk
        let effects = desk.receive(MDBLine.marked(words))
        let record = try #require(effects.firstIndex { if case .record = $0 { true } else { false } })
        let start = try #require(effects.firstIndex { if case .ask = $0 { true } else { false } })
        #expect(effects.first == .send([0x100]) && record < start)
        // What a reset has sold is written down as owed in the line that closes the sale.
        let demand = try kiosk.ask()
        kiosk.approve(demand.key)
        desk = kiosk.desk
        let ends = desk.receive(MDBLine.marked([0x110, 0x010])).compactMap { effect -> Vend? in
            if case .record(let vend) = effect { vend } else { nil }
        }
        #expect(ends.count == 1 && ends.first?.debt == .keep && ends.first?.isOpen == false)
    }

    @Test("A part of the sum, and an approval that is heard of late, are denied and go back", arguments: [true, false])
    func refused(isPart: Bool) throws {
        var kiosk = try ready()
        let key = try kiosk.ask().key
        var approval = TillApproval(amount: isPart ? 75 : 150, reference: "1")
        if !isPart { approval.age = 30_000 }
        kiosk.handle(.settled(key, .approved(approval)))
        #expect(kiosk.asked.last == .reverse(key) && kiosk.written[1]?.debt == .giveBack)
        kiosk.say(0x12)
        #expect(kiosk.answers.last == [0x06, 0x106])
        kiosk.handle(.reversed(key, .done))
        #expect(kiosk.written.isEmpty)
    }

    @Test("Goods that do not come go back, and the machine hears of it when they have; money that stays is an alarm")
    func failed() throws {
        for isBack in [true, false] {
            var kiosk = try ready()
            let key = try kiosk.ask().key
            kiosk.approve(key)
            kiosk.say(0x13, 0x03)
            #expect(kiosk.asked.last == .reverse(key))
            let before = kiosk.answers.count
            kiosk.say(0x12)
            #expect(kiosk.answers.count == before, "silence while it is given back")
            kiosk.handle(.reversed(key, isBack ? .already : .refused))
            kiosk.say(0x12)
            #expect(kiosk.answers.last == (isBack ? [0x100] : [0x0A, 0xC0, 0x1CA]))
            #expect(kiosk.alarms == (isBack ? [] : [.moneyWithoutGoods(key)]) && kiosk.written.isEmpty)
        }
    }

    @Test("Goods whose money went back before the daemon heard of them are an alarm")
    func keptTooLate() throws {
        var kiosk = try ready()
        let key = try kiosk.ask().key
        kiosk.approve(key)
        kiosk.say(0x13, 0x02, 0x00, 0x07)
        kiosk.handle(.notConfirmed(key))
        #expect(kiosk.alarms == [.goodsWithoutMoney(key)] && kiosk.written.isEmpty)
    }

    @Test("An approval that is told again, however late, takes nothing back that the machine has")
    func toldAgain() throws {
        var kiosk = try ready()
        let key = try kiosk.ask().key
        kiosk.approve(key)
        var again = TillApproval(amount: 150, reference: "1")
        again.age = 60_000
        let before = kiosk.asked
        kiosk.handle(.settled(key, .approved(again)))
        kiosk.say(0x13, 0x02, 0x00, 0x07)
        kiosk.handle(.settled(key, .approved(again)))
        #expect(kiosk.asked == before + [.confirm(key)] && kiosk.written[1]?.debt == .keep)
    }

    @Test("A failure behind a success waits for the confirmation's answer, and then goes back")
    func confirmedThenFailed() throws {
        var kiosk = try ready()
        let key = try kiosk.ask().key
        kiosk.approve(key)
        // The machine says nothing until it is sold.
        kiosk.fire(.vend(1))
        #expect(kiosk.asked.last == .confirm(key))
        kiosk.say(0x13, 0x03)
        #expect(kiosk.asked.last == .confirm(key) && kiosk.written[1]?.debt == .giveBack)
        kiosk.handle(.confirmed(key))
        #expect(kiosk.asked.last == .reverse(key))
    }

    @Test("A customer who comes too late has what is approved given back")
    func late() throws {
        var kiosk = try ready()
        let key = try kiosk.ask().key
        kiosk.fire(.response(1))
        #expect(kiosk.asked.last == .cancel(key) && kiosk.written[1]?.debt == .giveBack)
        kiosk.handle(.settled(key, .approved(TillApproval(amount: 150, reference: "1"))))
        #expect(kiosk.asked.last == .reverse(key))
        kiosk.handle(.reversed(key, .done))
        #expect(kiosk.written.isEmpty)
    }

    @Test("After an end at any moment a sale is kept if the machine knows of it, and given up if not")
    func restarts() throws {
        var kiosk = try ready()
        let key = try kiosk.ask().key
        #expect(try kiosk.again().asked == [.cancel(key), .lookUp(key)])
        kiosk.handle(.settled(key, .approved(TillApproval(amount: 150, reference: "1"))))
        kiosk.say(0x12)
        var unknown = try kiosk.again()
        #expect(unknown.asked == [.cancel(key), .lookUp(key)])
        unknown.handle(.settled(key, .approved(TillApproval(amount: 150, reference: "1"))))
        #expect(unknown.asked.last == .reverse(key))
        #expect(try unknown.again().asked == [.cancel(key), .lookUp(key)], "until the daemon has answered")
        unknown.handle(.reversed(key, .done))
        #expect(try unknown.again().asked.isEmpty)
        kiosk.acknowledge()
        var known = try kiosk.again()
        #expect(known.asked == [.confirm(key)] && known.written[1]?.sale.phase == .sold)
        #expect(try known.again().asked == [.confirm(key)], "until the daemon has answered")
        known.handle(.confirmed(key))
        #expect(try known.again().asked.isEmpty)
        // The machine had a failure to tell all the time.
        known.say(0x13, 0x03)
        #expect(try known.again().asked == [.cancel(key), .lookUp(key)])
        // No number names a second sale.
        var next = try known.again()
        next.setUp()
        #expect(try next.ask().key.text == "ecr-main-abc-2")
    }

    // MARK: - The file

    private let path = FileManager.default.temporaryDirectory.appending(path: "vend-\(UUID().uuidString)").path

    private func read(_ fresh: String = "other") throws -> TillLedger.Contents {
        try TillLedger.open(path, fresh: fresh).contents
    }

    /// Lines of a sale up to what the machine knows, and of one before it that is over.
    private func sales() throws -> [Vend] {
        var kiosk = try ready()
        let first = try kiosk.ask().key
        var lines = kiosk.written.map(\.value)
        kiosk.handle(.settled(first, .notPaid(TillRefusal(.declined))))
        lines.append(Vend(key: first, sale: try #require(lines.first?.sale), isOpen: false))
        kiosk.say(0x12)
        kiosk.acknowledge()
        kiosk.say(0x13, 0x04)
        kiosk.say(0x12)
        kiosk.acknowledge()
        let second = try kiosk.ask().key
        lines += kiosk.written.map(\.value)
        kiosk.approve(second)
        return lines + kiosk.written.map(\.value)
    }

    @Test("The last line of each sale counts, wherever the last one was cut off")
    func cut() throws {
        let sales = try sales()
        #expect(sales.map(\.sale.number) == [1, 1, 2, 2] && sales.last?.sale.phase == .told)
        do {
            let (ledger, _) = try TillLedger.open(path, fresh: "abc")
            for vend in sales.dropLast() { try ledger.record(vend) }
            try ledger.synchronize()
        }
        let whole = try Data(contentsOf: URL(filePath: path))
        do {
            let (ledger, _) = try TillLedger.open(path, fresh: "abc")
            try ledger.record(try #require(sales.last))
            try ledger.synchronize()
        }
        let longer = try Data(contentsOf: URL(filePath: path))
        #expect(try read().vends == [2: try #require(sales.last)])
        for length in whole.count..<longer.count {
            try longer.prefix(length).write(to: URL(filePath: path))
            let contents = try read()
            #expect(contents.vends == [2: sales[2]] && contents.counter == 2 && contents.damaged == 0, "\(length)")
        }
    }

    @Test("A changed byte costs its line, and no number of before names a payment again")
    func damaged() throws {
        let sales = try sales()
        do {
            let (ledger, _) = try TillLedger.open(path, fresh: "abc")
            for vend in sales { try ledger.record(vend) }
            try ledger.synchronize()
        }
        let whole = try Data(contentsOf: URL(filePath: path))
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<100 {
            var changed = whole
            let index = Int.random(in: 0..<(whole.count - 1), using: &generator)
            changed[index] ^= UInt8.random(in: 1...255, using: &generator)
            try changed.write(to: URL(filePath: path))
            let contents = try read("fresh")
            #expect(contents.damaged > 0 && contents.installation == "fresh", "byte \(index)")
            var kiosk = try Kiosk(contents)
            kiosk.restore()
            // What is left of the sale is asked about under its own key.
            #expect(kiosk.asked.allSatisfy { "\($0)".contains("ecr-main-abc-") }, "\(kiosk.asked)")
            kiosk.setUp()
            let key = try kiosk.ask().key
            #expect(key.text.hasPrefix("ecr-main-fresh-") && contents.counter >= TillLedger.gap)
            #expect(try read().vends == contents.vends, "written anew")
        }
        // A ledger that is gone is one of another name.
        try FileManager.default.removeItem(atPath: path)
        #expect(try read("third").installation == "third")
    }

    @Test("A ledger in which another protocol owes something is not taken over, and one where all is over is")
    func formerProtocol() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "vend-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let machine = try #require(try VendingFileTests.till())
        let zvt = try TillsFile(
            file: "f.toml",
            text: "[[till]]\nname = \"drinks\"\nprotocol = \"zvt\"\nlane = \"main\"\nlisten = \"127.0.0.1:20007\"")
        let till = try #require(zvt.tills.first)
        let client = TapClient(path: "/nowhere")
        let logger = Logger(label: "test")
        var kiosk = try ready()
        let key = try kiosk.ask().key
        for sale in kiosk.written.values {
            let (ledger, _) = try TillLedger.open("\(folder)/drinks.ledger", fresh: "abc")
            try ledger.record(sale)
            try ledger.synchronize()
        }
        #expect(throws: TillLedger.Failure.ofAnotherProtocol) { try TillPort(till, in: folder, client, logger) }
        #expect(try VendingPort(machine, in: folder, client, logger) != nil)
        do {
            let (ledger, _) = try TillLedger.open("\(folder)/drinks.ledger", fresh: "abc")
            let sale = try #require(kiosk.written[1]?.sale)
            try ledger.record(Vend(key: key, sale: sale, isOpen: false))
            try ledger.synchronize()
        }
        #expect(try TillPort(till, in: folder, client, logger) != nil)
    }
}
