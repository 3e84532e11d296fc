// SPDX-License-Identifier: Apache-2.0
import Foundation
import PaymentValues
import TestSupport
import Testing

@testable import RemoteOrders

@Suite("Orders in random order: cut lines, lost answers, deaths, clocks that jump")
struct OrderModelTests {
    @Test(
        "B2: each order is charged at most once, none after its end, and the backend's book is the daemon's",
        arguments: [false, true])
    func stories(bars: Bool) {
        var ends: [String: Int] = [:]
        for seed in 1...UInt64(Self.count ?? 60) {
            var model = OrderModel(seed: seed, bars: bars)
            for _ in 0..<120 { happen(&model) }
            quiet(&model)
            judge(model, seed, &ends)
        }
        // The stories have been everywhere.
        for end in [
            "approved", "declined", "cancelled", "failed", "reversed", "reader.busy", "order.cancelled",
            "order.expired",
        ] {
            #expect(ends[end, default: 0] > 0, "no story ends with \(end)")
        }
    }

    /// `ORDER_STORIES`: 500 and more by hand.
    private static let count = ProcessInfo.processInfo.environment["ORDER_STORIES"].flatMap(Int.init)

    private func happen(_ model: inout OrderModel) {
        switch Int.random(in: 0..<100, using: &model.dice) {
        case 0..<8: model.put(confirms: model.chance(30))
        case 8..<12: model.cancel()
        case 12..<24: model.poll()
        case 24..<27: model.poll(delay: Int64.random(in: 1...40, using: &model.dice))
        case 27..<33: model.card()
        case 33..<36: model.lineIsCut.toggle()
        case 36: model.daemonIsAway.toggle()
        case 37: model.killDaemon()
        case 38, 39: model.die()
        case 40: if model.chance(50) { model.killBackend() } else { model.failPower() }
        case 41..<43: model.skew = Int64.random(in: -20...20, using: &model.dice)
        case 43..<53: model.time(Int64.random(in: 1...5, using: &model.dice))
        default: model.work()
        }
    }

    /// Everything is there again, and nothing new comes.
    private func quiet(_ model: inout OrderModel) {
        (model.lineIsCut, model.daemonIsAway, model.skew) = (false, false, 0)
        model.book.lineIsBack()
        for round in 0..<1_000 where round < 70 || !model.isQuiet {
            model.poll()
            for _ in 0..<3 { for key in model.book.open(wall: model.wall) { model.work(key) } }
            model.time(1)
            if round == 35 { model.die() }
        }
    }

    private func judge(_ model: OrderModel, _ seed: UInt64, _ ends: inout [String: Int]) {
        for fault in model.faults { Issue.record("seed \(seed): \(fault)") }
        let payments = model.payments.filter { !$0.payment.isForgotten }
        let keys = payments.map(\.key)
        #expect(Set(keys).count == keys.count, "seed \(seed): two transactions of one order")
        for (key, payment) in payments {
            guard let order = model.orders[key] else { continue }
            // A clock that is 20 s slow makes an order younger; its life is never longer for it.
            #expect(payment.armedUntil <= payment.armedAt + order.life, "seed \(seed): \(key)")
            #expect(
                payment.armedUntil <= order.expires + (model.bars ? 0 : 20), "seed \(seed): \(key) waits after its end")
            #expect(model.heard[key]?.said == payment.state.rawValue, "seed \(seed): \(key) is \(payment.state)")
            ends[payment.state.rawValue, default: 0] += 1
            if let refusal = model.refused[key] {
                #expect(refusal == .idUsed || model.taken.contains(key), "seed \(seed): \(key) was refused, and began")
            }
        }
        for id in model.taken where model.orders[id] != nil && !keys.contains(id) {
            // What was taken and never began has said so.
            guard let said = model.heard[id]?.said else {
                Issue.record("seed \(seed): \(id) was taken, and nothing was told of it")
                continue
            }
            ends[said, default: 0] += 1
        }
        for line in payments where model.heard[line.key] == nil {
            Issue.record("seed \(seed): \(line.key) is untold")
        }
        #expect(model.book.untold.count == 0, "seed \(seed)")
    }
}
