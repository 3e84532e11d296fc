// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// The real daemon, whose wall clock somebody moves.
@Suite("Clocks that are wrong by years, and put right", .timeLimit(.minutes(5)))
struct ClockTests {
    private let clock: MovedClock
    private let shop: Shop

    init() throws {
        clock = try MovedClock()
        shop = try Shop(environment: clock.environment)
        try shop.awaitReader()
    }

    private func status() throws -> [String: Any] { try shop.get("/v1/status")["clock"] as? [String: Any] ?? [:] }

    private func believes(_ whether: Bool, _ doubt: String? = nil) throws {
        try shop.eventually("the clock \(whether ? "" : "not ")believed") {
            let status = try self.status()
            return status["believed"] as? Bool == whether && status["doubt"] as? String == doubt
        }
    }

    private func verify() throws -> Finished {
        try Program.tap.run(
            ["audit", "verify", "--file", shop.folder.path + "/state/journal.sqlite"], in: shop.folder)
    }

    private func restart(ahead time: Duration) throws {
        shop.killDaemon()
        try clock.isAhead(by: time)
        try shop.startDaemon()
        try shop.awaitReader()
    }

    private func paid(key: String) throws -> Payment {
        try shop.card("present visa")
        defer { try? shop.card("remove") }
        return try shop.pay("10.00 EUR", ["--idempotency-key", key])
    }

    @Test("A4 a daemon that starts 401 days ahead erases nothing, says so, and knows every key once the clock is right")
    func ahead() throws {
        let first = try paid(key: "till-1")
        #expect(first.state == "approved")
        let id = try #require(first.transaction["id"] as? String)
        try restart(ahead: .days(401))
        try believes(false, "ahead")
        #expect(try shop.curl(["http://localhost/metrics"]).contains("nfc_tap_clock_believed 0\n"))
        // The keeper looks at its start and whenever it is told to sign; give it every occasion.
        #expect(try shop.get("/v1/transactions/\(id)")["state"] as? String == "approved")
        try restart(ahead: .zero)
        #expect(try shop.get("/v1/transactions/\(id)")["state"] as? String == "approved")
        let again = try paid(key: "till-1")
        #expect(again.transaction["id"] as? String == id, "the same key is the same payment")
        #expect(try shop.ledgerEntries().count == 1)
        #expect(try verify().status == 0)
    }

    @Test("A4 a clock that jumps while the daemon runs is not believed until it is put right")
    func jumps() throws {
        try believes(true)
        try clock.isAhead(by: .days(91))
        try believes(false, "ahead")
        try clock.isAhead(by: .days(-400))
        try believes(false, "behind")
        try clock.isAhead(by: .zero)
        try believes(true)
        let log = try String(contentsOf: shop.folder.appending(path: "nfc-tapd.err"), encoding: .utf8)
        #expect(log.contains("clock not believed") && log.contains("clock believed again"))
    }

    @Test("A4 what the daemon wrote with a wrong clock is no witness for that clock after a death")
    func written() throws {
        let first = try paid(key: "till-1")
        let id = try #require(first.transaction["id"] as? String)
        try clock.isAhead(by: .days(91))
        try believes(false, "ahead")
        // Its entries have the wrong time, and are the newest.
        #expect(try paid(key: "till-2").state == "approved")
        for days in [401, 802] {
            try restart(ahead: .days(days))
            try believes(false, "ahead")
            #expect(try shop.get("/v1/transactions/\(id)")["state"] as? String == "approved")
        }
        try restart(ahead: .zero)
        try believes(true)
        #expect(try paid(key: "till-1").transaction["id"] as? String == id)
        #expect(try shop.ledgerEntries().count == 2)
        #expect(try verify().status == 0)
    }

    @Test("A4 with a time service as second witness what is old is erased, and its key stays")
    func erased() throws {
        let first = try paid(key: "till-1")
        let id = try #require(first.transaction["id"] as? String)
        try clock.isSynchronized(true)
        try restart(ahead: .days(401))
        try believes(true)
        try shop.eventually("old records erased") {
            try self.shop.curl(["-o", "/dev/null", "-w", "%{http_code}", "http://localhost/v1/transactions/\(id)"])
                == "404"
        }
        let again = try paid(key: "till-1")
        #expect(again.errors.contains("transaction.erased"), "\(again.errors)")
        #expect(try shop.ledgerEntries().count == 1)
        #expect(try verify().status == 0)
    }
}
