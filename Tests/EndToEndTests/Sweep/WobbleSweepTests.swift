// SPDX-License-Identifier: Apache-2.0
import CardSim
import Foundation
import Rigs
import TapClient
import TestSupport
import Testing

/// Every fault that public reports name, at every command of a payment and of a pass, on real drivers: it ends right or says
/// what is the matter, no lane says that it is ready and takes no card, and the next customer pays.
@Suite(
    "The sweep of readers' faults", .serialized, .timeLimit(.minutes(240)),
    .enabled(
        if: PrivatePCSCD.missing == nil || ProcessInfo.processInfo.environment["CI"] != nil,
        Comment(rawValue: PrivatePCSCD.missing ?? "")))
struct WobbleSweepTests {
    /// `make check-wobbles`: all steps, and so many random ones.
    private static let rounds = ProcessInfo.processInfo.environment["NFC_TAP_WOBBLES"].flatMap(Int.init)
    /// Part of a fault's name: that one alone.
    private static let only = ProcessInfo.processInfo.environment["NFC_TAP_SWEEP"]

    @Test(
        "Every fault of a reader, at a command of a payment and of a pass, on pcscd, libnfc and virtual",
        .enabled(
            if: ["NFC_TAP_WOBBLES", "NFC_TAP_SWEEP"].contains { ProcessInfo.processInfo.environment[$0] != nil },
            "make check-wobbles runs it"))
    func sweep() async throws {
        let begin = ContinuousClock.now
        let bench = try SweepBench(lanes: 3)
        let desks = (bench.pcsc, bench.libnfc, bench.virtual)
        let (client, approved) = (bench.client, bench.approved)
        async let pcsc = Self.work(desks.0, SweepFault<IFDDesk>.all, client, approved)
        async let libnfc = Self.work(desks.1, SweepFault<PN532Desk>.all, client, approved)
        async let virtual = Self.work(desks.2, SweepFault<VirtualDesk>.all, client, approved)
        let (count, wrong) = await [pcsc, libnfc, virtual].reduce(into: (0, [String]())) { sum, one in
            sum.0 += one.count
            sum.1 += one.wrong
        }
        for one in wrong { Issue.record("\(one)") }
        try bench.expectBalancedBooks()
        let faults = SweepFault<IFDDesk>.all.count + SweepFault<PN532Desk>.all.count + SweepFault<VirtualDesk>.all.count
        print("sweep: \(count) cases of \(faults) faults, \(wrong.count) wrong, in \(ContinuousClock.now - begin)")
    }

    private struct Done: Sendable {
        var count = 0
        var wrong: [String] = []
    }

    private struct Case<Desk: SweepDesk>: Sendable {
        let fault: SweepFault<Desk>
        let step: Int
        let wish: SweepWish
    }

    /// Each desk takes the next case as soon as its customers have left.
    private static func work<Desk: SweepDesk>(
        _ desks: [Desk], _ faults: [SweepFault<Desk>], _ client: TapClient, _ approved: Approvals
    ) async -> Done {
        let list = WorkList(cases(faults))
        return await withTaskGroup(of: Done.self) { group in
            for desk in desks {
                group.addTask {
                    let sweep = Sweep(client: client, desk: desk, approved: approved)
                    var done = Done()
                    while let next = list.next() {
                        done.count += 1
                        done.wrong += await sweep.run(next.fault, at: next.step, next.wish)
                    }
                    return done
                }
            }
            return await group.reduce(into: Done()) { sum, one in
                sum.count += one.count
                sum.wrong += one.wrong
            }
        }
    }

    /// Every fault at every step; in `make test` each at one, which differs from fault to fault.
    private static func cases<Desk>(_ faults: [SweepFault<Desk>]) -> [Case<Desk>] {
        faults.enumerated().flatMap { number, fault in
            guard only.map(fault.name.contains) != false else { return [Case<Desk>]() }
            let wishes = fault.mayNotPay ? [SweepWish.payment] : SweepWish.allCases
            let all = wishes.flatMap { wish in
                (fault.isStepped ? Array(wish.steps) : [1]).map { Case(fault: fault, step: $0, wish: wish) }
            }
            return rounds == nil && only == nil ? [all[number % all.count]] : all
        }
    }
}

/// One daemon with lanes on every kind of reader.
final class SweepBench {
    let pcsc: [IFDDesk]
    let libnfc: [PN532Desk]
    let virtual: [VirtualDesk]
    let client: TapClient
    let approved = Approvals()
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
        client = TapClient(path: shop.posSocket)
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
        #expect(charged.sorted() == approved.all.sorted())
        #expect((ledger["unseen"] as? [String])?.isEmpty == true)
    }

    deinit { for desk in libnfc { desk.emulator.pullPlug() } }
}
