// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import PaymentValues
import Testing

@testable import RemoteOrders

@Suite("Orders, step by step")
struct OrderStepTests {
    private static let wall: Int64 = 1_796_119_200
    private var book = OrderBook(
        judge: OrderJudge(installation: "here", senders: [OrderModel.sender]))

    private static func key(_ id: String) -> OrderKey { OrderKey(sender: OrderModel.sender.name, id: id) }

    private func clock(_ seconds: Int64 = 0) -> OrderBook.Clock {
        .init(wall: Self.wall + seconds, now: UInt64(seconds) * 1_000)
    }

    private func start(_ id: String, life: Int64 = 60) -> Order {
        Order(
            key: Self.key(id), keyID: "k", digest: id, issuedAt: Self.wall, expires: Self.wall + life,
            purpose: .start(
                .init(
                    lane: "kiosk", request: #"{"type":"purchase"}"#, type: "purchase", value: 100, currency: "EUR",
                    confirms: false)))
    }

    private func order(_ id: String, _ purpose: Order.Purpose) -> Order {
        Order(key: Self.key(id), keyID: "k", digest: id, issuedAt: Self.wall, expires: Self.wall + 60, purpose: purpose)
    }

    private mutating func take(_ order: Order) throws {
        _ = try book.take(order, clock: clock(), clockHolds: true)
    }

    /// The step, and what the daemon answers to it.
    @discardableResult
    private mutating func step(_ id: String, at seconds: Int64 = 0, _ answer: DaemonAnswer? = nil) -> OrderStep {
        let step = book.step(Self.key(id), clock(seconds)).step
        if let answer { _ = book.answered(Self.key(id), answer, to: step, now: clock(seconds).now) }
        return step
    }

    /// - Returns: what is told, once the backend has taken or refused it.
    private mutating func say(_ id: String, at seconds: Int64 = 0, isTaken: Bool) -> OrderSaying? {
        guard case .say(let saying) = book.step(Self.key(id), clock(seconds)).step else { return nil }
        _ = book.heard(saying, isTaken, now: clock(seconds).now)
        return saying
    }

    @Test("B4: a cancel names its order, and no other one is touched")
    mutating func cancel() throws {
        try take(start("A"))
        try take(start("B"))
        step("A", .transaction(Snapshot(id: "t-a", state: .armed)))
        step("B", .refused("reader.busy", isRetryable: true))
        try take(order("C", .cancel(of: "B")))
        // B never began: nothing is asked of the daemon, least of all about A.
        let told = say("C", isTaken: true)
        #expect(told?.of == "B" && told?.outcome == .neverBegan)
        try take(order("D", .cancel(of: "A")))
        #expect(step("D") == .withdraw(id: "A"))
    }

    @Test("B4: a cancel between taking and beginning is decided in one step")
    mutating func race() throws {
        try take(start("A"))
        try take(order("C", .cancel(of: "A")))
        #expect(say("C", isTaken: true)?.outcome == .neverBegan)
        #expect(say("A", isTaken: true)?.outcome?.code == "order.cancelled")
        #expect(step("A") == .rest)
        // And the other way: what may have left is the daemon's to decide.
        try take(start("B"))
        guard case .begin = step("B") else {
            Issue.record("B does not begin")
            return
        }
        try take(order("D", .cancel(of: "B")))
        #expect(step("D") == .withdraw(id: "B"))
    }

    @Test("B5: a reader never waits beyond the order's end, however late it begins")
    mutating func end() throws {
        try take(start("A", life: 20))
        guard case .begin(let body) = step("A", at: 15, .unsent) else {
            Issue.record("A does not begin")
            return
        }
        #expect(
            body.hasPrefix(
                #"{"deadline":5,"detached":true,"lane":"kiosk","notAfter":"2026-12-01T10:00:20.000Z","type""#))
        // The daemon was away: at the end of its life nothing is asked of it any more.
        #expect(say("A", at: 20, isTaken: true)?.outcome == .refused("order.expired", isRetryable: true))
    }

    @Test("B6: an approval that was read before the line broke is read again before it is told")
    mutating func fresh() throws {
        try take(start("A"))
        step("A", .transaction(Snapshot(id: "t", state: .armed)))
        #expect(say("A", isTaken: true)?.seq == 1)
        step("A", at: 1, .transaction(Snapshot(id: "t", state: .approved, needsConfirmation: true)))
        #expect(say("A", at: 1, isTaken: false)?.snapshot?.state == .approved)
        // What the backend may have heard under 2 stays under 2; what it is told now has a number of its own.
        #expect(
            step("A", at: 10, .transaction(Snapshot(id: "t", state: .reversed))) == .look(transaction: "t", wait: 0))
        let told = say("A", at: 10, isTaken: true)
        #expect(told?.snapshot?.state == .reversed && told?.seq == 3)
        #expect(step("A", at: 11) == .rest)
    }

    @Test("B6: an approval is confirmed by the answer to it, and by nothing else")
    mutating func confirmation() throws {
        try take(start("A"))
        let approved = Snapshot(id: "t", state: .approved, needsConfirmation: true)
        step("A", .transaction(approved))
        #expect(say("A", isTaken: false) != nil)
        #expect(step("A", at: 5) == .look(transaction: "t", wait: 0))
        step("A", at: 5, .transaction(approved))
        #expect(say("A", at: 5, isTaken: true)?.seq == 1)
        #expect(step("A", at: 5) == .confirm(transaction: "t"))
    }

