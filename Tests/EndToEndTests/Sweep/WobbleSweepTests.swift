// SPDX-License-Identifier: Apache-2.0
import CardSim
import Foundation
import Rigs
import Synchronization
import TapClient
import TestSupport
import Testing

/// Every fault that public reports name, at every command of a payment and of a pass, on real drivers: it ends right or says
/// what is the matter, no lane says that it is ready and takes no card, and the next customer pays.
@Suite(
    "The sweep of readers' faults", .serialized, .timeLimit(.minutes(1_440)),
    .enabled(
        if: PrivatePCSCD.missing == nil || ProcessInfo.processInfo.environment["CI"] != nil,
        Comment(rawValue: PrivatePCSCD.missing ?? "")))
struct WobbleSweepTests {
    private static let environment = ProcessInfo.processInfo.environment
    /// `make check-wobbles`: all steps, and so many random ones.
    private static let rounds = environment["NFC_TAP_WOBBLES"].flatMap(Int.init)
    /// Part of a fault's name: that one alone.
    private static let only = environment["NFC_TAP_SWEEP"]
    /// Of the first random one; each that is wrong tells its own.
    private static let seed = environment["NFC_TAP_SEED"].flatMap(UInt64.init) ?? 1

    @Test(
        "Every fault of a reader, at every command of a payment and of a pass, on pcscd, libnfc and virtual",
        .enabled(if: rounds != nil || only != nil, "make check-wobbles runs it"))
    func sweep() async throws {
        let bench = try SweepBench(lanes: 3)
        let tally = SweepTally("sweep")
        let (desks, till) = ((bench.pcsc, bench.libnfc, bench.virtual), bench.till)
        async let pcsc: Void = tally.work(desks.0, till, Self.everyCase())
        async let libnfc: Void = tally.work(desks.1, till, Self.everyCase())
        async let virtual: Void = tally.work(desks.2, till, Self.everyCase())
        _ = await (pcsc, libnfc, virtual)
        try bench.expectBalancedBooks()
        tally.report(
            "\(IFDDesk.faults.count) faults behind pcscd, \(PN532Desk.faults.count) behind libnfc, "
                + "\(VirtualDesk.faults.count) on the virtual reader")
    }

    @Test(
        "Faults at random, one to three of them to a sale: it ends right, and the next customer pays",
        .enabled(if: rounds != nil, "make check-wobbles runs it"))
    func random() async throws {
        let tally = SweepTally("random")
        let all = Self.seed..<Self.seed + UInt64(Self.rounds ?? 0)
        // Rigs write down what passes through them: new ones for every thousand.
        for start in stride(from: all.lowerBound, to: all.upperBound, by: 1_000) {
            let seeds = start..<min(start + 1_000, all.upperBound)
            let bench = try SweepBench(lanes: 8)
            let (desks, till) = ((bench.pcsc, bench.libnfc, bench.virtual), bench.till)
            async let pcsc: Void = tally.work(desks.0, till, Self.stories(seeds.filter { $0 % 3 == 0 }))
            async let libnfc: Void = tally.work(desks.1, till, Self.stories(seeds.filter { $0 % 3 == 1 }))
            async let virtual: Void = tally.work(desks.2, till, Self.stories(seeds.filter { $0 % 3 == 2 }))
            _ = await (pcsc, libnfc, virtual)
            try bench.expectBalancedBooks()
        }
        tally.report("seeds \(all)")
    }

    private static func everyCase<Desk>() -> [SweepCase<Desk>] where Desk: FaultyDesk {
        Desk.faults.filter { only.map($0.name.contains) != false }.flatMap { fault in
            (fault.mayNotPay ? [SweepWish.payment] : SweepWish.allCases).flatMap { wish in
                (fault.isStepped ? Array(wish.steps) : [1]).map { step in
                    { @Sendable (sweep: Sweep<Desk>) in await sweep.run(fault, at: step, wish) }
                }
            }
        }
    }

    private static func stories<Desk>(_ seeds: [UInt64]) -> [SweepCase<Desk>] where Desk: FaultyDesk {
        let all = Desk.faults
        return seeds.map { seed in { @Sendable (sweep: Sweep<Desk>) in await sweep.run(random: seed, of: all) } }
    }
}

