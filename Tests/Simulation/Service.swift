// SPDX-License-Identifier: Apache-2.0
import PSPAPI
import PaymentValues
import Transactions

/// The same numbers from the same seed (SplitMix64).
struct Dice: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Milliseconds, or whatever else is counted.
    mutating func upTo(_ bound: Int64) -> Int64 { bound < 1 ? 0 : Int64(next() % UInt64(bound)) }

    /// With a probability in thousandths.
    mutating func happens(_ thousandths: UInt64) -> Bool { next() % 1_000 < thousandths }
}

/// A payment service with its adapter: what it has booked is the truth of a story.
struct Service {
    struct Booking {
        var amount: Int64
        var isReversed = false
    }

    /// How often it does what, in thousandths; a seed draws them.
    struct Repertoire {
        var declines: UInt64 = 100
        /// The connection breaks before it has seen anything.
        var loses: UInt64 = 0
        /// It books, and its answer is lost.
        var drops: UInt64 = 0
        /// It takes longer than anybody waits.
        var isLate: UInt64 = 0
        /// The request is stuck in its socket, and booked long after anybody has waited for it.
        var delays: UInt64 = 0
        var runs: UInt64 = 0
        var refuses: UInt64 = 0
        /// A proxy before it answers by itself that it has passed the request on to nobody.
        var misdirects: UInt64 = 0
        /// Refuses what it does not remember and has booked before: its own record is a replay to it.
        var refusesReplays: UInt64 = 0
        /// Says an amount that nobody asked for.
        var otherAmount: UInt64 = 0
        /// 404 to a reversal of what it does not know, which it ought to acknowledge.
        var deniesReversals: UInt64 = 0
        /// 404 to a question about what it has booked and knows: another replica, or a proxy's route that is wrong.
        var deniesQueries: UInt64 = 0
        /// A question or a reversal comes to nothing.
        var fails: UInt64 = 0
        /// With every request: it restarts and has forgotten its keys.
        var forgets: UInt64 = 0
        /// Answers once more, in other words too.
        var repeats: UInt64 = 0
        /// Approves less than was asked for, and says so.
        var isPartial: UInt64 = 0

        /// Three of ten are honest.
        static func drawn(_ dice: inout Dice) -> Repertoire {
            var drawn = Repertoire()
            guard !dice.happens(300) else { return drawn }
            if dice.happens(100) {
                // What it has booked it denies, and takes for a replay when it comes again.
                (drawn.drops, drawn.deniesQueries, drawn.refusesReplays) = (400, 700, 800)
                return drawn
            }
            let liars: [(WritableKeyPath<Repertoire, UInt64>, Int64)] = [
                (\.loses, 200), (\.drops, 300), (\.isLate, 100), (\.delays, 100), (\.runs, 200), (\.refuses, 100),
                (\.misdirects, 300),
                (\.refusesReplays, 1_000), (\.otherAmount, 50), (\.deniesReversals, 1_000), (\.fails, 400),
                (\.forgets, 100), (\.deniesQueries, 500), (\.repeats, 300), (\.isPartial, 200),
            ]
            for (habit, most) in liars where dice.happens(300) { drawn[keyPath: habit] = UInt64(dice.upTo(most)) }
            return drawn
        }
    }

    var repertoire: Repertoire
    /// Everything it has ever booked, by the transaction's number.
    private(set) var bookings: [Int: [Booking]] = [:]
    /// By its keys, with when it began to keep each: one store for each replica that has its own.
    private var stores: [[Int: (answer: AuthorizationAnswer, at: Int64)]] = [[:]]
    /// Of the replica that has the request under way.
    private var replica = 0
    /// True time.
    private var time: Int64 = 0
    /// Reversed before they came: declined should they still arrive.
    private var unwanted: Set<Int> = []
    private var running: Set<Int> = []
    var isUp = true

    /// How long it keeps keys, as it says in health. Who forgets them earlier, or has several stores of them, says that it
    /// keeps none.
    let keyLife: Duration

    /// - Parameter mayForget: it may keep keys for less than a day.
    init(_ dice: inout Dice, mayForget: Bool) {
        repertoire = .drawn(&dice)
        let hasReplicas = dice.happens(150)
        if hasReplicas { stores.append([:]) }
        let life =
            dice.happens(300) && mayForget
            ? Duration.seconds(10 + dice.upTo(600)) : TransactionParameters.defaultKeyLife
        keyLife = repertoire.forgets > 0 || hasReplicas ? .zero : life
    }

    /// A request comes in, at one of the replicas.
    mutating func hear(at time: Int64, _ dice: inout Dice) {
        self.time = time
        replica = stores.count > 1 ? Int(dice.upTo(Int64(stores.count))) : 0
    }

    private subscript(_ number: Int) -> AuthorizationAnswer? {
        get {
            guard let (answer, at) = stores[replica][number] else { return nil }
            return keyLife > .zero && time - at > keyLife.inMilliseconds ? nil : answer
        }
        set { stores[replica][number] = newValue.map { ($0, time) } }
    }

