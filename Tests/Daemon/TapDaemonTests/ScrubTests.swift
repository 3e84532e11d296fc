// SPDX-License-Identifier: Apache-2.0
import Foundation
import Journal
import Linux
import ReaderCore
import Testing

@testable import TapDaemon

@Suite("Wiping what was dropped from the journal's files", .timeLimit(.minutes(5)))
struct ScrubTests {
    private func logSize(_ folder: TestFolder) throws -> Int {
        try #require(
            FileManager.default.attributesOfItem(atPath: folder.path + "/journal.sqlite-wal")[.size] as? Int)
    }

    @Test("It waits until the disk is wanted for nothing that is in a hurry, and then happens")
    func waits() async throws {
        let folder = try TestFolder()
        let journal = JournalThread(try Journal(directory: folder.path), on: try SerialThread(name: "journal"))
        let (isAsked, isQuiet) = (OneShot(), OneShot())
        let scrubbing = Task {
            await journal.scrubAsWished(Shop.quiet) {
                isAsked.fire()
                await isQuiet.wait()
            }
        }
        defer { scrubbing.cancel() }
        _ = try await journal.use { (journal) throws(JournalError) in try journal.reserveEvents(1) }
        journal.scrubSoon()
        await isAsked.wait()
        await journal.pulse()
        #expect(try logSize(folder) > 0)
        isQuiet.fire()
        while try logSize(folder) > 0 { try await Task.sleep(for: .milliseconds(5)) }
    }
}
