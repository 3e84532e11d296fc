// SPDX-License-Identifier: Apache-2.0
import Codes
import Foundation
import TestSupport
import Testing

@testable import ECR

/// Bytes of nobody: no parser and no machine traps on them, starts a payment of its own accord, or takes what it cannot write back.
struct FuzzTests {
    static let inputs = 100_000

    /// Real bytes with a few of them changed, cut, doubled, or none of them real.
    private struct Bytes {
        var generator: SeededGenerator
        let seeds: [[UInt8]]

        init(seed: UInt64, _ protocols: Set<String>) throws {
            generator = SeededGenerator(seed: seed)
            seeds = try VectorFile.objects("ecr/tills.jsonl").compactMap { row in
                guard protocols.contains(row["protocol"] as? String ?? "") else { return nil }
                if let hex = row["hex"] as? String { return ZVTText.hexadecimal(hex) }
                if let json = row["json"] { return Array(try JSONSerialization.data(withJSONObject: json)) }
                return (row["text"] as? String).map { Array($0.utf8) }
            }
            #expect(seeds.count > 4)
        }

        mutating func next() -> [UInt8] {
            if Int.random(in: 0..<4, using: &generator) == 0 {
                return generator.bytes(Int.random(in: 0...40, using: &generator))
            }
            var bytes = seeds.randomElement(using: &generator) ?? []
            for _ in 0..<Int.random(in: 0...3, using: &generator) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(bytes[place], at: place)
                default: bytes = Array(bytes.prefix(place))
                }
            }
            return bytes
        }
    }

    @Test func `what Caisse-AP reads, it writes back`() throws {
        var bytes = try Bytes(seed: 1, ["caisse-ap"])
        let euro = try #require(CurrencyCode("EUR"))
        var taken = 0
        for _ in 0..<Self.inputs {
            let input = bytes.next()
            guard let message = try? CaisseMessage(input) else { continue }
            #expect(message.bytes == input)
            guard let request = try? CaisseRequest(message, allowing: [.sale, .refund], in: euro) else { continue }
            taken += 1
            #expect((1...CurrencyCode.largestAmount).contains(request.order.amount))
        }
        #expect(taken > 1_000)
    }

    @Test func `what ZVT reads, it writes back as something that reads the same`() throws {
        var bytes = try Bytes(seed: 2, ["zvt", "zvt-serial"])
        var taken = 0
        for _ in 0..<Self.inputs {
            let input = bytes.next()
            var link = ZVTSerialLink()
            _ = link.receive(input)
            guard let (packet, length) = ZVTPacket.first(of: input) else { continue }
            #expect(length <= input.count)
            _ = try? ZVTCommand(packet)
            for isOfStatus in [false, true] {
                guard let content = try? ZVTContent(completion: packet, isOfStatus: isOfStatus) else { continue }
                taken += 1
                let again = try #require(content.packet)
                #expect(try ZVTContent(completion: again, isOfStatus: isOfStatus) == content)
                _ = try? content.fields.objects()
            }
        }
        #expect(taken > 1_000)
    }

    @Test func `no bytes bring down a terminal of any line, and what they start they also end`() throws {
        let euro = try #require(CurrencyCode("EUR"))
        var plain = try Bytes(seed: 3, ["caisse-ap", "zvt", "zvt-serial", "caisse-e-plus"])
        func desk() -> TillMachine { TillMachine(lane: "main", installation: "1") }
        var machines: [any TillTerminal] = [
            CaisseTerminal(desk: desk(), settings: .init(currency: euro, kinds: [.sale, .refund])),
            ZVTTerminal(desk: desk(), settings: .init(currency: euro, terminal: 1, refunds: true), line: .tcp),
            ZVTTerminal(desk: desk(), settings: .init(currency: euro, terminal: 1, refunds: true), line: .serial),
            EPlusTerminal(desk: desk(), settings: .init(currency: euro)),
            ZVTTerminal(
                desk: desk(),
                settings: .init(
                    currency: euro, terminal: 1, reservations: true, device: "17FD0001", readAmount: 2_500), line: .tcp),
        ]
        let sale = ZVTPacket(0x0601, [0x04, 0, 0, 0, 0, 0x12, 0x50])
        let sales = [
            Array("CZ0040300CJ012012345678901CA00201CE003978CD0010CB0041250".utf8), sale?.bytes ?? [],
            sale.map(ZVTFrame.bytes) ?? [],
            [EPlusFrame.enq] + EPlusFrame.bytes(of: Array("01000012500109780000000000A010B010".utf8)) + [
                EPlusFrame.eot
            ], ZVTPacket(0x06C0, byte: 2).bytes,
        ]
        var connections = [UInt64](repeating: 0, count: machines.count)
        var now: Int64 = 0
        for _ in 0..<Self.inputs {
            now += 10
            let which = Int.random(in: machines.indices, using: &plain.generator)
            let connection = TillConnection(connections[which])
            var input: TillInput
            switch Int.random(in: 0..<12, using: &plain.generator) {
            case 0:
                _ = machines[which].handle(.lost(connection, .closed), at: now)
                connections[which] += 1
                input = .connected(TillConnection(connections[which]), peer: "p")
            case 1: input = .lost(connection, Bool.random(using: &plain.generator) ? .closed : .reset)
            case 2: input = .timer(.quiet(connection))
            case 3: input = .timer(.answer(UInt64.random(in: 0...200, using: &plain.generator)))
            case 4: input = .sent(connection)
            case 5: input = .timer(.request(connection))
            case 6: input = .bytes(sales[which], connection)
            default: input = .bytes(plain.next(), connection)
            }
            _ = machines[which].handle(input, at: now)
            guard let open = machines[which].desk.open, Bool.random(using: &plain.generator) else { continue }
            #expect(open.order.amount > 0)
            let isApproved = Bool.random(using: &plain.generator)
            let outcome: TillOutcome =
                isApproved ? .approved(Service.approval(open.order.amount)) : .notPaid(TillRefusal(.declined))
            _ = machines[which].handle(.settled(open.key, outcome), at: now)
        }
        #expect(machines.allSatisfy { $0.desk.counter > 1 }, "\(machines.map(\.desk.counter))")
    }

    @Test func `no body brings down the proxy`() throws {
        var bytes = try Bytes(seed: 4, ["hw_proxy"])
        var terminal = ProxyTerminal(
            desk: TillMachine(lane: "main", installation: "1"),
            settings: .init(currency: try #require(CurrencyCode("EUR")), hosts: ["h"], origins: []))
        let paths = ["/hw_proxy/payment_terminal_transaction_start", "/hw_proxy/status_json", "/hw_proxy/handshake"]
        for number in 0..<Self.inputs {
            let request = ProxyRequest(
                "POST", paths[number % 3], host: "h", contentType: "application/json", body: bytes.next())
            let connection = TillConnection(UInt64(number))
            _ = terminal.request(request, on: connection, at: Int64(number) * 10)
            _ = terminal.handle(.sent(connection), at: Int64(number) * 10)
            guard let open = terminal.desk.open, number.isMultiple(of: 5) else { continue }
            _ = terminal.handle(.settled(open.key, .notPaid(TillRefusal(.declined))), at: Int64(number) * 10)
        }
        #expect(terminal.desk.counter > 50)
    }
}
