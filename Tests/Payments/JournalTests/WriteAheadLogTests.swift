// SPDX-License-Identifier: Apache-2.0
import Foundation
import PaymentValues
import TestSupport
import Testing
import Transactions

@testable import Journal

/// SQLite itself writes the logs; what a disk makes of them is worked out here.
@Suite("A write-ahead log as a disk gives it back", .timeLimit(.minutes(5)))
struct WriteAheadLogTests {
    private struct Image {
        var file: Data
        var log: [UInt8]
    }

    private let root = FileManager.default.temporaryDirectory.appending(path: "wal-\(UUID().uuidString.prefix(8))")

    private func folder(_ name: String) throws -> URL {
        let folder = root.appending(path: name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    /// What another process sees of files that are open here.
    private func image(_ folder: URL) throws -> Image {
        let files = try filesOnDisk(in: folder.path)
        return Image(
            file: try #require(files.first { $0.name == "journal.sqlite" }?.bytes),
            log: [UInt8](files.first { $0.name == "journal.sqlite-wal" }?.bytes ?? Data()))
    }

    private func pay(_ journal: Journal, _ number: Int) throws {
        let id = TransactionID()
        _ = try journal.create(
            NewTransaction(
                id: id, owner: Principal(uid: 0), idempotencyKey: "k-\(id)", requestHash: "h", type: .purchase,
                mode: .test, lane: "main", amount: Money(value: 500, currency: try #require(Currency("EUR"))),
                order: nil, at: .now))
        if number % 2 == 0 { try journal.append([StateChange(.armed), StateChange(.reading)], to: id) }
    }

    /// - Returns: whether the log was called damaged, and how many payments are there.
    private func open(_ image: Image, _ folder: URL) throws -> (isDamaged: Bool, payments: Int64) {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            try FileManager.default.removeItem(at: folder.appending(path: name))
        }
        try image.file.write(to: folder.appending(path: "journal.sqlite"))
        try Data(image.log).write(to: folder.appending(path: "journal.sqlite-wal"))
        let journal = try Journal(directory: folder.path)
        let kept = Journal.damagedLogs(in: folder.path)
        #expect(kept.count == (journal.isLogDamaged ? 1 : 0))
        for name in kept { #expect([UInt8](try Data(contentsOf: folder.appending(path: name))) == image.log) }
        return (journal.isLogDamaged, try journal.newestNumber())
    }

    @Test("W3: a bit that flips in a write-ahead log is told of, and the log kept; what a power cut leaves is not")
    func flipsAndCuts() throws {
        defer { try? FileManager.default.removeItem(at: root) }
        let shop = try folder("shop")
        let journal = try Journal(directory: shop.path)
        var images: [Image] = []
        for number in 0..<12 {
            try pay(journal, number)
            images.append(try image(shop))
        }
        let last = try #require(images.last)
        let sizes = images.map(\.log.count)
        try #require(sizes == sizes.sorted() && Set(sizes).count == sizes.count, "one log, which grows: \(sizes)")
        var generator = SeededGenerator(seed: 41)
        let other = try folder("other")
        // Two whole transactions lie behind it; a bit of the header takes everything.
        for round in 0..<60 {
            var flipped = last
            let index =
                round < 10
                ? Int.random(in: 0..<32, using: &generator)
                : Int.random(in: 32..<sizes[sizes.count - 4], using: &generator)
            flipped.log[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            let (isDamaged, payments) = try open(flipped, other)
            #expect(isDamaged, "bit in byte \(index) of \(sizes)")
            #expect(payments < 12)
        }
        // Any sectors of the last transaction, and any length of it: that was never promised.
        let begin = sizes[sizes.count - 2]
        for round in 0..<60 {
            let cut = self.cut(last, from: begin, keeping: round % 3 == 0, &generator)
            #expect(try open(cut, other).isDamaged == false)
        }
        #expect(try open(last, other) == (false, 12))
        #expect(try open(Image(file: last.file, log: []), other).isDamaged == false)
        #expect(try open(Image(file: last.file, log: [UInt8](repeating: 0, count: 9_000)), other).isDamaged == false)
    }

    @Test("W3: a second power cut, after a transaction that is shorter than the one before it, is no damage")
    func secondCut() throws {
        defer { try? FileManager.default.removeItem(at: root) }
        var generator = SeededGenerator(seed: 42)
        for round in 0..<20 {
            let shop = try folder("shop-\(round)")
            let journal = try Journal(directory: shop.path)
            for number in 0..<3 { try pay(journal, number) }
            let before = try image(shop)
            // A long one.
            try journal.together { for number in 0..<20 { try? pay(journal, number) } }
            let long = try image(shop)
            let again = try folder("again-\(round)")
            let first = cut(long, from: before.log.count, keeping: true, &generator)
            try first.file.write(to: again.appending(path: "journal.sqlite"))
            try Data(first.log).write(to: again.appending(path: "journal.sqlite-wal"))
            let second = try Journal(directory: again.path)
            #expect(!second.isLogDamaged)
            try second.probe(at: .now)
            let start = try image(again).log.count
            try pay(second, 1)
            let end = try image(again)
            let other = try folder("other-\(round)")
            for _ in 0..<5 {
                #expect(try open(cut(end, from: start, keeping: true, &generator), other).isDamaged == false)
            }
        }
    }

    @Test(
        "W21: what was not written durably may be lost in any piece by a power cut, and is no damage; a bit before it is"
    )
    func withoutSyncs() throws {
        defer { try? FileManager.default.removeItem(at: root) }
        var generator = SeededGenerator(seed: 43)
        for round in 0..<12 {
            let shop = try folder("loose-\(round)")
            let journal = try Journal(directory: shop.path)
            for number in 0..<4 { try pay(journal, number) }
            let synced = try image(shop).log.count
            // As lanes write until a sale is sent, and the sale itself, whose sync has not ended.
            for number in 0..<6 { try journal.together(durable: false) { try? pay(journal, number) } }
            let loose = try image(shop)
            try pay(journal, 1)
            let last = try image(shop)
            try #require(synced < loose.log.count && loose.log.count < last.log.count)
            let other = try folder("other-\(round)")
            for step in 0..<16 {
                let cut = cut(
                    step.isMultiple(of: 2) ? loose : last, from: synced, keeping: step % 3 == 0, &generator)
                let found = try open(cut, other)
                #expect(!found.isDamaged, "round \(round), step \(step)")
                #expect(found.payments >= 4, "what was durable is there")
            }
            for _ in 0..<8 {
                var flipped = last
                let index = Int.random(in: 32..<synced, using: &generator)
                flipped.log[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                #expect(try open(flipped, other).isDamaged, "bit in byte \(index) of \(synced)")
            }
        }
    }

    /// Sectors of 512 bytes come to the disk in any order, and some never do.
    private func cut(
        _ image: Image, from begin: Int, keeping isWhole: Bool, _ generator: inout SeededGenerator
    ) -> Image {
        var image = image
        var sector = begin / 512
        while sector * 512 < image.log.count {
            if Bool.random(using: &generator) {
                for index in max(begin, sector * 512)..<min(image.log.count, sector * 512 + 512) {
                    image.log[index] = 0
                }
            }
            sector += 1
        }
        if !isWhole { image.log.removeLast(Int.random(in: 0...(image.log.count - begin), using: &generator)) }
        return image
    }
}
