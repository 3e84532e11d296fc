// SPDX-License-Identifier: Apache-2.0
import Codes
import Foundation
import TestSupport
import Testing

@testable import MDB

/// Sessions of the specification, word for word.
struct MDBVectorTests {
    private struct Row: Decodable {
        struct Step: Decodable {
            var before: String?
            var machine: String
            var peripheral: String
            var state: String
            var after: String?
        }

        struct Money: Decodable {
            var held: Int64?
            var captured: Int64?
            var released: Int64?
        }

        var kind: String
        var name: String
        var given: String?
        var steps: [Step]?
    }

    private struct MoneyRow: Decodable {
        var name: String
        var money: Row.Money?
    }

    private struct PriceRow: Decodable {
        struct Sum: Decodable {
            var value: Int64
            var currency: String
        }

        var name: String
        var scale: UInt8
        var decimals: UInt8
        var value: UInt32?
        var money: Sum
    }

    private struct LineRow: Decodable {
        var name: String
        var words: String
        var bytes: String?
        var parity: [String]?
    }

    private static let file = "mdb/cashless.jsonl"

    private static func kinds(_ kind: String) throws -> [Substring] {
        try VectorFile.lines(file).filter { $0.contains("\"kind\": \"\(kind)\"") }
    }

    private static func decode<Value: Decodable>(_ line: Substring) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(line.utf8))
    }

    static func words(_ text: String) -> [UInt16] { text.split(separator: " ").compactMap { UInt16($0, radix: 16) } }

    static func text(_ words: [UInt16]) -> String {
        words.map { word in
            let digits = String(word, radix: 16, uppercase: true)
            return String(repeating: "0", count: max(0, 3 - digits.count)) + digits
        }.joined(separator: " ")
    }

    /// What became of the money, by the effects alone.
    private struct Books {
        var held: Int64 = 0
        var captured: Int64 = 0
        var asked: MDBSale?
        var hasReleased = false
    }

    private static func peripheral(_ given: String) throws -> MDBPeripheral {
        let prices = try MDBTests.prices("EUR")
        var peripheral = MDBPeripheral(.init(prices: prices, language: "de"))
        guard !given.isEmpty else { return peripheral }
        let level = given.contains("level 1") ? "1" : "3"
        let isExpanded = given.contains("expanded")
        let bits =
            isExpanded
            ? "022" : given.contains("always idle not") ? "000" : given == "enabled, always idle" ? "020" : "000"
        var script = ["110", "112", "000", "111 000 00\(level) 010 002 001", "000", "111 001 001 0F4 000 032"]
        if level == "3" { script.append("117 004 000 000 000 \(bits)") }
        script += ["114 001", "112"]
        for line in script {
            var command = words(line)
            if command.count > 1 || line != "000" {
                command.append(UInt16(MDBLine.checksum(command.map { UInt8(truncatingIfNeeded: $0) })))
            }
            for word in command { _ = peripheral.receive(word) }
        }
        if given == "vend" {
            _ = peripheral.handle(.tapped(500))
            for word in words("112 012 000 113 000 000 096 000 007 0B0") { _ = peripheral.receive(word) }
        }
        return peripheral
    }

    @Test func `each session of the specification is answered word for word, and moves the money that it names`() throws
    {
        let rows = try Self.kinds("session")
        #expect(rows.count == 22)
        for line in rows {
            let row: Row = try Self.decode(line)
            let money: MoneyRow = try Self.decode(line)
            var peripheral = try Self.peripheral(row.given ?? "")
            var books = Books()
            for (index, step) in (row.steps ?? []).enumerated() {
                let place = "\(row.name), step \(index)"
                for word in (step.before ?? "").split(separator: " ") where Int(word) == nil {
                    try Self.happen(String(word), step.before, &peripheral, &books)
                }
                var answer: [UInt16] = []
                for word in Self.words(step.machine) {
                    for effect in peripheral.receive(word) { Self.note(effect, &books, &answer) }
                }
                #expect(Self.text(answer) == step.peripheral, "\(place)")
                #expect("\(peripheral.state)" == step.state, "\(place)")
                if step.after == "not reversed" {
                    for effect in peripheral.handle(.notReversed(peripheral.counter)) {
                        Self.note(effect, &books, &answer)
                    }
                }
            }
            guard let wanted = money.money else { continue }
            #expect(books.captured == wanted.captured ?? 0, "\(row.name)")
            #expect(books.held == wanted.held ?? 0, "\(row.name)")
            #expect(books.hasReleased == (wanted.released != nil), "\(row.name)")
        }
    }

    private static func happen(
        _ word: String, _ whole: String?, _ peripheral: inout MDBPeripheral, _ books: inout Books
    ) throws {
        let input: MDBInput
        switch word {
        case "tap":
            let sum = whole?.split(separator: " ").last.flatMap { Int64($0) }
            // Untold or not, this much is held.
            books.held = 500
            input = .tapped(sum)
        case "approve": input = .approved(peripheral.counter)
        case "deny": input = .denied(peripheral.counter)
        case "over": input = .sessionOver
        default:
            Issue.record("\(word)")
            return
        }
        var answer: [UInt16] = []
        for effect in peripheral.handle(input) { note(effect, &books, &answer) }
        #expect(answer.isEmpty, "a peripheral speaks when it is asked")
    }

    private static func note(_ effect: MDBEffect, _ books: inout Books, _ answer: inout [UInt16]) {
        switch effect {
        case .send(let words): answer += words
        case .ask(let sale), .start(let sale, _): books.asked = sale
        case .confirm(let number): if books.asked?.number == number { books.captured += books.asked?.amount ?? 0 }
        case .release: books.hasReleased = true
        case .record, .cancel, .reverse, .arm: break
        }
    }

    @Test func `prices are scaled, and a sum that the scale cannot say is not asked for`() throws {
        let rows = try Self.kinds("price")
        #expect(rows.count == 3)
        for line in rows {
            let row: PriceRow = try Self.decode(line)
            let currency = try #require(CurrencyCode(row.money.currency))
            let prices = try #require(MDBPrices(currency: currency, scale: row.scale, decimals: row.decimals))
            #expect(prices.value(of: row.money.value) == row.value, "\(row.name)")
            if let value = row.value { #expect(prices.amount(of: value) == row.money.value, "\(row.name)") }
        }
        // Yen have no hundredths, and dinars have thousandths.
        let yen = try prices("JPY", scale: 10, decimals: 0)
        #expect(yen.amount(of: 15) == 150 && yen.value(of: 155) == nil)
        let dinars = try prices("KWD", scale: 1, decimals: 2)
        #expect(dinars.amount(of: 15) == 150 && dinars.value(of: 155) == nil)
        let odd = try prices("JPY", scale: 1, decimals: 2)
        #expect(odd.amount(of: 15_000) == 150 && odd.amount(of: 15_050) == nil)
    }

    @Test func `words go over a line of Linux as its marks, and come back whatever the pieces`() throws {
        for line in try Self.kinds("line") {
            let row: LineRow = try Self.decode(line)
            let words = Self.words(row.words)
            if let hex = row.bytes {
                let bytes = MDBLine.marked(words)
                #expect(bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() == hex)
                var marks = MDBMarks()
                #expect(bytes.compactMap { marks.take($0) } == words)
            }
            if let parity = row.parity {
                #expect(words.map { $0 & MDBLine.modeBit == 0 ? "space" : "mark" } == parity)
                #expect(MDBLine.block(words.dropLast().map { UInt8(truncatingIfNeeded: $0) }) == words)
            }
        }
        var random = SeededGenerator(seed: 1)
        let words = (0..<2_000).map { _ in UInt16.random(in: 0...0x1FF, using: &random) }
        var marks = MDBMarks()
        #expect(MDBLine.marked(words).compactMap { marks.take($0) } == words)
    }
}

func prices(_ currency: String, scale: UInt8 = 1, decimals: UInt8 = 2) throws -> MDBPrices {
    let code = try #require(CurrencyCode(currency))
    return try #require(MDBPrices(currency: code, scale: scale, decimals: decimals))
}
