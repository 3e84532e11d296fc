// SPDX-License-Identifier: Apache-2.0
import ECR

/// A till that speaks Caisse E+ and waits for the end of each payment, after what is known of a real client; it shares no line with
/// the terminal.
final class EPlusTill: TillSide {
    private enum Step: Equatable { case resting, wanting, asking, waiting, reading([UInt8]), leaving }

    private(set) var beliefs: [Belief] = []
    private var connection: TillConnection?
    private var step: Step = .resting
    private var left: Int
    private var number = 0
    private var failures = 0

    init(sales: Int) { left = sales }

    func begin(_ world: World) {
        guard left > 0 else { return }
        left -= 1
        beliefs.append(.waiting)
        failures = 0
        want(world)
    }

    private func want(_ world: World) {
        if connection.map({ !world.isLive($0) }) ?? true { connection = world.connect() }
        step = .wanting
        write([0x05], within: 3_000, world)
    }

    private func write(_ bytes: [UInt8], within patience: Int64, _ world: World) {
        guard let connection else { return }
        world.sendFromTill(bytes, connection)
        number += 1
        let own = number
        world.after(patience...patience) { [self] world in if number == own { ranOut(world) } }
    }

    private func ranOut(_ world: World) {
        switch step {
        case .resting: break
        case .leaving: rest(world)
        // Not taken: nothing was begun.
        case .wanting, .asking:
            failures += 1
            if let connection { world.sendFromTill([0x04], connection) }
            guard failures < 5 else { return conclude(step == .wanting ? .notPaid : .unknown, world) }
            want(world)
        case .waiting, .reading: conclude(.unknown, world)
        }
    }

    func received(_ bytes: [UInt8], _ connection: TillConnection, _ world: World) {
        guard connection == self.connection else { return }
        for byte in bytes { take(byte, world) }
    }

    private func take(_ byte: UInt8, _ world: World) {
        switch (step, byte) {
        case (.wanting, 0x06):
            step = .asking
            let body = Array("01000012500109780000000000A010B010".utf8)
            var sum: UInt8 = 0x03
            for value in body { sum ^= value }
            write([0x02] + body + [0x03, sum], within: 3_000, world)
        case (.asking, 0x06):
            step = .waiting
            write([0x04], within: 180_000, world)
        case (.waiting, 0x05): write([0x06], within: 10_000, world)
        case (.waiting, 0x02), (.leaving, 0x02): step = .reading([0x02])
        case (.reading(let before), _): read(before + [byte], world)
        case (.leaving, 0x04): rest(world)
        default: break
        }
    }

    private func read(_ answer: [UInt8], _ world: World) {
        step = .reading(answer)
        guard answer.count == 28 else { return }
        let isWhole = answer[26] == 0x03 && answer[1...26].reduce(0, ^) == answer[27]
        guard isWhole, answer[4...11] == Array("00001250".utf8)[...] else {
            step = .waiting
            return write([0x15], within: 10_000, world)
        }
        if beliefs.last == .waiting { beliefs[beliefs.count - 1] = answer[3] == 0x30 ? .paid : .notPaid }
        step = .leaving
        write([0x06], within: 5_000, world)
    }

    private func conclude(_ belief: Belief, _ world: World) {
        if beliefs.last == .waiting { beliefs[beliefs.count - 1] = belief }
        rest(world)
    }

    private func rest(_ world: World) {
        world.note("till: \(String(describing: beliefs.last))")
        step = .resting
        number += 1
        world.after(300...20_000) { [self] world in begin(world) }
    }

    func lost(_ connection: TillConnection, _ world: World) {
        guard connection == self.connection else { return }
        self.connection = nil
        guard step != .resting else { return }
        if step == .leaving { rest(world) } else { conclude(.unknown, world) }
    }
}
