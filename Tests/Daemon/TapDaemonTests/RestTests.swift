// SPDX-License-Identifier: Apache-2.0
import Envelope
import Foundation
import Linux
import POSAPI
import PaymentValues
import StoreAndForward
import TestSupport
import Testing
import Transactions

@testable import Journal
@testable import TapDaemon

@Suite("What a daemon writes while nobody pays", .timeLimit(.minutes(10)))
struct RestTests {
    /// The parts that look at the disk by themselves.
    private struct Parts {
        let folder: TestFolder
        let journal: JournalThread
        let reserve: StorageReserve
        let health: JournalHealth
        let notes: StandingNotes

        /// - Parameter isBelieved: whether a time service says that the clock is right; else a later entry says that it is wrong.
        init(isBelieved: Bool = true) throws {
            folder = try TestFolder()
            reserve = StorageReserve(folder: folder.path, size: 1 << 16, room: 1 << 12, ample: 1)
            journal = JournalThread(
                try Journal(directory: folder.path), on: try SerialThread(name: "journal"), reserve: reserve)
            let key = SigningKey()
            health = try JournalHealth(
                journal, reserve, folder: folder.path, trail: AuditTrail(journal: journal, logger: Shop.quiet),
                key: key.verificationKey)
            let later = Timestamp.now.advanced(bySeconds: 86_400 * 365)
            let clock = ClockWatch(
                journal: isBelieved ? nil : later, believed: nil, isSynchronized: { isBelieved },
                events: EventHub(firstID: 1), logger: Shop.quiet)
            notes = StandingNotes(
                journal: journal, clock: clock, key: key, believed: nil, contact: nil, logger: Shop.quiet)
        }
    }

    @Test(
        "W20: an hour without a customer is at most sixty commits, and no file is allocated", arguments: [true, false])
    func hour(_ isBelieved: Bool) async throws {
        let parts = try Parts(isBelieved: isBelieved)
        let (start, clock) = (Moment.nowWithSleep, ContinuousClock.now)
        #expect(await parts.health.trouble(at: clock) == nil)
        await parts.notes.keep(at: start)
        let (commits, allocations) = (parts.journal.commitCount.commits, parts.reserve.allocations)
        for step in 1...720 {
            let seconds = Int64(step) * 5
            let now = Moment(
                monotonic: start.monotonic + seconds * 1_000, wall: start.wall.advanced(bySeconds: seconds))
            if isBelieved, step > 1 {
                await parts.notes.note(OnlineContact(at: now.wall, boot: "b", serviceName: "i"))
            }
            await parts.notes.keep(at: now)
            #expect(await parts.health.trouble(at: clock.advanced(by: .seconds(seconds))) == nil)
        }
        let written = parts.journal.commitCount.commits - commits
        // The first contact of this start of the machine is written at once.
        #expect(written <= 60 + (isBelieved ? 1 : 0), "\(written) commits")
        #expect(written >= 59, "whether a sale could be written is proved once a minute: \(written)")
        #expect(parts.reserve.allocations == allocations)
        #expect(
            try await parts.journal.use { (journal) throws(JournalError) in try journal.lastOnline()?.boot }
                == (isBelieved ? "b" : nil))
        let believed = try await parts.journal.use { (journal) throws(JournalError) in try journal.lastBelievedTime() }
        #expect((believed != nil) == isBelieved)
    }

    @Test("W20: a daemon that is asked how it is, and nothing else, allocates nothing and commits once a minute")
    func askedOnly() async throws {
        try await Shop.withSandbox { shop, _ in
            let journal = await shop.daemon.runner.journal
            let isUp = { @Sendable in shop.daemon.health.state.state == .up }
            try await eventually("a payment service that is reached") { isUp() }
            await shop.daemon.notes.keepNow()
            let (commits, begun) = (journal.commitCount.commits, ContinuousClock.now)
            let allocations = shop.daemon.reserve.allocations
            for _ in 0..<12 {
                _ = try await shop.get("/v1/status")
                try await Task.sleep(for: .seconds(1))
            }
            let minutes = begun.duration(to: .now) / .seconds(60)
            let written = journal.commitCount.commits - commits
            #expect(Double(written) <= 1 + minutes, "\(written) commits in \(minutes) minutes")
            #expect(shop.daemon.reserve.allocations == allocations)
        }
    }

    @Test("W20: a write that fails is known to whoever asks next, and a later one that succeeds as well")
    func failedWrite() async throws {
        let parts = try Parts()
        let clock = ContinuousClock.now
        #expect(await parts.health.trouble(at: clock) == nil)
        // Another hand holds the file: SQLite gives up after five seconds.
        do {
            let other = try Database(path: parts.folder.path + "/" + Journal.fileName)
            try other.run(script: "BEGIN IMMEDIATE")
            await parts.notes.keep(at: .nowWithSleep)
            #expect(await parts.health.trouble(at: clock) == .storageFailed)
            #expect(await parts.health.status().writable == false)
            try other.run(script: "ROLLBACK")
        }
        #expect(await parts.health.trouble(at: .now.advanced(by: .seconds(6))) == nil)
    }

    @Test("W20: room is looked for where there is plenty, and taken where there is not or a write has failed")
    func room() throws {
        let folder = try TestFolder()
        let plenty = StorageReserve(folder: folder.path, size: 1 << 16, room: 1 << 12, ample: 1)
        for _ in 0..<10 { try plenty.fill() }
        #expect(plenty.allocations == 1 && plenty.isKept)
        plenty.doubt()
        for _ in 0..<10 { try plenty.fill() }
        #expect(plenty.allocations == 2)
        plenty.release()
        for _ in 0..<10 { try plenty.fill() }
        #expect(plenty.allocations == 4, "the reserve itself, and the room beside it")
        let scarce = StorageReserve(folder: folder.path, size: 1 << 16, room: 1 << 12, ample: .max)
        for _ in 0..<10 { try scarce.fill() }
        #expect(scarce.allocations == 11)
        #expect(throws: SystemError.self) {
            try StorageReserve(folder: folder.path + "/none", ample: 1).fill()
        }
    }
}
