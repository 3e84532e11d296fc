// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ISO8583
import TestSupport
import Testing

@testable import AcquirerSimulator

/// Random sendings, repeats and reversals, against a dictionary that says what must have become of the money.
struct HostModelTests {
    private struct Payment {
        var message: ISOMessage
        var taken: UInt64
        var isKnown = false
        var isStopped = false
    }

    @Test(arguments: 0..<60) func `whatever comes in whatever order, each payment is taken once or not at all`(
        seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        var rig = try HostRig()
        var payments: [Payment] = []
        var trace = 100
        for _ in 0..<200 {
            trace += 1
            switch Int.random(in: 0..<10, using: &random) {
            case 0...3:
                // Approved as asked, half, or declined: no fault that keeps the answer away.
                let amount =
                    UInt64.random(in: 1...50, using: &random) * 100 + [0, 10, 51].randomElement(using: &random)!
                payments.append(Payment(message: try rig.payment(200, amount, trace: trace), taken: 0))
                guard Bool.random(using: &random) || payments.count < 3 else { continue }
                send(payments.count - 1, &payments, &rig)
            case 4...6:
                guard let index = payments.indices.randomElement(using: &random) else { continue }
                if payments[index].isKnown, Bool.random(using: &random) {
                    payments[index].message.type = payments[index].message.type.again
                }
                send(index, &payments, &rig)
            default:
                guard let index = payments.indices.randomElement(using: &random) else { continue }
                let isPart = payments[index].taken > 1 && Bool.random(using: &random)
                let remains = isPart ? payments[index].taken / 2 : 0
                var original = payments[index].message
                original.type = original.type.first
                let answer = rig.ask(try rig.reversal(of: original, trace: trace, remains: isPart ? remains : nil))
                    .first
                if payments[index].isKnown {
                    #expect(answer?.text(39) == "00")
                    payments[index].taken = remains
                } else {
                    #expect(answer?.text(39) == "25")
                    payments[index].isStopped = true
                }
            }
            let sum = payments.reduce(0) { $0 + Int64($1.taken) }
            #expect(rig.host.book.totals["978"]?.net ?? 0 == sum)
        }
        #expect(payments.contains { $0.taken > 0 } && payments.contains { $0.isStopped })
        let book = try BookFile.read(Array(rig.written.map { $0.json + "\n" }.joined().utf8))
        #expect(book.totals == rig.host.book.totals && book.summary == rig.host.book.summary)
    }

    private func send(_ index: Int, _ payments: inout [Payment], _ rig: inout HostRig) {
        let message = payments[index].message
        let amount = message.amount ?? 0
        let code = rig.ask(message).first?.text(39)
        if payments[index].isStopped {
            #expect(code == "94")
            payments[index].isKnown = true
            return
        }
        let wanted = amount % 100 == 10 ? "10" : amount % 100 == 51 ? "51" : "00"
        #expect(code == wanted)
        guard !payments[index].isKnown else { return }
        payments[index].isKnown = true
        payments[index].taken = wanted == "10" ? amount / 2 : wanted == "51" ? 0 : amount
    }

    /// The client's machine of the room ISO8583, which knows nothing of this host.
    @Test func `the link of this package signs on, pays and takes back at this host`() throws {
        let packager = try Packager(.bcd1987)
        var rig = try HostRig(signsOn: false)
        var link = AcquirerLink(
            packager, stan: 1,
            at: LinkMoment(
                milliseconds: 0,
                time: try #require(HostTime(year: 2026, month: 11, day: 23, hour: 14, minute: 30, second: 5))))
        let time = try #require(HostTime(year: 2026, month: 11, day: 23, hour: 14, minute: 30, second: 5))
        var settled: [HostOutcome] = []
        var reversed = 0
        func give(_ input: LinkInput, at milliseconds: UInt64) {
            var inputs = [input]
            while let next = inputs.first {
                inputs.removeFirst()
                for effect in link.handle(next, at: LinkMoment(milliseconds: milliseconds, time: time)) {
                    switch effect {
                    case .send(let message): inputs += rig.ask(message).map { .received($0) }
                    case .settled(_, let outcome): settled.append(outcome)
                    case .reversed: reversed += 1
                    default: break
                    }
                }
            }
        }
        give(.connected, at: 0)
        var payment = try rig.payment(200, 1_500, trace: 1)
        payment[7] = nil
        payment[11] = nil
        payment[37] = nil
        give(.authorize(ExchangeID("a"), payment), at: 1)
        payment.set(4, "000000001598")
        give(.authorize(ExchangeID("b"), payment), at: 2)
        give(.reverse(ExchangeID("a"), .customerCancel), at: 3)
        give(.tick, at: 30_000)
        #expect(settled.count == 2 && reversed == 2)
        guard case .approved? = settled.first else { return #expect(Bool(false)) }
        #expect(settled.last == .unknown)
        #expect(rig.host.book.totals["978"]?.net == 0 && rig.host.book.totals["978"]?.debits == 2)
    }
}
