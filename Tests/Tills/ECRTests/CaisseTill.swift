// SPDX-License-Identifier: Apache-2.0
import ECR

/// What a till thinks of one payment that it has asked for.
enum Belief: Equatable {
    case waiting, paid, notPaid, unknown
}

/// A till that speaks Caisse-AP, after what is known of real clients: it reads tags by itself and shares no line with the terminal.
/// It reads once, compares amount and currency with what it asked for, and takes whatever else for a fault.
final class CaisseTill: TillSide {
    private(set) var beliefs: [Belief] = []
    private var connection: TillConnection?
    private let amount: String
    private var left: Int

    init(sales: Int, amount: String) {
        left = sales
        self.amount = amount
    }

    func begin(_ world: World) {
        guard left > 0 else { return }
        left -= 1
        beliefs.append(.waiting)
        let own = beliefs.count
        let line = connection.flatMap { world.isLive($0) ? $0 : nil } ?? world.connect()
        connection = line
        let length = String(repeating: "0", count: 3 - String(amount.count).count) + String(amount.count)
        let request = "CZ0040300CJ012012345678901CA00201CE003978CD0010CB\(length)\(amount)"
        world.sendFromTill(Array(request.utf8), line)
        // A client gives up after 177 s; a cashier sooner now and then.
        let patience: Int64 = world.chance(200) ? Int64.random(in: 10...60_000, using: &world.random) : 177_000
        world.after(patience...patience) { [self] world in
            guard beliefs.count == own, beliefs.last == .waiting, connection == line else { return }
            connection = nil
            world.closeFromTill(line)
            conclude(.unknown, world)
        }
    }

    func received(_ bytes: [UInt8], _ connection: TillConnection, _ world: World) {
        guard connection == self.connection, beliefs.last == .waiting else { return }
        let keeps = world.chance(300)
        if !keeps {
            self.connection = nil
            world.closeFromTill(connection)
        }
        conclude(read(bytes), world)
    }

    private func read(_ bytes: [UInt8]) -> Belief {
        var tags: [String: String] = [:]
        var text = String(decoding: bytes, as: UTF8.self)[...]
        while text.count >= 6, let length = Int(text.dropFirst(2).prefix(3)), text.count >= 5 + length {
            tags[String(text.prefix(2))] = String(text.dropFirst(5).prefix(length))
            text = text.dropFirst(5 + length)
        }
        guard text.isEmpty, let result = tags["AE"] else { return .unknown }
        if result == "01" { return .notPaid }
        guard result == "10", tags["CE"] == "978", tags["CD"] == "0", tags["CA"] == "01", let sum = tags["CB"],
            Int(sum) == Int(amount)
        else { return .unknown }
        return .paid
    }

    func lost(_ connection: TillConnection, _ world: World) {
        guard connection == self.connection else { return }
        self.connection = nil
        if beliefs.last == .waiting { conclude(.unknown, world) }
    }

    private func conclude(_ belief: Belief, _ world: World) {
        world.note("till: \(belief)")
        beliefs[beliefs.count - 1] = belief
        // Not paid, or a fault: the cashier asks for the same again. Paid: the next customer buys the same.
        world.after(0...20_000) { [self] world in begin(world) }
    }
}
