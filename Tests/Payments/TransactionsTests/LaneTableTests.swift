// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
import Testing

@testable import Transactions

/// A reader's number, so that each can be told from every other.
struct Reader: LaneDevice, Equatable {
    let number: Int
    var preparing = LanePreparing.not
}

/// A lane that is prepared and works.
func lane(_ name: String, _ number: Int, isVirtual: Bool = false) -> LaneRecord<Reader> {
    var lane = LaneRecord(name: name, isVirtual: isVirtual, device: Reader(number: number), offersLoyalty: false)
    lane.error = nil
    lane.pendingPreparation = nil
    return lane
}

func holder(_ id: TransactionID) -> LaneStatus.Holder {
    LaneStatus.Holder(transaction: id, of: Principal(uid: 1_000), since: Sample.start.wall)
}

func request(_ type: TransactionType = .purchase, lane: String? = nil, lanes: [String]? = nil, group: String? = nil)
    -> TransactionRequest
{
    var request = TransactionRequest(type: type, amount: Sample.transaction(type).amount)
    (request.lane, request.lanes, request.group) = (lane, lanes, group)
    return request
}

struct LaneTableTests {
    @Test func `what comes late of a tap changes no later one's times`() {
        var table = LaneTable([lane("a", 1)])
        let (first, second) = (TransactionID(), TransactionID())
        for id in [first, second] {
            let tap = LaneStatus.Tap(
                transaction: id, of: Principal(uid: 1_000), at: Sample.start.wall, card: 300_000, air: 40_000)
            table.update("a") { $0.lastTap = tap }
            table.updateTap(of: id) { $0.sending = 5 }
        }
        table.updateTap(of: first) { $0.service = 7 }
        #expect(table.statuses.map(\.lastTap?.transaction) == [second])
        #expect(table.statuses.first?.lastTap?.sending == 5 && table.statuses.first?.lastTap?.service == nil)
    }

    private static let names = ["a", "b", "c", "d", "e"]

    /// A model that knows no more than who has what, and which readers were made.
    private struct Model {
        var table = LaneTable([lane("a", 1), lane("b", 2), lane("c", 3)], groups: ["hall": ["b", "c"]])
        var holders: [String: TransactionID] = [:]
        var made = 3
        var closed: Set<Int> = []
        var dice: Dice

        init(_ seed: UInt64) { dice = Dice(seed) }

        mutating func begin() {
            let names = LaneTableTests.names.filter { _ in dice.oneIn(2) }
            guard !names.isEmpty else { return }
            guard case .success(let free) = table.admit(request(lanes: names), AdmissionFacts(mode: .test)) else {
                return
            }
            #expect(!free.isEmpty)
            let id = TransactionID()
            for name in free {
                #expect(holders[name] == nil, "\(name) is taken already")
                #expect(names.contains(name), "\(name) was not asked for")
                holders[name] = id
            }
            table.take(free, for: holder(id))
            #expect(table.taken(by: id, of: free).count == free.count)
        }

        mutating func end() {
            let ids = Set(holders.values).sorted()
            guard !ids.isEmpty else { return }
            let id = ids[Int(dice.next() % UInt64(ids.count))]
            let own = holders.filter { $0.value == id }.keys.sorted()
            if dice.oneIn(3), let one = own.first {
                table.release(by: id, only: one)
                holders[one] = nil
            } else {
                table.release(by: id)
                for name in own { holders[name] = nil }
            }
        }

        mutating func configure() {
            var wanted: [(name: String, lane: LaneRecord<Reader>?)] = []
            for name in LaneTableTests.names where !dice.oneIn(3) {
                let isFresh = table[name] == nil || dice.oneIn(2)
                if isFresh { made += 1 }
                wanted.append((name, isFresh ? lane(name, made) : nil))
            }
            table.apply(wanted, groups: ["hall": ["b", "c"]], offersLoyalty: false)
        }

        mutating func check() {
            for (name, id) in holders {
                #expect(table[name]?.holder?.transaction == id, "\(name) has another holder than it was given")
            }
            for lane in table.lanes where holders[lane.name] == nil {
                #expect(lane.holder == nil, "\(lane.name) is still taken")
                #expect(lane.change == nil, "\(lane.name) is free, and waits to be changed")
            }
            #expect(Set(table.lanes.map(\.name)).count == table.lanes.count)
            for reader in table.takeRetired() {
                #expect(closed.insert(reader.number).inserted, "reader \(reader.number) is closed twice")
            }
            let used = Set(table.lanes.map(\.device.number))
            #expect(closed.isDisjoint(with: used), "a reader in use is closed")
            let waiting = table.lanes.compactMap { lane -> Int? in
                if case .replaced(let fresh) = lane.change { fresh.device.number } else { nil }
            }
            #expect(
                closed.union(used).union(waiting) == Set(1...made), "a reader that was made is neither used nor closed")
        }
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func `a lane has one transaction, to its end, whatever is configured meanwhile`(
        _ seed: UInt64
    ) {
        var model = Model(seed)
        for _ in 0..<150 {
            switch model.dice.next() % 5 {
            case 0, 1: model.begin()
            case 2, 3: model.end()
            default: model.configure()
            }
            model.check()
        }
    }

