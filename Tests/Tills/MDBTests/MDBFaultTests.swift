// SPDX-License-Identifier: Apache-2.0
import Codes
import Foundation
import TestSupport
import Testing

@testable import MDB

/// What has to be true whatever happens on the line: the machine's successes are paid, its failures and everything else are not.
struct MDBFaultTests {
    /// Faults in all; seeds run until there are so many.
    private let wanted = ProcessInfo.processInfo.environment["NFC_TAP_MDB_FAULTS"].flatMap(Int.init) ?? 100_000

    private func settings() throws -> MDBPeripheral.Settings {
        let prices = try MDBTests.prices("EUR")
        return .init(prices: prices, responseSeconds: 20, vendSeconds: 60)
    }

    @Test(.timeLimit(.minutes(10)))
    func `100,000 faults on the line: what the machine has sold is captured, and nothing else is`() throws {
        let settings = try settings()
        var (faults, sold, failed, doubts, seed): (Int, Int, Int, Int, UInt64) = (0, 0, 0, 0, 0)
        var met: Set<String> = []
        while faults < wanted {
            var machine = VendingMachine(seed: seed)
            var world = VendingWorld(settings, seed: seed &+ 1_000_000)
            for _ in 0..<4_000 {
                if machine.turn(&world, rate: seed.isMultiple(of: 4) ? 0 : [5, 60, 250][Int(seed % 4) - 1]) {
                    world.restart()
                }
                world.pass()
            }
            world.rest()
            let captured = world.money.values.count { $0 == .captured }
            // A vend that goes on when the run ends has not said yet what became of its goods; nobody's failure is sold.
            let open = machine.isAtGoods ? 1 : 0
            let range = machine.successes...(machine.successes + machine.doubts + open)
            let left = world.money.values.count { $0 == .approved || $0 == .asked }
            if !range.contains(captured) || !world.wrong.isEmpty || left > 0 {
                Issue.record(
                    "seed \(seed): captured \(captured), successes \(range), left \(left), \(world.wrong.prefix(3))")
                return
            }
            faults += machine.faults
            sold += machine.successes
            failed += machine.failures
            doubts += machine.doubts
            met.formUnion(machine.met)
            seed += 1
        }
        #expect(met.count == VendingMachine.Fault.allCases.count, "\(met)")
        // What nobody can know is rare: the test does not pass by it.
        #expect(doubts * 50 < sold, "\(doubts) of \(sold)")
        #expect(sold > 1_000 && failed > 100, "\(sold) sold, \(failed) failed in \(seed) runs")
    }

    @Test func `a line without faults sells without doubts`() throws {
        var machine = VendingMachine(seed: 7)
        var world = VendingWorld(try settings(), seed: 8)
        for _ in 0..<4_000 {
            _ = machine.turn(&world, rate: 0)
            world.pass()
        }
        #expect(machine.doubts == 0 && machine.finished > 50)
        #expect(world.money.values.count { $0 == .captured } - machine.successes <= 1)
    }

    @Test func `words of any kind neither stop a peripheral nor make it speak out of turn`() throws {
        var random = SeededGenerator(seed: 3)
        var peripheral = MDBPeripheral(try settings())
        for _ in 0..<200_000 {
            let word =
                Bool.random(using: &random)
                ? UInt16.random(in: 0...0x1FF, using: &random) : 0x110 | UInt16.random(in: 0...7, using: &random)
            let sent = peripheral.receive(word).count { if case .send = $0 { true } else { false } }
            #expect(sent <= 1)
            if Int.random(in: 0..<50, using: &random) == 0 {
                _ = peripheral.handle(
                    [.tapped(500), .approved(peripheral.counter), .denied(peripheral.counter), .sessionOver]
                        .randomElement(using: &random) ?? .lineReset)
            }
        }
        // It comes back by a reset.
        for word in MDBVectorTests.words("110 010") { _ = peripheral.receive(word) }
        #expect(peripheral.state == .inactive)
    }
}
