// SPDX-License-Identifier: Apache-2.0
import Codes
import ECR
import TestSupport
import Testing

/// What has to be true when everything has come to its end, whatever went wrong on the way: the books of the till and those of the
/// service agree, but where the till does not know, or a person was called.
@Suite("Tills at random")
struct WorldTests {
    static let runs: UInt64 = 250

    private struct End {
        let world: World
        let beliefs: [Belief]
        var wrong: [String] = []

        /// Sales are all of one sum, so that nothing but their number tells them apart.
        init(_ world: World, _ beliefs: [Belief]) {
            self.world = world
            self.beliefs = beliefs
            let kept = world.service.kept()
            let paid = beliefs.count { $0 == .paid }
            let unknown = beliefs.count { $0 == .unknown }
            let called = world.alarms.count {
                switch $0 {
                case .endedWhileTelling, .toldButNotKept, .bookedNotPaid: true
                case .sameCardAgain, .reversalsBarred, .notStarted: false
                }
            }
            if kept < paid - called { wrong.append("told paid \(paid) times, kept \(kept)") }
            if kept > paid + unknown { wrong.append("kept \(kept), told paid \(paid) times, unknown \(unknown)") }
            if beliefs.contains(.waiting) { wrong.append("a till waits for ever") }
            if world.machine.desk.open != nil || world.service.open > 0 { wrong.append("something is open for ever") }
            if world.starts.values.contains(where: { $0 > 1 }) { wrong.append("begun twice under one key") }
            if world.faults.ends == 0, world.faults.noise == 0, called > 0 {
                wrong.append("a person was called without need")
            }
        }
    }

    private func play(atLeast words: Set<String>, count: UInt64 = runs, _ run: (UInt64, Bool) throws -> End) rethrows {
        var met: Set<String> = []
        for seed in 0..<count {
            let end = try run(seed, false)
            for belief in end.beliefs { met.insert("\(belief)") }
            guard !end.wrong.isEmpty else { continue }
            let story = try run(seed, true).world.story.suffix(150).joined(separator: "\n")
            Issue.record("seed \(seed): \(end.wrong), \(end.beliefs)\n\(story)")
            return
        }
        #expect(met.isSuperset(of: words))
    }

    private static let faults = [
        World.Faults(), World.Faults(cuts: 60), World.Faults(cuts: 30, ends: 15), World.Faults(ends: 60),
    ]

    private func currency() throws -> CurrencyCode { try #require(CurrencyCode("EUR")) }

    @Test(arguments: faults.indices)
    func `a till over Caisse-AP is told "paid" of what is paid, and pays once for each sale`(index: Int) throws {
        let settings = CaisseTerminal.Settings(currency: try currency())
        play(atLeast: ["paid", "notPaid", "unknown"]) { seed, tells in
            let world = World(seed: seed, faults: Self.faults[index], tells: tells) {
                CaisseTerminal(desk: $0, settings: settings)
            }
            let till = CaisseTill(sales: 4, amount: "1250")
            world.till = till
            till.begin(world)
            world.run()
            return End(world, till.beliefs)
        }
    }

    @Test(arguments: faults.indices, [false, true])
    func `a till over ZVT is told "paid" of what is paid, and pays once for each sale`(
        index: Int, isSerial: Bool
    ) throws {
        var faults = Self.faults[index]
        if isSerial {
            faults.noise = faults.cuts / 4
            faults.cuts = 0
        }
        let settings = ZVTTerminal.Settings(currency: try currency(), terminal: 29_001_006)
        play(atLeast: ["paid", "notPaid"]) { seed, tells in
            let world = World(seed: seed, faults: faults, isSerial: isSerial, tells: tells) {
                ZVTTerminal(desk: $0, settings: settings, line: isSerial ? .serial : .tcp)
            }
            let configuration: UInt8 = [0xBA, 0x8E, 0x08, 0x36][Int(seed % 4)]
            let till = ZVTTill(sales: 4, configuration: configuration, isSerial: isSerial)
            world.till = till
            till.begin(world)
            world.run()
            return End(world, till.beliefs)
        }
    }

    @Test(arguments: [World.Faults(), World.Faults(noise: 5), World.Faults(ends: 40, noise: 3)])
    func `a till over Caisse E+ is told "paid" of what is paid, and pays once for each sale`(faults: World.Faults)
        throws
    {
        let settings = EPlusTerminal.Settings(currency: try currency())
        play(atLeast: ["paid", "notPaid"]) { seed, tells in
            let world = World(seed: seed, faults: faults, isSerial: true, tells: tells) {
                EPlusTerminal(desk: $0, settings: settings)
            }
            let till = EPlusTill(sales: 4)
            world.till = till
            till.begin(world)
            world.run()
            return End(world, till.beliefs)
        }
    }

    @Test(arguments: faults.indices)
    func `a reservation is booked once, with the sum that its till was told`(index: Int) throws {
        let settings = ZVTTerminal.Settings(currency: try currency(), terminal: 29_001_006, reservations: true)
        var met: Set<String> = []
        for seed in 0..<Self.runs {
            func run(_ tells: Bool) -> (World, ReservationTill) {
                let world = World(seed: seed, faults: Self.faults[index], tells: tells) {
                    ZVTTerminal(desk: $0, settings: settings, line: .tcp)
                }
                let till = ReservationTill(guests: 4)
                world.till = till
                till.begin(world)
                world.run()
                return (world, till)
            }
            let (world, till) = run(false)
            var wrong: [String] = []
            let booked = world.service.booked.mapValues(\.amount)
            for guest in till.guests {
                met.insert(guest.word)
                let attempt = world.machine.desk.finished.first { $0.receipt == guest.receipt }
                guard let told = guest.told else { continue }
                if booked[attempt?.key ?? AttemptKey(lane: "", installation: "", counter: 0)] != told {
                    wrong.append("told \(told) of \(guest.receipt ?? 0), booked \(booked)")
                }
            }
            if till.guests.contains(where: { $0.word == "waiting" }) { wrong.append("a till waits for ever") }
            if world.machine.desk.finished.contains(where: { $0.booking?.phase == .asked }) {
                wrong.append("open for ever")
            }
            guard !wrong.isEmpty else { continue }
            Issue.record("seed \(seed): \(wrong)\n\(run(true).0.story.suffix(200).joined(separator: "\n"))")
            return
        }
        #expect(met.isSuperset(of: ["booked", "declined"]))
    }

    @Test(arguments: faults.indices)
    func `a till over hw_proxy that asks again for a sale pays for it once`(index: Int) throws {
        let settings = ProxyTerminal.Settings(
            currency: try currency(), hosts: [ProxyTill.headers.host], origins: [ProxyTill.headers.origin])
        play(atLeast: ["paid", "notPaid", "unknown"]) { seed, tells in
            let world = World(seed: seed, faults: Self.faults[index], tells: tells) {
                ProxyTerminal(desk: $0, settings: settings)
            }
            let till = ProxyTill(sales: 4)
            world.till = till
            till.begin(world)
            world.run()
            var end = End(world, till.lines.map(\.belief))
            for order in Set(world.service.orders.values) where world.service.kept(order) > 1 {
                end.wrong.append("\(order.identity ?? "") is paid twice")
            }
            return end
        }
    }
}
