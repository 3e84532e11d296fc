// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// The real daemon, whose wall clock somebody moves while money is on its way.
@Suite("Payments while the clock is wrong by hours and years", .timeLimit(.minutes(5)))
struct ClockPaymentTests {
    private let clock: MovedClock
    private let shop: Shop

    init() throws {
        clock = try MovedClock()
        shop = try Shop(environment: clock.environment)
        try shop.awaitReader()
    }

    private func restart(ahead time: Duration) throws {
        shop.killDaemon()
        try clock.isAhead(by: time)
        try shop.startDaemon()
        try shop.awaitReader()
    }

    private func approved(_ more: [String] = []) throws -> String {
        try shop.card("present visa")
        defer { try? shop.card("remove") }
        let payment = try shop.pay("12.00 EUR", more)
        try #require(payment.state == "approved", "\(payment.errors)")
        return try #require(payment.transaction["id"] as? String)
    }

    private func state(_ id: String) throws -> String? { try shop.get("/v1/transactions/\(id)")["state"] as? String }

    private func reaches(_ state: String, _ id: String) throws {
        try shop.eventually("\(id) \(state)") { try self.state(id) == state }
    }

    /// A reversal that nobody has acknowledged yet: the adapter is away.
    private func reversing() throws -> String {
        let id = try approved()
        shop.stopSandbox()
        _ = try shop.curl([
            "-X", "POST", "-H", "Content-Type: application/json", "-d", #"{"reason":"customerCancel"}"#,
            "http://localhost/v1/transactions/\(id)/reversal",
        ])
        try reaches("reversing", id)
        return id
    }

    static let shifts: [Duration] = [.days(-365), .hours(-1), .hours(1), .days(3_650)]

    @Test("A3 a reversal is carried out after a start whatever the clock says", arguments: shifts)
    func atStart(shift: Duration) throws {
        let id = try reversing()
        let before = try attempts(id)
        // It has forgotten everything: whether it acknowledges the reversal or not, it has to be asked at once.
        try shop.startSandbox()
        try restart(ahead: shift)
        try asked(id, more: before)
    }

    @Test("A3 a reversal goes on when the clock jumps while it is open, and when it is corrected")
    func whileOpen() throws {
        let id = try reversing()
        let before = try attempts(id)
        try clock.isAhead(by: .days(-365))
        try shop.startSandbox()
        try asked(id, more: before)
        try clock.isAhead(by: .zero)
        #expect(["reversing", "reversed"].contains(try state(id)))
    }

    /// More attempts at a reversal than there were.
    private func asked(_ id: String, more before: Int) throws {
        try shop.eventually("another attempt at \(id)") {
            try self.state(id) == "reversed" || self.attempts(id) > before
        }
    }

    private func attempts(_ id: String) throws -> Int {
        let log = try String(contentsOf: shop.folder.appending(path: "nfc-tapd.err"), encoding: .utf8)
        return log.split(separator: "\n").count { $0.contains("reversal not acknowledged") && $0.contains(id) }
    }

    @Test("A3 an hour back keeps no unconfirmed approval, and no late confirmation is taken")
    func unconfirmed() throws {
        let id = try approved(["--confirm-within", "5"])
        try clock.isAhead(by: .hours(-1))
        try reaches("reversed", id)
        let late = try shop.tap("confirm \(id)")
        #expect(late.status == 13 && late.errors.contains("confirmation.too_late"), "\(late.errors)")
    }

    @Test("A3 an hour ahead takes nothing back that is confirmed in time")
    func confirmedAhead() throws {
        let id = try approved(["--confirm-within", "600"])
        try clock.isAhead(by: .hours(1))
        let confirmed = try shop.tap("confirm \(id)")
        #expect(confirmed.status == 0, "\(confirmed.errors)")
        #expect(try state(id) == "approved")
    }

    @Test("A3 after a restart with the clock before the approval nobody knows how long ago it was: it is taken back")
    func unconfirmedAfterRestart() throws {
        let id = try approved(["--confirm-within", "600"])
        try restart(ahead: .hours(-1))
        try reaches("reversed", id)
        #expect(try shop.tap("confirm \(id)").status == 13)
    }

    @Test(
        "A3 a sale ends, whenever the clock is moved, and the next one is paid with the clock put right",
        arguments: [Duration.days(-365), .days(365)])
    func moved(shift: Duration) throws {
        try clock.isAhead(by: shift)
        try shop.card("present visa")
        // The service may well refuse a read of another year: it ends all the same.
        let wrong = try shop.pay("12.00 EUR")
        #expect(["approved", "declined", "failed"].contains(wrong.state), "\(wrong.errors)")
        try shop.card("remove")
        let text = try shop.curl([
            "-H", "Content-Type: application/json", "-H", "Idempotency-Key: moved", "-d",
            #"{"type":"purchase","amount":{"value":1300,"currency":"EUR"},"detached":true,"deadline":60}"#,
            "http://localhost/v1/transactions",
        ])
        let id = try #require(text.firstMatch(of: /"id":"([0-9a-f-]{36})"/)?.output.1)
        try reaches("armed", String(id))
        try clock.isAhead(by: .zero)
        try shop.card("present visa")
        // Armed in another year it is sealed with that year's time, which the service may refuse.
        try shop.eventually("the end of \(id)") {
            ["approved", "declined"].contains(try self.state(String(id)))
        }
        try shop.card("remove")
        #expect(try state(approved()) == "approved")
    }
}
