// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Hub

@Suite("The outbox")
struct OutboxTests {
    private func sent(_ outbox: inout Outbox, at now: UInt64) -> Outbox.Item? {
        if case .send(let item) = outbox.turn(now: now).turn { item } else { nil }
    }

    @Test("H2: eight attempts by the schedule, then dead, and the next one is not held up")
    func schedule() throws {
        var outbox = Outbox()
        for id in ["a", "b"] { _ = try outbox.add(id: id, body: id, wall: 0, now: 0) }
        var now: UInt64 = 0
        var pauses: [UInt64] = []
        while let item = sent(&outbox, at: now), item.id == "a" {
            // One at a time.
            #expect(outbox.turn(now: now).turn == .wait(until: nil))
            let lines = outbox.answered(item.number, .retry(after: nil), now: now)
            guard case .wait(let time?) = outbox.turn(now: now).turn else {
                #expect(lines == [.ended(1, .exhausted)])
                break
            }
            pauses.append((time - now) / 1_000)
            now = time
        }
        #expect(pauses == [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000])
        #expect(outbox.dead.map(\.id) == ["a"] && outbox.waiting.map(\.id) == ["b"])
    }

    @Test("H2: Retry-After is obeyed for an hour at most, and a tenth of a pause is chance")
    func retryAfter() throws {
        var outbox = Outbox()
        _ = try outbox.add(id: "a", body: "", wall: 0, now: 0)
        for (wanted, pause) in [(120, 120), (86_400, 3_600), (-5, 0)] {
            let now: UInt64 = 1_000_000_000
            guard case .send(let item) = outbox.turn(now: now).turn else {
                Issue.record("not sent")
                return
            }
            _ = outbox.answered(item.number, .retry(after: wanted), now: now)
            if pause > 0 { #expect(outbox.turn(now: now).turn == .wait(until: now + UInt64(pause) * 1_000)) }
            outbox = try again(outbox)
        }
        let item = try #require(sent(&outbox, at: 0))
        _ = outbox.answered(item.number, .retry(after: nil), now: 0, jitter: -1)
        // The fourth attempt: two hours, less a tenth.
        #expect(outbox.turn(now: 0).turn == .wait(until: 6_480_000))
    }

    /// The same after a restart: what was written down, read again.
    private func again(_ outbox: Outbox, wall: Int64 = 0, now: UInt64 = 0) throws -> Outbox {
        var next = Outbox(life: outbox.life)
        for line in outbox.lines { next.read(line) }
        next.begin(wall: wall, now: now)
        #expect(next.waiting == outbox.waiting && next.dead == outbox.dead)
        return next
    }

    @Test(
        "H1: a door does not open in the evening: what is too old is dropped, also after a restart and with a clock that was set"
    )
    func life() throws {
        func box() throws -> Outbox {
            var outbox = Outbox(life: 10)
            _ = try outbox.add(id: "a", body: "", wall: 1_000_000, now: 50_000)
            return outbox
        }
        var outbox = try box()
        #expect(outbox.turn(now: 60_000).lines == [.ended(1, .expired)] && outbox.waiting.isEmpty)
        outbox = try box()
        #expect(sent(&outbox, at: 59_999)?.id == "a")
        for (wall, isSent) in [
            (Int64(1_005_000), true), (1_011_000, false), (980_000, false), (.min, false), (.max, false),
        ] {
            var next = try again(try box(), wall: wall, now: 7)
            #expect((sent(&next, at: 8) != nil) == isSent, "\(wall)")
        }
        // A webhook waits for ever.
        var patient = Outbox()
        _ = try patient.add(id: "a", body: "", wall: 0, now: 0)
        var next = try again(patient, wall: .max, now: 0)
        #expect(sent(&next, at: 1) != nil)
    }

    @Test("H2: after 410 nothing more is sent until a restart, and nothing is lost")
    func stopped() throws {
        var outbox = Outbox()
        for id in ["a", "b"] { _ = try outbox.add(id: id, body: id, wall: 0, now: 0) }
        let item = try #require(sent(&outbox, at: 0))
        #expect(outbox.answered(item.number, .stop, now: 0) == [])
        #expect(outbox.turn(now: .max).turn == .wait(until: nil) && outbox.isStopped)
        var next = try again(outbox)
        #expect(sent(&next, at: 0)?.id == "a")
    }

    @Test("H2: the same tap is taken once, and ten thousand wait at most")
    func limits() throws {
        var outbox = Outbox()
        for index in 0..<Outbox.capacity { _ = try outbox.add(id: "\(index)", body: "", wall: 0, now: 0) }
        #expect(throws: Outbox.Refusal.full) { try outbox.add(id: "more", body: "", wall: 0, now: 0) }
        #expect(throws: Outbox.Refusal.known) { try outbox.add(id: "7", body: "", wall: 0, now: 0) }
    }

    /// A receiver that fails, refuses and falls silent; a hub that dies between any two lines, and loses the end of what was not synced.
    @Test("H2: no tap is lost and none overtakes another, whatever dies when", arguments: UInt64(1)...40)
    func deaths(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let path = FileManager.default.temporaryDirectory.appending(path: "outbox-\(UUID().uuidString)").path
        defer { for end in ["", ".new"] { try? FileManager.default.removeItem(atPath: path + end) } }
        var promised: [String] = []
        var received: [String] = []
        var refused: Set<String> = []
        var now: UInt64 = 0
        for run in 0..<12 {
            var (file, outbox, damaged): (OutboxFile?, Outbox, Int)
            let opened = try OutboxFile.open(path, life: 0)
            (file, outbox, damaged) = (opened.file, opened.outbox, opened.damaged)
            #expect(damaged == 0)
            outbox.begin(wall: Int64(now), now: now)
            var synced = try size(path)
            for step in 0..<Int.random(in: 1...30, using: &random) {
                now += UInt64.random(in: 0...40_000_000, using: &random)
                if Bool.random(using: &random) {
                    let line = try outbox.add(id: "\(run).\(step)", body: "b", wall: Int64(now), now: now)
                    try file?.write([line], isSynced: true)
                    synced = try size(path)
                    promised.append("\(run).\(step)")
                }
                guard let item = sent(&outbox, at: now) else { continue }
                let answer: Outbox.Answer
                switch Int.random(in: 0..<8, using: &random) {
                // What it has refused for good it does not take later.
                case 0: answer = .refused
                case _ where refused.contains(item.id): answer = .refused
                case 1...3: answer = .retry(after: nil)
                case 4: answer = .lost
                default: answer = .done
                }
                if answer == .done { received.append(item.id) }
                let lines = outbox.answered(item.number, answer, now: now)
                for case .ended(_, let end) in lines where end != .done { refused.insert(item.id) }
                // It dies here, perhaps: what the receiver has got is not written down.
                if Int.random(in: 0..<10, using: &random) == 0 { break }
                try file?.write(lines, isSynced: false)
                try file?.renew(outbox)
            }
            file = nil
            // A power cut takes what was not synced, or a part of it.
            let end = try size(path)
            if end > synced { truncate(path, to: Int.random(in: synced...end, using: &random)) }
        }
        let opened = try OutboxFile.open(path, life: 0)
        var outbox = opened.outbox
        outbox.begin(wall: Int64(now), now: now)
        while let item = sent(&outbox, at: now) {
            received.append(item.id)
            _ = outbox.answered(item.number, .done, now: now)
        }
        // Each at least once, or refused by the receiver; and first seen in their order.
        #expect(Set(received).union(refused) == Set(promised))
        var firsts: [String] = []
        for id in received where !firsts.contains(id) { firsts.append(id) }
        let order = Dictionary(uniqueKeysWithValues: promised.enumerated().map { ($1, $0) })
        let places = firsts.compactMap { order[$0] }
        #expect(places == places.sorted())
    }

    private func size(_ path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    }

    private func truncate(_ path: String, to size: Int) {
        let file = FileHandle(forUpdatingAtPath: path)
        try? file?.truncate(atOffset: UInt64(size))
        try? file?.close()
    }

    @Test("H2: a file of many taps is written anew, remembers the last ids, and a damaged line costs itself alone")
    func renewal() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "outbox-\(UUID().uuidString)").path
        defer { for end in ["", ".new"] { try? FileManager.default.removeItem(atPath: path + end) } }
        do {
            let (file, empty, _) = try OutboxFile.open(path, life: 0)
            var outbox = empty
            for index in 0..<1_500 {
                try file.write([try outbox.add(id: "\(index)", body: "", wall: 0, now: 0)], isSynced: false)
                let item = try #require(sent(&outbox, at: 0))
                try file.write(outbox.answered(item.number, .done, now: 0), isSynced: false)
                try file.renew(outbox)
            }
            #expect(throws: OutboxFile.Failure.inUse) { try OutboxFile.open(path, life: 0) }
        }
        var text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.split(separator: "\n").count < 2_100)
        text.replace("\"1200\"", with: "\"1201\"", maxReplacements: 1)
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        var (_, outbox, damaged) = try OutboxFile.open(path, life: 0)
        #expect(damaged == 1)
        #expect(throws: Outbox.Refusal.known) { try outbox.add(id: "1499", body: "", wall: 0, now: 0) }
    }

    @Test("H2: after a line that the disk took in part no tap is promised that the next start would not find")
    func torn() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "outbox-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        // A limit of this process, far above what other tests write: the write that meets it is cut there.
        signal(SIGXFSZ, SIG_IGN)
        let limit = 8 << 20
        do {
            let (file, empty, _) = try OutboxFile.open(path, life: 0)
            var outbox = empty
            func add(_ id: String, _ length: Int) throws {
                let body = String(repeating: "b", count: length)
                try file.write([try outbox.add(id: id, body: body, wall: 0, now: 0)], isSynced: true)
            }
            try add("whole", limit - 1_000)
            var before = rlimit()
            try #require(unsafe getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &before) == 0)
            var low = before
            low.rlim_cur = rlim_t(limit)
            try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &low) == 0)
            #expect(throws: OutboxFile.Failure.self) { try add("torn", 4_000) }
            try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &before) == 0)
            #expect(try size(path) == limit)
            #expect(throws: OutboxFile.Failure.self) { try add("next", 10) }
        }
        let (_, outbox, damaged) = try OutboxFile.open(path, life: 0)
        #expect(damaged == 0 && outbox.waiting.map(\.id) == ["whole"])
    }
}
