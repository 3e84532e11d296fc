// SPDX-License-Identifier: Apache-2.0
import Codes
import Foundation
import Linux
import TestSupport
import Testing

@testable import ECR
@testable import TillBridge

@Suite("The ledger of a till")
struct TillLedgerTests {
    private let path = FileManager.default.temporaryDirectory.appending(path: "ledger-\(UUID().uuidString)").path

    private func attempt(_ number: UInt64, _ phase: Attempt.Phase = .running) throws -> Attempt {
        let euro = try #require(CurrencyCode("EUR"))
        let order = TillOrder(kind: .sale, amount: 1_250, currency: euro, identity: "5:order")
        return Attempt(
            key: AttemptKey(lane: "main", installation: "abc", counter: number), number: number, order: order,
            peer: "10.0.0.7", phase: phase)
    }

    /// Opens, lets `body` write, and closes.
    private func write(_ fresh: String = "abc", _ body: (TillLedger) throws -> Void) throws {
        let (ledger, _) = try TillLedger.open(path, fresh: fresh)
        try body(ledger)
        try ledger.synchronize()
    }

    private func read(_ fresh: String = "other") throws -> TillLedger.Contents {
        try TillLedger.open(path, fresh: fresh).contents
    }

    @Test("Attempts, numbers and closed batches come back as they were, and the installation keeps its name")
    func comesBack() throws {
        try write { ledger in
            try ledger.record(attempt(1))
            try ledger.record(attempt(1, .notPaid))
            try ledger.record(attempt(2, .approved))
            try ledger.spend(7)
            try ledger.closeBatch(through: 1)
        }
        let contents = try read()
        #expect(contents.installation == "abc" && contents.counter == 7 && contents.closedThrough == 1)
        #expect(contents.attempts == [try attempt(1, .notPaid), try attempt(2, .approved)] && contents.damaged == 0)
        #expect(try read().installation == "abc")
    }

    @Test("Receipts are written once for each approval, and come back for the last payment only")
    func receipts() throws {
        let lines = (0..<40).map { "line \($0)" }
        func paid(_ number: UInt64, _ phase: Attempt.Phase) throws -> Attempt {
            var attempt = try attempt(number, phase)
            attempt.approval = TillApproval(
                amount: 1_250, reference: "1", receipts: [TillReceipt(copy: .merchant, lines: lines)])
            return attempt
        }
        try write { ledger in
            for number in 1...2 as ClosedRange<UInt64> {
                for phase in [Attempt.Phase.approved, .telling, .told, .confirmed] {
                    try ledger.record(paid(number, phase))
                }
            }
        }
        let text = try String(contentsOf: URL(filePath: path), encoding: .utf8)
        #expect(text.split(separator: "\n").count { $0.contains("line 39") } == 2)
        let attempts = try read().attempts
        #expect(attempts.map { $0.approval?.receipts.first?.lines.count } == [nil, 40])
        #expect(attempts.map(\.phase) == [.confirmed, .confirmed])
    }

    @Test("What was given back on the last day comes back however many payments came after it; what is older does not")
    func refunds() throws {
        let euro = try #require(CurrencyCode("EUR"))
        func refund(_ number: UInt64, _ day: UInt32, _ phase: Attempt.Phase) -> Attempt {
            Attempt(
                key: AttemptKey(lane: "main", installation: "abc", counter: number), number: number,
                order: TillOrder(kind: .refund, amount: 100, currency: euro), peer: "", day: day, phase: phase)
        }
        try write { ledger in
            try ledger.record(refund(1, 20_261_123, .confirmed))
            try ledger.record(refund(2, 20_261_124, .confirmed))
            try ledger.record(refund(3, 20_261_124, .notPaid))
            for number in 4...300 as ClosedRange<UInt64> { try ledger.record(attempt(number, .notPaid)) }
        }
        let contents = try read()
        #expect(contents.attempts.count == TillMachine.kept)
        // Today, after a clock was set back, and tomorrow.
        for (day, sum) in [(20_261_124, 100), (20_261_123, 200), (20_261_125, 0)] as [(UInt32, Int64)] {
            var desk = TillMachine(
                lane: "main", installation: "abc", counter: contents.counter, attempts: contents.attempts,
                past: contents.past)
            var effects: [TillEffect] = []
            desk.acknowledged(.day(day), &effects)
            #expect(desk.givenBack == sum)
        }
    }

