// SPDX-License-Identifier: Apache-2.0
import StoreAndForward
import Transactions
import Wire

/// A shop for some hours: tills, lanes, payment services, a disk, two clocks, all out of one seed, on one thread. What can
/// lie lies until the grace time, in which everybody is honest.
struct Story {
    struct Reader: LaneDevice { var preparing: LanePreparing { .not } }

    /// What a person would want to know of one transaction.
    struct Trace {
        var reversedBy: Set<Int> = []
        var askedOf: Set<Int> = []
        var wasNeverSeen = false
        var wasRefusedInDoubt = false
        var isInDoubt = false
        var wasForwarded = false
        var approvedAt: Int64?
        var isConfirmedLate = false
    }

    var dice: Dice
    var agenda = Agenda()
    /// True time since the beginning, which nobody knows.
    var time: Int64 = 0
    var wallOffset: Int64 = 0
    var life = 1
    var isHonest = false
    var services: [Service] = []
    var service = 0
    var table: LaneTable<Reader>
    var rows: [Row] = []
    var traces: [Trace] = []
    var machines: [Int: TransactionMachine] = [:]
    /// Whose write is under way.
    var writing: [Int: Write] = [:]
    var isRoundPlanned = false
    var isFull = false
    var isStorable = false
    var wishes: UInt64 = 0
    var tills = 0
    var salesLeft: Int
    var inputs = 0
    var faults: [String] = []
    let isTold: Bool
    var lines: [String] = []

    init(seed: UInt64, isTold: Bool = false) {
        var dice = Dice(seed)
        self.isTold = isTold
        let lanes = (0..<1 + Int(dice.upTo(3))).map { number in
            var lane = LaneRecord(name: "lane\(number)", isVirtual: false, device: Reader(), offersLoyalty: false)
            (lane.error, lane.pendingPreparation) = (nil, nil)
            return lane
        }
        table = LaneTable(lanes, groups: ["all": lanes.map(\.name)])
        services = (0..<1 + Int(dice.upTo(2))).map { _ in Service(&dice) }
        isStorable = dice.happens(500)
        salesLeft = 5 + Int(dice.upTo(25))
        self.dice = dice
        tills = 1 + Int(self.dice.upTo(3))
        plan()
        while let next = agenda.next() {
            time = max(time, next.time)
            guard next.life == 0 || next.life == life else { continue }
            happen(next.what)
        }
        judgeLanes()
    }

    var now: Moment {
        Moment(monotonic: time + 5_000, wall: Timestamp(milliseconds: 1_770_000_000_000 + time + wallOffset))
    }

    mutating func tell(_ line: @autoclosure () -> String) {
        if isTold { lines.append("\(time) \(line())") }
    }

    /// Trouble comes at times that the seed draws; then everybody is honest for two days.
    private mutating func plan() {
        let length = 3_600_000
        for till in 0..<tills { agenda.add(.sale(till: till), at: dice.upTo(5_000), life: 0) }
        let crashes = dice.happens(500) ? dice.upTo(4) : 0
        for _ in 0..<crashes { agenda.add(.crash, at: dice.upTo(300_000), life: 0) }
        if dice.happens(300) {
            let jump = dice.upTo(4) == 0 ? -dice.upTo(31_536_000_000) : dice.upTo(7_200_000) - 3_600_000
            agenda.add(.clock(jump), at: dice.upTo(300_000), life: 0)
        }
        for index in services.indices where dice.happens(400) {
            let begin = dice.upTo(300_000)
            agenda.add(.outage(service: index, isUp: false), at: begin, life: 0)
            agenda.add(.outage(service: index, isUp: true), at: begin + dice.upTo(120_000), life: 0)
        }
        if dice.happens(200) {
            let begin = dice.upTo(300_000)
            agenda.add(.full(true), at: begin, life: 0)
            agenda.add(.full(false), at: begin + dice.upTo(60_000), life: 0)
        }
        if services.count > 1 { agenda.add(.change(service: 1), at: dice.upTo(600_000), life: 0) }
        agenda.add(.honesty, at: Int64(length), life: 0)
    }

    // MARK: - What happens