    /// From now on it does what it should. What it has forgotten stays so.
    mutating func becomeHonest() {
        repertoire = Repertoire()
        repertoire.declines = 0
        isUp = true
    }

    /// What comes back to an authorisation, and whether in time.
    mutating func authorize(_ number: Int, _ amount: Int64, _ dice: inout Dice) -> (reply: Reply, isInTime: Bool) {
        guard isUp, !dice.happens(repertoire.loses) else { return (.unusable, true) }
        if dice.happens(repertoire.misdirects) { return (.notDelivered, true) }
        if dice.happens(repertoire.forgets) { forget() }
        if bookings[number] != nil, dice.happens(repertoire.refusesReplays) {
            let refusal = AuthorizationAnswer(outcome: .declined, responseCode: "94")
            return (dice.happens(500) ? .refused : .answered(refusal), true)
        }
        if let known = self[number] { return (.answered(known), true) }
        if unwanted.contains(number) {
            return (.answered(AuthorizationAnswer(outcome: .declined, responseCode: "94")), true)
        }
        if dice.happens(repertoire.refuses) { return (.refused, true) }
        var answer = AuthorizationAnswer(outcome: .approved, responseCode: "00")
        if dice.happens(repertoire.declines) {
            answer = AuthorizationAnswer(outcome: .declined, responseCode: "51")
        } else {
            bookings[number, default: []].append(Booking(amount: amount))
            if dice.happens(repertoire.otherAmount) {
                contradict(&answer, amount, &dice)
            } else if dice.happens(repertoire.isPartial), let euro = Currency("EUR") {
                answer.outcome = .partial
                answer.amountApproved = Money(value: amount / 2, currency: euro)
                if let last = bookings[number]?.indices.last { bookings[number]?[last].amount = amount / 2 }
            }
        }
        self[number] = answer
        if dice.happens(repertoire.drops) { return (.unusable, true) }
        if dice.happens(repertoire.runs) {
            running.insert(number)
            return (.running, true)
        }
        return (.answered(answer), !dice.happens(repertoire.isLate))
    }

    /// Nothing that anybody asked for.
    private func contradict(_ answer: inout AuthorizationAnswer, _ amount: Int64, _ dice: inout Dice) {
        guard let euro = Currency("EUR"), let yen = Currency("JPY") else { return }
        let amounts = [(amount * 100, euro), (1, euro), (-amount, euro), (amount, yen), (amount + 1, euro)]
        let (value, currency) = amounts[Int(dice.upTo(Int64(amounts.count)))]
        switch dice.upTo(4) {
        case 0: answer.outcome = .partial
        case 1: answer.responseCode = "51"
        default:
            answer.outcome = value > 0 && value < amount && currency == euro ? .approved : .partial
            answer.amountApproved = Money(value: value, currency: currency)
        }
    }

    mutating func query(_ number: Int, _ dice: inout Dice) -> Reply {
        guard isUp, !dice.happens(repertoire.fails) else { return .unusable }
        if dice.happens(repertoire.forgets) { forget() }
        if running.contains(number), dice.happens(500) { return .running }
        running.remove(number)
        if dice.happens(repertoire.deniesQueries) { return .neverSeen }
        return self[number].map { .answered($0) } ?? .neverSeen
    }

    mutating func reverse(_ number: Int, _ dice: inout Dice) -> Acknowledgement {
        guard isUp, !dice.happens(repertoire.fails) else { return .none }
        if dice.happens(repertoire.forgets) { forget() }
        guard self[number] != nil || unwanted.contains(number) else {
            if dice.happens(repertoire.deniesReversals) { return .neverSeen }
            // By its own books it knows what the transaction's number has charged.
            unwanted.insert(number)
            undo(number)
            return .acknowledged
        }
        undo(number)
        unwanted.insert(number)
        self[number] = AuthorizationAnswer(outcome: .declined, responseCode: "94")
        return .acknowledged
    }

    private mutating func undo(_ number: Int) {
        for index in (bookings[number] ?? []).indices { bookings[number]?[index].isReversed = true }
    }

    /// What it has acknowledged as reversed it keeps: who forgets that lies to everybody.
    mutating func forget() {
        stores = stores.map { _ in [:] }
        running = []
    }

    /// What was stuck in its socket arrives.
    mutating func receive(_ number: Int, _ amount: Int64) {
        guard self[number] == nil, !unwanted.contains(number) else { return }
        bookings[number, default: []].append(Booking(amount: amount))
        self[number] = AuthorizationAnswer(outcome: .approved, responseCode: "00")
    }

    /// What a transaction has charged here.
    func charged(_ number: Int) -> [Int64] { (bookings[number] ?? []).filter { !$0.isReversed }.map(\.amount) }
}
