// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
import StoreAndForward
import Transactions

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
        /// A refusal after a doubt was taken for an end (A5).
        var isForgiven = false
        /// The transaction whose key this one has, forgotten by the shop (A4).
        var keyOf: Int?
        var isErased = false
        /// It was in books that are lost (A8).
        var isForgotten = false
    }

    var dice: Dice
    /// Deaths and a wall clock that is put back, in one story.
    let mayDieAndJump: Bool
    var agenda = Agenda()
    /// Time in which the machine was awake, which is what its monotonic clock counts.
    var time: Int64 = 0
    var wallOffset: Int64 = 0
    var asleep: Int64 = 0
    let setting: Setting
    /// The latest wall-clock time that was believed, what the journal has of that, and whether the present one is.
    var believed: Int64 = 1_770_000_000_000
    var noted: Int64 = 1_770_000_000_000
    var isBelieved = true
    /// When the daemon that runs began, by the time that was noted, and by a clock that goes on in sleep.
    var begin = Moment(monotonic: 0, wall: Timestamp(milliseconds: 1_770_000_000_000))
    /// Effects until the daemon dies between two of them.
    var effectsLeft: Int?
    var hasFailingDisk = false
    /// The journal's file goes with the next death of the daemon.
    var losesFile = false
    /// No daemon runs: it has found no journal.
    var isDown = false
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

    init(seed: UInt64, _ setting: Setting = Setting(), isTold: Bool = false) {
        var dice = Dice(seed)
        self.setting = setting
        self.isTold = isTold
        let lanes = (0..<1 + Int(dice.upTo(3))).map { number in
            var lane = LaneRecord(name: "lane\(number)", isVirtual: false, device: Reader(), offersLoyalty: false)
            (lane.error, lane.pendingPreparation) = (nil, nil)
            return lane
        }
        table = LaneTable(lanes, groups: ["all": lanes.map(\.name)])
        // The age of what was sent before a death is known by the wall clock alone: one that was put back by less than a
        // day meanwhile shows a younger age than is true (docs/internals/decisions/0027).
        mayDieAndJump = dice.happens(500)
        let mayForget = !mayDieAndJump
        services = (0..<1 + Int(dice.upTo(2))).map { _ in Service(&dice, mayForget: mayForget) }
        if !setting.allows(.lies) { for index in services.indices { services[index].becomeHonest() } }
        isStorable = dice.happens(500)
        salesLeft = min(5 + Int(dice.upTo(25)), setting.sales ?? .max)
        self.dice = dice
        tills = 1 + Int(self.dice.upTo(3))
        plan()
        while let next = agenda.next() {
            time = max(time, next.time)
            guard next.life == 0 || next.life == life else { continue }
            guard time < Self.end else {
                faults.append("something still waits after days in which everybody was honest")
                break
            }
            happen(next.what)
        }
        judgeLanes()
    }

    var now: Moment {
        // A3 as it was: timers on the wall clock.
        let monotonic = time + Self.firstReading + (setting.putBack == .a3 ? wallOffset : 0)
        return Moment(monotonic: monotonic, wall: Timestamp(milliseconds: 1_770_000_000_000 + truth + wallOffset))
    }

    /// True time since the beginning, which nobody in the shop knows.
    var truth: Int64 { time + asleep }

    /// The latest that it may be, for whatever was sent before; `nil` where the clock is not believed.
    private var latest: Timestamp? {
        isBelieved ? Moment(monotonic: truth, wall: now.wall).latest(after: begin) : nil
    }

    /// The monotonic clock's first reading: it begins anywhere.
    static let firstReading: Int64 = 5_000
    /// Long after everything has come to its end.
    static let end: Int64 = 400_000_000

    mutating func tell(_ line: @autoclosure () -> String) {
        if isTold { lines.append("\(time) \(line())") }
    }

    /// Trouble comes at times that the seed draws; then everybody is honest for two days.
    private mutating func plan() {
        let length = 3_600_000
        for till in 0..<tills { agenda.add(.sale(till: till), at: dice.upTo(5_000), life: 0) }
        let crashes = dice.happens(500) ? dice.upTo(4) : 0
        for _ in 0..<crashes { trouble(.deaths, .crash(after: Int(dice.upTo(6))), at: dice.upTo(300_000)) }
        let losesFile = dice.happens(100)
        if losesFile { trouble(.files, .loss, at: dice.upTo(300_000)) }
        if dice.happens(400), mayDieAndJump || (crashes == 0 && !losesFile) {
            for _ in 0...dice.upTo(3) {
                let jump =
                    switch dice.upTo(5) {
                    case 0: -dice.upTo(31_536_000_000)
                    case 1: dice.upTo(3 * 31_536_000_000)
                    case 2: -wallOffset
                    default: dice.upTo(7_200_000) - 3_600_000
                    }
                // The first one before the first start.
                trouble(.clocks, .clock(jump), at: dice.happens(200) ? 0 : dice.upTo(300_000))
            }
        }
        if dice.happens(100) { trouble(.sleep, .sleep(dice.upTo(28_800_000)), at: dice.upTo(300_000)) }
        for index in services.indices where dice.happens(400) {
            let begin = dice.upTo(300_000)
            trouble(.outages, .outage(service: index, isUp: false), at: begin)
            trouble(.outages, .outage(service: index, isUp: true), at: begin + dice.upTo(120_000))
        }
        if dice.happens(200) {
            let begin = dice.upTo(300_000)
            trouble(.disk, .full(true), at: begin)
            trouble(.disk, .full(false), at: begin + dice.upTo(60_000))
        }
        hasFailingDisk = dice.happens(200) && setting.allows(.disk)
        if services.count > 1 { trouble(.change, .change(service: 1), at: dice.upTo(600_000)) }
        agenda.add(.honesty, at: Int64(length), life: 0)
        for hour in 1...6 { agenda.add(.keeper, at: Int64(hour) * 100_000, life: 0) }
    }

    /// What a seed draws, and a story that is being shrunk may do without.
    mutating func trouble(_ kind: Setting.Trouble, _ what: Occurrence.What, at time: Int64, life: Int = 0) {
        guard setting.allows(kind) else { return }
        agenda.add(what, at: time, life: life)
    }

    // MARK: - What happens

    private mutating func happen(_ what: Occurrence.What) {
        if !isDown { believe() }
        switch what {
        case .sale(let till): sell(till)
        case .input(let number, let input): give(number, input)
        case .disk(let number, let write): onDisk(number, write)
        case .due(let number):
            guard let due = machines[number]?.due else { return }
            // Old timers on the wall clock slept as long as they were told to.
            if due <= now.monotonic || setting.putBack == .a3 { give(number, .due) } else { wake(due, number) }
        case .cancel(let number):
            wishes += 1
            give(number, .cancel(.client, RequestID(wishes)))
        case .reverse(let number): reverse(number)
        case .confirm(let number): confirm(number)
        case .round: forward()
        case .crash(let count):
            // Between any two effects of what comes next.
            effectsLeft = count
            if count == 0 { crash() }
        case .loss:
            tell("the journal's file goes")
            losesFile = true
            crash()
        case .restored:
            tell("the journal's file is restored")
            isDown = false
            start()
        case .sleep(let length):
            tell("the machine sleeps for \(length) ms")
            asleep += length
        case .keeper: erase()
        case .again(let number): again(number)
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
            services[index].hear(at: truth, &dice)
            services[index].receive(number, amount)
        case .honesty:
            tell("everybody is honest")
            isHonest = true
            isFull = false
            hasFailingDisk = false
            effectsLeft = nil
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
        if setting.putBack == .f1, effects.contains(where: \.isContradiction), machine.transaction.state == .armed {
            // F1 as it was: abandoned in memory only.
            machines[number] = nil
            return
        }
        let run = life
        for effect in effects {
            if let left = effectsLeft {
                effectsLeft = left > 1 ? left - 1 : nil
                if left <= 1 { crash() }
            }
            guard run == life else { return }
            carryOut(effect, number, machine)
        }
        if let due = machine.due { wake(due, number) }
        check(number, machine)
        if rows[number].transaction.state.isSettled { table.release(by: machine.id) }
        guard machine.due == nil, writing[number] == nil else { return }
        // The forwarder's: it remembers how long it has known of it.
        guard machine.isOver || !rows[number].isQueued else { return }
        // Ended, or at rest until somebody wants something of it.
        if machine.transaction.state == .failed { table.release(by: machine.id) }
        machines[number] = nil
    }

    private mutating func wake(_ due: Int64, _ number: Int) {
        agenda.add(.due(number), at: time + max(0, due - now.monotonic), life: life)
    }

    private mutating func onDisk(_ number: Int, _ write: Write) {
        writing[number] = nil
        if hasFailingDisk, dice.happens(20) { return give(number, .notWritten(write.number, .failed)) }
        if isFull { return give(number, .notWritten(write.number, .full)) }
        let failure = record(number, write)
        give(number, failure.map { .notWritten(write.number, $0) } ?? .written(write.number))
        guard failure == nil, rows[number].transaction.state == .approved else { return }
        if rows[number].transaction.confirmation != nil, dice.happens(800) {
            agenda.add(.confirm(number), at: time + dice.upTo(150_000), life: 0)
        }
        if dice.happens(50) { trouble(.tills, .reverse(number), at: time + dice.upTo(60_000)) }
        if dice.happens(100) { trouble(.tills, .again(number), at: time + dice.upTo(900_000)) }
    }

    private mutating func record(_ number: Int, _ write: Write) -> WriteFailure? {
        let failure = rows[number].take(write, mayStore: isStorable)
        let state = rows[number].transaction.state
        if failure == .illegal { faults.append("illegal: \(state) to \(write.changes.map(\.state))") }
        if state == .approved { traces[number].approvedAt = traces[number].approvedAt ?? truth }
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
        effectsLeft = nil
        // What was being written may have reached the disk, though nobody heard of it.
        for (number, write) in writing.sorted(by: { $0.key < $1.key }) where !isFull && dice.happens(500) {
            _ = record(number, write)
        }
        machines = [:]
        writing = [:]
        for lane in table.lanes { if let holder = lane.holder { table.release(by: holder.transaction) } }
        guard losesFile else { return isDown ? () : start() }
        losesFile = false
        guard setting.putBack != .a8 else {
            // A8 as it was: new books, in silence.
            for number in rows.indices {
                traces[number].isForgotten = true
                rows[number].isQueued = false
                rows[number].open = nil
            }
            return
        }
        // The daemon names the file that is to be restored, and waits for a person.
        isDown = true
        agenda.add(.restored, at: time + 60_000 + dice.upTo(3_600_000), life: 0)
    }

    /// Goes on with what the disk has.
    private mutating func start() {
        let run = life
        begin = Moment(monotonic: truth, wall: Timestamp(milliseconds: noted))
        for number in rows.indices where !traces[number].isForgotten {
            // It may die over what it finds; then another start has been here.
            guard run == life else { return }
            let row = rows[number]
            let state = row.transaction.state
            // Rule R2: at a start whatever was to be waited for may take its whole time once more, and no longer.
            if traces[number].approvedAt != nil { traces[number].approvedAt = truth }
            guard !row.isQueued, !state.successors.isEmpty, state != .stored, !traces[number].isErased else { continue }
            machines[number] = TransactionMachine(
                recorded: row.transaction, row.demand, reversal: row.plan, open: row.open, at: now)
            give(number, state == .approved ? .due : .recover())
        }
    }

    /// Stored payments go out, oldest first, to the service they were stored for.
    private mutating func forward() {
        believe()
        for number in rows.indices where !isDown && rows[number].isQueued && rows[number].isDue(at: now.wall) {
            guard writing[number] == nil, services[rows[number].service].isUp, let request = rows[number].request
            else { continue }
            let row = rows[number]
            if machines[number] == nil {
                machines[number] = TransactionMachine(
                    recorded: row.transaction, row.demand, open: row.open, at: now)
            }
            wishes += 1
            traces[number].wasForwarded = true
            give(number, .forward(request, RequestID(wishes), keyLife: keyLife(of: row.service), latest: latest))
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
        for (number, machine) in machines where !machine.isOver && !rows[number].isQueued {
            faults.append("\(number) comes to no end: \(machine.transaction.state)")
        }
    }
}