    @Test("A till's thousands of payments are a short file, in which each is found again and counted once")
    func thousands() throws {
        let euro = try #require(CurrencyCode("EUR"))
        func named(_ number: Int) -> TillOrder {
            TillOrder(kind: .sale, amount: 250, currency: euro, identity: "order \(number)")
        }
        func desk(_ contents: TillLedger.Contents) -> TillMachine {
            TillMachine(
                lane: "main", installation: contents.installation, counter: contents.counter,
                attempts: contents.attempts, past: contents.past, closedThrough: contents.closedThrough)
        }
        var (ledger, contents) = try TillLedger.open(path, fresh: "abc")
        var books = desk(contents)
        var renewed = 0
        for number in 1...3_000 {
            var effects: [TillEffect] = []
            guard case .started(let key) = books.ask(named(number), peer: "", confirmWithin: 30, &effects) else {
                Issue.record("\(number) is not new")
                return
            }
            let now = Int64(number) * 100_000
            _ = books.settle(key, .approved(TillApproval(amount: 250, reference: "\(number)")), at: now, &effects)
            _ = books.beginTelling(key, at: now, confirmWithin: 30, &effects)
            books.told(key, at: now, &effects)
            books.acknowledged(.confirmed(key), &effects)
            if number == 500 { books.closeBatch(&effects) }
            for effect in effects {
                switch effect {
                case .record(let attempt): try ledger.record(attempt)
                case .closeBatch(let through): try ledger.closeBatch(through: through)
                default: break
                }
            }
            if ledger.isLong {
                try ledger.renew(TillLedger.Contents(books))
                renewed += 1
            }
            guard number.isMultiple(of: 700) else { continue }
            // The program ends, wherever the file is.
            try ledger.synchronize()
            contents = try TillLedger.read(Descriptor(opening: path, O_RDONLY)).0
            books = desk(contents)
        }
        try ledger.synchronize()
        #expect(renewed > 2)
        contents = try TillLedger.read(Descriptor(opening: path, O_RDONLY)).0
        books = desk(contents)
        #expect(books.finished.count == TillMachine.kept && books.counter == 3_000 && contents.damaged == 0)
        for number in 1...3_000 {
            var effects: [TillEffect] = []
            guard case .same(let attempt) = books.ask(named(number), peer: "", confirmWithin: 30, &effects) else {
                Issue.record("\(number) would be paid again")
                return
            }
            #expect(attempt.number == UInt64(number) && attempt.approval?.reference == "\(number)")
        }
        #expect(books.turnover.sums.map(\.count) == [2_500] && books.turnover.sums.map(\.amount) == [625_000])
        #expect(books.turnover.first == 501 && books.turnover.last == 3_000)
        let lines = try String(contentsOf: URL(filePath: path), encoding: .utf8).split(separator: "\n").count
        #expect(lines < 3_000 + TillLedger.longest + 10)
    }

    @Test("A ledger that has become long is written anew while it is used, and stays the same program's")
    func renewed() throws {
        let (ledger, _) = try TillLedger.open(path, fresh: "abc")
        for _ in 0...TillLedger.longest { try ledger.record(attempt(1)) }
        try ledger.synchronize()
        #expect(ledger.isLong)
        let before = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        var desk = TillMachine(lane: "main", installation: "abc", counter: 9, attempts: [try attempt(1, .notPaid)])
        try ledger.renew(TillLedger.Contents(desk))
        #expect(!ledger.isLong)
        #expect(throws: TillLedger.Failure.inUse) { try TillLedger.open(path, fresh: "other") }
        try ledger.record(attempt(10, .notPaid))
        try ledger.synchronize()
        let after = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        #expect(after < before / 100)
        let contents = try TillLedger.read(Descriptor(opening: path, O_RDONLY)).0
        desk = TillMachine(
            lane: "main", installation: contents.installation, counter: contents.counter, attempts: contents.attempts)
        #expect(desk.installation == "abc" && desk.counter == 10 && desk.finished.map(\.number) == [1, 10])
    }

    @Test("A line that was cut off anywhere is gone, and what stood before it is not")
    func torn() throws {
        try write { ledger in try ledger.record(attempt(1)) }
        let whole = try Data(contentsOf: URL(filePath: path))
        try write { ledger in try ledger.record(attempt(2)) }
        let longer = try Data(contentsOf: URL(filePath: path))
        for length in whole.count..<longer.count {
            try longer.prefix(length).write(to: URL(filePath: path))
            let contents = try read()
            #expect(contents.attempts == [try attempt(1)] && contents.damaged == 0, "\(length)")
            #expect(contents.installation == "abc")
            // What is written next stands behind a whole line.
            try write { ledger in try ledger.spend(9) }
            #expect(try read().counter == 9 && read().damaged == 0, "\(length)")
        }
    }

    @Test("A changed byte costs its line, and then no key of before is given out again")
    func damaged() throws {
        try write { ledger in
            try ledger.record(attempt(1, .confirmed))
            try ledger.record(attempt(2))
        }
        let whole = try Data(contentsOf: URL(filePath: path))
        var generator = SeededGenerator(seed: 17)
        for _ in 0..<200 {
            var changed = whole
            let index = Int.random(in: 0..<(whole.count - 1), using: &generator)
            changed[index] ^= UInt8.random(in: 1...255, using: &generator)
            try changed.write(to: URL(filePath: path))
            let contents = try read("fresh")
            #expect(contents.damaged > 0 && contents.installation == "fresh", "byte \(index)")
            // No till takes a payment to come for one that was lost.
            #expect(contents.counter >= TillLedger.gap, "byte \(index)")
            #expect(FileManager.default.fileExists(atPath: path + ".damaged"))
            // Once only: the file is whole again.
            let again = try read("later")
            #expect(again.damaged == 0 && again.installation == "fresh" && again.attempts == contents.attempts)
        }
    }

    @Test("Two programs cannot use one ledger")
    func locked() throws {
        let (ledger, _) = try TillLedger.open(path, fresh: "abc")
        #expect(throws: TillLedger.Failure.inUse) { try TillLedger.open(path, fresh: "abc") }
        withExtendedLifetime(ledger) {}
    }

    @Test("A ledger that cannot be opened says what the system says")
    func missing() {
        #expect(throws: TillLedger.Failure.file(.init(code: ENOENT))) {
            try TillLedger.open("/nowhere/at/all.ledger", fresh: "abc")
        }
    }

    @Test("A long ledger is written anew with what counts")
    func rewritten() throws {
        try write { ledger in
            for number in 1...UInt64(TillLedger.longest / 2 + 1) {
                try ledger.record(attempt(number))
                try ledger.record(attempt(number, .notPaid))
            }
        }
        let before = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        let contents = try read()
        #expect(contents.counter == UInt64(TillLedger.longest / 2 + 1) && contents.attempts.count == TillMachine.kept)
        let after = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        #expect(after < before / 2)
        let again = try read()
        #expect(again.attempts == contents.attempts && again.counter == contents.counter)
        #expect(again.installation == "abc" && !FileManager.default.fileExists(atPath: path + ".damaged"))
    }
}