    @Test func `a group gives those of its lanes that are free`() throws {
        var table = LaneTable([lane("a", 1), lane("b", 2), lane("c", 3)], groups: ["hall": ["b", "c"]])
        let id = TransactionID()
        table.take(["b"], for: holder(id))
        #expect(try table.free(for: request(group: "hall")).get() == ["c"])
        table.take(["c"], for: holder(id))
        guard case .failure(let refusal) = table.free(for: request(group: "hall")) else {
            Issue.record("a taken lane is free")
            return
        }
        #expect(refusal.error.code == ErrorCode.readerBusy.rawValue)
        #expect(refusal.error.transaction == id)
        #expect(code(table.free(for: request(group: "yard"))) == .laneUnknown)
        #expect(table.statuses.map(\.groups) == [nil, ["hall"], ["hall"]])
    }

    @Test func `a lane that is lent is busy without a holder, and changes once it is taken back`() throws {
        var table = LaneTable([lane("a", 1), lane("b", 2)])
        #expect(try table.lend("a").get() == Reader(number: 1))
        #expect(table["a"]?.status.state == .busy && table["a"]?.status.holder == nil)
        #expect(code(table.free(for: request(lane: "a"))) == .readerBusy)
        #expect(try table.free(for: request()).get() == ["b"])
        guard case .failure(let refusal) = table.lend("a") else {
            Issue.record("a lane is lent twice")
            return
        }
        #expect(refusal.error.code == ErrorCode.readerBusy.rawValue)
        #expect(table.toCheck() == [Reader(number: 2)])
        table.forgetPreparations(because: .resume)
        #expect(table.toPrepare(at: 0, renewalPause: 1).map(\.name) == ["b"])
        table.apply([("a", lane("a", 3)), ("b", nil)], groups: [:], offersLoyalty: false)
        #expect(table["a"]?.device.number == 1)
        table.withdraw("a")
        #expect(table["a"]?.device.number == 3 && table["a"]?.status.state == .ready)
        #expect(table.takeRetired() == [Reader(number: 1)])
        table.take(["b"], for: holder(TransactionID()))
        #expect(throws: ErrorBody.self) { try table.lend("b").get() }
        #expect(throws: ErrorBody.self) { try table.lend("c").get() }
    }

    @Test func `a lane that is to go takes nothing more and goes with its transaction`() {
        var table = LaneTable([lane("a", 1), lane("b", 2)])
        let id = TransactionID()
        table.take(["a"], for: holder(id))
        table.apply([("b", nil)], groups: [:], offersLoyalty: false)
        #expect(code(table.free(for: request(lane: "a"))) == .readerBusy)
        #expect(table["a"]?.holder?.transaction == id)
        table.release(by: id)
        #expect(table["a"] == nil)
        #expect(table.takeRetired() == [Reader(number: 1)])
        #expect(code(table.free(for: request(lane: "a"))) == .laneUnknown)
    }

    @Test func `nobody prepares or checks the reader of a lane that is taken`() {
        var table = LaneTable([lane("a", 1), lane("b", 2)])
        table.prepared("a", until: 100, renewal: 50)
        let id = TransactionID()
        table.take(["a"], for: holder(id))
        #expect(table.toCheck() == [Reader(number: 2)])
        #expect(table.toCheck().isEmpty, "once until it was checked")
        table.wasChecked("b")
        #expect(table.toCheck() == [Reader(number: 2)])
        #expect(table.toPrepare(at: 200, renewalPause: 10).map(\.name) == [])
        table.release(by: id)
        #expect(table.toPrepare(at: 200, renewalPause: 10).map(\.reason) == [.expiry])
    }

    @Test func `a renewal is tried at intervals while the lane is still good`() {
        var table = LaneTable([lane("a", 1)])
        table.prepared("a", until: 100, renewal: 50)
        #expect(table.toPrepare(at: 49, renewalPause: 10).isEmpty)
        #expect(table.toPrepare(at: 50, renewalPause: 10).count == 1)
        #expect(table.toPrepare(at: 59, renewalPause: 10).isEmpty)
        #expect(table.toPrepare(at: 60, renewalPause: 10).count == 1)
        #expect(table["a"]?.pendingPreparation == nil)
    }

    @Test func `a reader's fault and its return are news once`() {
        var table = LaneTable([lane("a", 1)])
        let isNews = table.notReady("a", .readerDetached)
        let isAgain = table.notReady("a", .readerDetached)
        #expect(isNews && !isAgain)
        #expect(table["a"]?.status.state == .detached)
        #expect(code(table.free(for: request(lane: "a"))) == .readerDetached)
        let reader = LaneStatus.Reader(name: "R", model: "M", driver: "virtual")
        let isBack = table.attached("a", reader, passAutoSelect: true)
        #expect(isBack)
        table.prepared("a", until: nil, renewal: nil)
        let isBackAgain = table.attached("a", reader, passAutoSelect: true)
        #expect(!isBackAgain)
        #expect(table["a"]?.status.state == .ready)
    }

    private func code(_ found: Result<[String], ErrorBody>) -> ErrorCode? {
        if case .failure(let refusal) = found { ErrorCode(rawValue: refusal.error.code) } else { nil }
    }
}
