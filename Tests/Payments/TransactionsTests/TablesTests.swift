// SPDX-License-Identifier: Apache-2.0
import PaymentValues
import Testing

@testable import Transactions

struct TablesTests {
    private let id = TransactionID()

    @Test func `a key answers one request at a time`() {
        var keys = KeyTable()
        let key = PrincipalKey(Principal(uid: 1), key: "A-17/1")
        let first = keys.claim(key)
        let second = keys.claim(key)
        let ofAnother = keys.claim(PrincipalKey(Principal(uid: 2), key: "A-17/1"))
        #expect(first == nil)
        #expect(second?.error.code == ErrorCode.idempotencyInProgress.rawValue)
        #expect(second?.error.transaction == nil)
        #expect(ofAnother == nil, "a key belongs to the user who sends it")
        keys.bind(key, to: id)
        let third = keys.claim(key)
        #expect(third?.error.transaction == id)
        keys.release(key)
        let later = keys.claim(key)
        #expect(later == nil)
    }

    @Test func `failed reads are counted for an order, and for so many of them`() {
        var table = FailedReadTable()
        table.set(2, of: "A-17")
        table.set(3, of: nil)
        #expect(table.count(of: "A-17") == 2)
        #expect(table.count(of: nil) == 0)
        table.set(0, of: "A-17")
        #expect(table.count(of: "A-17") == 0)
        for number in 0..<FailedReadTable.capacity + 1 { table.set(1, of: "\(number)") }
        #expect(table.count(of: "0") == 0, "the oldest goes")
        #expect(table.count(of: "1") == 1)
        table.set(2, of: "1")
        table.set(1, of: "new")
        #expect(table.count(of: "1") == 2, "what was counted last stays")
        #expect(table.count(of: "2") == 0)
    }

    @Test func `passes are forgotten some time after the end, and not before it`() {
        var shelf = MemoryShelf<String>()
        var now = Sample.start
        shelf.keep("pass", of: id)
        #expect(shelf.due == nil)
        now.monotonic += 3_600_000
        shelf.expire(at: now)
        #expect(shelf[id] == "pass")
        shelf.end(id, at: now)
        let due = now.after(MemoryShelf<String>.afterEnd)
        #expect(shelf.due == due)
        now.monotonic = due - 1
        shelf.expire(at: now)
        #expect(shelf[id] == "pass")
        // Only the clock that never jumps counts.
        now.wall.milliseconds += 1_000_000_000
        shelf.expire(at: now)
        #expect(shelf[id] == "pass")
        now.monotonic = due
        shelf.expire(at: now)
        #expect(shelf[id] == nil)
        shelf.end(id, at: now)
        #expect(shelf[id] == nil && shelf.due == nil)
    }

    @Test func `only the last connection that goes leaves a transaction alone, and only while nobody comes back`() {
        var holders = HolderTable()
        let first = holders.retain(id, by: 1)
        let again = holders.retain(id, by: 1)
        let second = holders.retain(id, by: 2)
        #expect(first && !again && second)
        let withOneLeft = holders.release(id, by: 1)
        #expect(withOneLeft == nil)
        let generation = holders.release(id, by: 2)
        #expect(generation == 2)
        #expect(holders.isAbandoned(id, since: 2))
        let third = holders.retain(id, by: 3)
        #expect(third)
        #expect(!holders.isAbandoned(id, since: 2), "somebody has come back")
        let later = holders.release(id, by: 3)
        #expect(later == 3)
        #expect(!holders.isAbandoned(id, since: 2), "that was another absence")
        #expect(holders.isAbandoned(id, since: 3))
        holders.forget(id)
        #expect(!holders.isAbandoned(id, since: 3))
        let unknown = holders.release(id, by: 3)
        #expect(unknown == nil)
    }
}