    private mutating func happen(_ what: Occurrence.What) {
        switch what {
        case .sale(let till): sell(till)
        case .input(let number, let input): give(number, input)
        case .disk(let number, let write): onDisk(number, write)
        case .due(let number):
            if let due = machines[number]?.due, due <= now.monotonic { give(number, .due) }
        case .cancel(let number):
            wishes += 1
            give(number, .cancel(.client, WishID(wishes)))
        case .reverse(let number): reverse(number)
        case .confirm(let number): confirm(number)
        case .round: forward()
        case .crash: crash()
        case .clock(let jump):
            tell("the clock jumps by \(jump)")
            wallOffset += jump
        case .outage(let index, let isUp):
            tell("service \(index) is \(isUp ? "back" : "away")")
            services[index].isUp = isUp
        case .full(let isNow):
            tell("the disk is \(isNow ? "full" : "free again")")
            isFull = isNow
        case .change(let index):
            tell("the shop changes to service \(index)")
            service = index
        case .arrival(let number, let index, let amount):
            tell("\(number): what was stuck arrives at service \(index)")
            services[index].receive(number, amount)
        case .honesty:
            tell("everybody is honest")
            isHonest = true
            isFull = false
            wallOffset = 0
            for index in services.indices { services[index].becomeHonest() }
        }
    }

    mutating func give(_ number: Int, _ input: Input) {
        guard var machine = machines[number] else { return }
        inputs += 1
        let effects = machine.take(input, at: now)
        machines[number] = machine
        if isTold { tell("\(number): \(input.name) → \(machine.transaction.state) \(effects.map(\.name))") }
        for effect in effects { carryOut(effect, number, machine) }
        if let due = machine.due { agenda.add(.due(number), at: max(time, due - 5_000), life: life) }
        if rows[number].transaction.state.isSettled { table.release(by: machine.id) }
        guard machine.due == nil, writing[number] == nil else { return }
        // Ended, or at rest until somebody wants something of it.
        if machine.transaction.state == .failed { table.release(by: machine.id) }
        machines[number] = nil
    }

    private mutating func onDisk(_ number: Int, _ write: Write) {
        writing[number] = nil
        if isFull { return give(number, .notWritten(write.number, .full)) }
        let failure = record(number, write)
        give(number, failure.map { .notWritten(write.number, $0) } ?? .written(write.number))
        guard failure == nil, rows[number].transaction.state == .approved else { return }
        if rows[number].transaction.confirmation != nil, dice.happens(800) {
            agenda.add(.confirm(number), at: time + dice.upTo(150_000), life: 0)
        }
        if dice.happens(50) { agenda.add(.reverse(number), at: time + dice.upTo(60_000), life: 0) }
    }

    private mutating func record(_ number: Int, _ write: Write) -> WriteFailure? {
        let failure = rows[number].take(write, mayStore: isStorable)
        let state = rows[number].transaction.state
        if failure == .illegal { faults.append("illegal: \(state) to \(write.changes.map(\.state))") }
        if state == .approved { traces[number].approvedAt = traces[number].approvedAt ?? time }
        if failure == nil, case .store = write.form {
            rows[number].service = service
            planRound()
        }
        return failure
    }

    /// Everything in memory is gone; the next start goes by the disk.
    private mutating func crash() {
        tell("the daemon dies")
        life += 1
        // What was being written may have reached the disk, though nobody heard of it.
        for (number, write) in writing.sorted(by: { $0.key < $1.key }) where !isFull && dice.happens(500) {
            _ = record(number, write)
        }
        machines = [:]
        writing = [:]
        for lane in table.lanes { if let holder = lane.holder { table.release(by: holder.transaction) } }
        for number in rows.indices {
            let row = rows[number]
            let state = row.transaction.state
            guard !row.isQueued, !state.successors.isEmpty, state != .stored else { continue }
            machines[number] = TransactionMachine(
                recorded: row.transaction, row.demand, reversal: row.plan, open: row.open, at: now)
            give(number, state == .approved ? .due : .recover)
        }
    }

    /// Stored payments go out, oldest first, to the service they were stored for.
    private mutating func forward() {
        for number in rows.indices where rows[number].isQueued && rows[number].due <= now.wall {
            guard machines[number] == nil, services[rows[number].service].isUp, let request = rows[number].request
            else { continue }
            let row = rows[number]
            machines[number] = TransactionMachine(recorded: row.transaction, row.demand, open: row.open, at: now)
            wishes += 1
            traces[number].wasForwarded = true
            give(number, .forward(request, WishID(wishes)))
        }
        isRoundPlanned = false
        if time < 200_000_000, rows.contains(where: \.isQueued) { planRound() }
    }

    private mutating func planRound() {
        guard !isRoundPlanned else { return }
        isRoundPlanned = true
        agenda.add(.round, at: time + (isHonest ? 600_000 : 30_000), life: 0)
    }

    private mutating func judgeLanes() {
        for lane in table.lanes where lane.holder != nil { faults.append("\(lane.name) is never freed") }
        for (number, machine) in machines where !machine.isOver {
            faults.append("\(number) comes to no end: \(machine.transaction.state)")
        }
    }
}