    @Test("B7: a request that was given up cannot begin after a later one was refused")
    mutating func stray() throws {
        try take(start("A"))
        step("A", .unclear)
        #expect(step("A", at: 1, .unknown) == .find(id: "A"))
        guard case .begin = step("A", at: 2, .refused("reader.busy", isRetryable: true)) else {
            Issue.record("A is not sent again")
            return
        }
        // The first one may still be on its way: only then it is told as refused.
        #expect(step("A", at: 3, .outcome(.neverBegan)) == .withdraw(id: "A"))
        #expect(say("A", at: 3, isTaken: true)?.outcome?.code == "reader.busy")
    }

    @Test("B7: where the given-up request has begun meanwhile, its payment is told")
    mutating func begun() throws {
        try take(start("A"))
        step("A", .unclear)
        step("A", at: 1, .unknown)
        step("A", at: 2, .refused("reader.busy", isRetryable: true))
        step("A", at: 3, .outcome(.init(outcome: "tooLate", state: .reading)))
        #expect(step("A", at: 4, .transaction(Snapshot(id: "t", state: .approved))) == .find(id: "A"))
        #expect(say("A", at: 4, isTaken: true)?.snapshot?.state == .approved)
    }

    @Test(
        "B8: a request on its way is not forgotten because the next one found no daemon: its cancel is the daemon's to decide"
    )
    mutating func strayAndAway() throws {
        try take(start("A"))
        step("A", .unclear)
        #expect(step("A", at: 1, .unknown) == .find(id: "A"))
        guard case .begin = step("A", at: 2, .unsent) else {
            Issue.record("A is not sent again")
            return
        }
        try take(order("C", .cancel(of: "A")))
        #expect(step("C", at: 3) == .withdraw(id: "A"))
        // Nor is it told as expired before the daemon has said that it never begins.
        #expect(step("A", at: 61, .unknown) == .find(id: "A"))
        #expect(step("A", at: 62) == .withdraw(id: "A"))
    }

    @Test("B8: the same over a start of the bridge, of whose request nobody knows")
    mutating func strayOfBefore() throws {
        try take(start("A"))
        var later = OrderBook(judge: book.judge)
        for line in book.lines { later.read(line) }
        book = later
        #expect(step("A", at: 1, .unknown) == .find(id: "A"))
        step("A", at: 2, .unsent)
        try take(order("C", .cancel(of: "A")))
        #expect(step("C", at: 3) == .withdraw(id: "A"))
    }

    @Test(
        "B9: rights that are taken away for a while end no order whose payment may be approved",
        arguments: [false, true])
    func forbidden(isBegin: Bool) throws {
        let body = try WireJSON.encode(ErrorBody(.authRoleMissing))
        let answer = DaemonDoor.refusal(HTTPClientAnswer(status: 403, body: body), isBegin: isBegin)
        #expect(answer == (isBegin ? .refused("auth.role_missing", isRetryable: false) : .unclear))
    }

    @Test("B14: a daemon that has no connection left has refused no order", arguments: [false, true])
    func noConnection(isBegin: Bool) throws {
        for code in [ErrorCode.requestTooManyConnections, .requestTooManyConnectionsOfUser] {
            let answer = HTTPClientAnswer(status: 503, body: try WireJSON.encode(ErrorBody(code)))
            #expect(DaemonDoor.refusal(answer, isBegin: isBegin) == (isBegin ? .unsent : .unclear))
        }
    }

    @Test("B8: a cancel of what the daemon has lost is answered, by a daemon without cancels by key as well")
    mutating func lost() throws {
        try take(start("A"))
        step("A", .transaction(Snapshot(id: "t", state: .armed)))
        try take(order("C", .cancel(of: "A")))
        #expect(step("C", .unknown) == .withdraw(id: "A"))
        // The power failed, and the beginning of A was not on the disk.
        #expect(say("A", at: 1, isTaken: true)?.snapshot?.state == .armed)
        #expect(step("A", at: 5, .unknown) == .look(transaction: "t", wait: 25))
        #expect(say("A", at: 5, isTaken: true)?.outcome?.code == "transaction.unknown")
        #expect(step("C", at: 5, .unknown) == .withdraw(id: "A"))
        #expect(say("C", at: 5, isTaken: true)?.outcome == .init(outcome: "nothingToCancel"))
    }

    @Test("A report tells what became of an order, also of one that is long forgotten here")
    mutating func report() throws {
        try take(start("A"))
        step("A", .transaction(Snapshot(id: "t", state: .armed)))
        try take(order("R", .report(of: "A")))
        #expect(step("R", .transaction(Snapshot(id: "t", state: .armed))) == .look(transaction: "t", wait: 0))
        #expect(say("R", isTaken: true)?.snapshot?.state == .armed)
        try take(order("S", .report(of: "old")))
        #expect(step("S", .transaction(Snapshot(id: "t-old", state: .declined))) == .find(id: "old"))
        #expect(say("S", isTaken: true)?.snapshot?.id == "t-old")
        try take(order("T", .report(of: "never")))
        #expect(step("T", .unknown) == .find(id: "never"))
        #expect(say("T", isTaken: true)?.outcome?.outcome == "unknown")
    }
}
