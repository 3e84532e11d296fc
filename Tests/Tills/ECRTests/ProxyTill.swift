// SPDX-License-Identifier: Apache-2.0
import ECR
import Foundation

/// A browser's point of sale that speaks hw_proxy, after what is known of real ones: it starts a payment, asks once a second, takes
/// `result: true` for paid, and gives up at the first poll that fails. Its JSON is read by Foundation.
final class ProxyTill: TillSide {
    struct Line {
        var belief: Belief = .waiting
        var presses = 0
    }

    static let headers = (host: "127.0.0.1:8069", origin: "https://shop.example")

    private(set) var lines: [Line] = []
    private var left: Int
    private var exchange: TillConnection?
    private var transaction: Int?
    private var number = 0

    init(sales: Int) { left = sales }

    static func request(_ path: String, _ parameters: [String: Any], id: Int) -> ProxyRequest {
        let call: [String: Any] = ["jsonrpc": "2.0", "method": "call", "id": id, "params": parameters]
        let body = (try? JSONSerialization.data(withJSONObject: call)) ?? Data()
        return ProxyRequest(
            "POST", path, host: headers.host, origin: headers.origin, contentType: "application/json",
            body: Array(body))
    }

    func begin(_ world: World) {
        guard left > 0 else { return }
        left -= 1
        lines.append(Line())
        press(world)
    }

    private func press(_ world: World) {
        number += 1
        transaction = nil
        lines[lines.count - 1].belief = .waiting
        lines[lines.count - 1].presses += 1
        let info = """
            {"amount":12.5,"currency_iso":"EUR","currency_decimals":2,"payment_mode":"card",\
            "payment_id":"p\(lines.count)","order_id":"ORDER\(lines.count)"}
            """
        send("/hw_proxy/payment_terminal_transaction_start", ["payment_info": info], world)
        // Pressed twice by an impatient finger: the second answer is the one that counts.
        if world.chance(100) { send("/hw_proxy/payment_terminal_transaction_start", ["payment_info": info], world) }
    }

    private func send(_ path: String, _ parameters: [String: Any], _ world: World) {
        let own = world.newExchange()
        exchange = own
        let request = Self.request(path, parameters, id: number)
        world.after(1...30) { $0.feed(request, on: own) }
    }

    private func poll(_ world: World) {
        let own = number
        world.after(1_000...1_000) { [self] world in
            guard number == own else { return }
            if world.chance(15) {
                // The cashier cancels: the proxy is not told.
                return conclude(.unknown, world)
            }
            send("/hw_proxy/status_json", [:], world)
        }
    }

    func received(_ bytes: [UInt8], _ connection: TillConnection, _ world: World) {
        guard connection == exchange, lines.last?.belief == .waiting else { return }
        let answer = (try? JSONSerialization.jsonObject(with: Data(bytes))) as? [String: Any]
        guard let answer, let result = answer["result"] else { return conclude(.unknown, world) }
        guard let known = transaction else {
            guard let object = result as? [String: Any], let id = object["transaction_id"] as? Int else {
                // `true` would be paid, `false` is: nothing was begun.
                return conclude((result as? Bool) == true ? .paid : .notPaid, world)
            }
            transaction = id
            return poll(world)
        }
        let drivers = result as? [String: [String: Any]] ?? [:]
        for driver in drivers.values where driver["is_terminal"] as? Bool == true {
            let transactions = driver["transactions"] as? [String: [String: Any]] ?? [:]
            for entry in transactions.values where entry["transaction_id"] as? Int == known {
                if let success = entry["success"] as? Bool { return conclude(success ? .paid : .notPaid, world) }
            }
        }
        poll(world)
    }

    func lost(_ connection: TillConnection, _ world: World) {
        guard connection == exchange, lines.last?.belief == .waiting else { return }
        conclude(.unknown, world)
    }

    private func conclude(_ belief: Belief, _ world: World) {
        world.note("till: \(belief)")
        number += 1
        exchange = nil
        lines[lines.count - 1].belief = belief
        let again = belief != .paid && (lines.last?.presses ?? 9) < 3 && world.chance(600)
        world.after(100...20_000) { [self] world in
            if again { press(world) } else { begin(world) }
        }
    }
}