/// A customer with faults, and the next one without.
typealias SweepCase<Desk: SweepDesk> = @Sendable (Sweep<Desk>) async -> [String]

/// What has been done, and what of it was wrong.
final class SweepTally: Sendable {
    private let name: String
    private let begin = ContinuousClock.now
    private let state = Mutex((count: 0, wrong: 0))

    init(_ name: String) { self.name = name }

    /// Each desk takes the next case as soon as its customers have left.
    func work<Desk>(_ desks: [Desk], _ till: SweepTill, _ cases: [SweepCase<Desk>]) async {
        let list = WorkList(cases)
        await withTaskGroup { group in
            for desk in desks {
                group.addTask {
                    let sweep = Sweep(till: till, desk: desk)
                    while let next = list.next() { self.add(await next(sweep)) }
                }
            }
        }
    }

    private func add(_ wrong: [String]) {
        for one in wrong { Issue.record("\(one)") }
        let now = state.withLock { state in
            state.count += 1
            state.wrong += wrong.count
            return state
        }
        // Of a run that takes hours.
        if now.count.isMultiple(of: 1_000) { report("so far") }
    }

    func report(_ what: String) {
        let (count, wrong) = state.withLock { $0 }
        print("\(name): \(count) cases, \(wrong) wrong, in \(ContinuousClock.now - begin); \(what)")
    }
}

/// One daemon with lanes on every kind of reader.
final class SweepBench {
    let pcsc: [IFDDesk]
    let libnfc: [PN532Desk]
    let virtual: [VirtualDesk]
    let till: SweepTill
    private let shop: Shop
    private let pcscd: PrivatePCSCD

    init(lanes count: Int) throws {
        // The first of them hear by transmit, the second by escapes, and there is no telling of the third.
        let names = ["ACS ACR122U PICC Interface", "ACS ACR1252 Dual Reader PICC", "Rig PICC Interface"]
        let readers = try (0..<count).map { try IFDReader(name: names[$0 % names.count] + ($0 < 3 ? "" : " \($0)")) }
        if count > 1 { readers[1].takesEscapes(true) }
        let pcscd = try PrivatePCSCD(readers.map(\.stanza))
        let emulators = try (0..<count).map { _ in try PN532Emulator.start() }
        var lanes = readers.enumerated().map { ("pcsc\($0)", "pcsc:\($1.name)") }
        lanes += emulators.enumerated().map { ("libnfc\($0)", "libnfc:\($1.connectionString)") }
        lanes += (0..<count).map { ("virtual\($0)", "virtual:FOLDER/reader\($0).sock") }
        let shop = try Shop(
            environment: ["PCSCLITE_CSOCK_NAME": pcscd.socketPath],
            configuration: "mode = \"test\"\n"
                + lanes.map { "[[lane]]\nname = \"\($0.0)\"\nreader = \"\($0.1)\"\n" }.joined())
        (self.pcscd, self.shop) = (pcscd, shop)
        till = SweepTill(client: TapClient(path: shop.posSocket))
        pcsc = readers.enumerated().map {
            IFDDesk(lane: "pcsc\($0)", reader: $1, isHeard: $0 < 2, socket: pcscd.socketPath)
        }
        libnfc = emulators.enumerated().map { PN532Desk(lane: "libnfc\($0)", emulator: $1) }
        virtual = (0..<count).map {
            VirtualDesk(lane: "virtual\($0)", socket: shop.folder.appending(path: "reader\($0).sock").path)
        }
    }

    /// What was charged is what tills were told, once each.
    func expectBalancedBooks() throws {
        let ledger = try shop.ledger()
        let entries = ledger["transactions"] as? [[String: Any]] ?? []
        let charged = entries.filter { $0["state"] as? String == "approved" }.compactMap { $0["id"] as? String }
        #expect(charged.sorted() == till.approvals.sorted())
        #expect((ledger["unseen"] as? [String])?.isEmpty == true)
    }

    deinit { for desk in libnfc { desk.emulator.pullPlug() } }
}
