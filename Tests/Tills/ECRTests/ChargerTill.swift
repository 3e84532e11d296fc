// SPDX-License-Identifier: Apache-2.0
import ECR

/// A charger over ZVT, by what is known of the client of EVerest: it reads a card, holds 25.00 of it under a name of its own, gives
/// back what was not used, and cancels at the end of its day whatever is still held. Where its line is lost it comes back and says
/// the same again; now and then it forgets a session.
final class ChargerTill: TillSide {
    struct Session {
        let token: String
        var receipt: [UInt8]?
        /// What the shop gets, as the charger was told.
        var told: Int64?
        var word = "waiting"
    }

    private enum Step: Equatable {
        case register, identify, status, read, hold, commit, pending, cancel([UInt8]), day, done
    }

    private(set) var sessions: [Session] = []
    /// Cards that were told to it.
    private(set) var cards = 0
    private(set) var isDayEnded = false
    private var connection: TillConnection?
    private var buffer: [UInt8] = []
    private var left: Int
    private var step: Step = .read
    private var greeting: [Step] = []
    private var tries = 0
    private var number = 0
    private var result: UInt8?
    private var fields: [UInt8] = []
    private let cancels: UInt64

    /// - Parameter cancels: of how many sessions one is forgotten.
    init(sessions: Int, cancels: UInt64 = 5) {
        left = sessions
        self.cancels = cancels
    }

    func begin(_ world: World) {
        number += 1
        (buffer, result) = ([], nil)
        if connection.map({ !world.isLive($0) }) ?? true {
            connection = world.connect()
            greeting = [.register, .identify, .status]
        }
        say(greeting.first ?? step, world)
        let own = number
        // A minute without a packet: the line is broken.
        world.after(60_000...60_000) { [self] world in if number == own, step != .done { hangUp(world) } }
    }

    private func say(_ step: Step, _ world: World) {
        switch step {
        case .register: write("0600 06 123456 DE 0978", world)
        case .identify: write("0FA1 02 0001", world)
        case .status: write("0501 03 123456", world)
        case .read: write("06C0 0F 02 1910 FC02 0608 1F1501D0 1F600107", world)
        case .hold:
            write("0622 1E 04000000002500 490978 1940 0610 E90E 1F62024143 1F6306" + token, world)
        case .commit:
            write("0623 21 87" + receipt + "04000000001295 1940 490978 0610 E90E 1F62024143 1F6306" + token, world)
        case .pending: write("0623 03 87FFFF", world)
        case .cancel(let receipt): write("0625 08 1940 490978 87" + Self.hex(receipt), world)
        case .day: write("0650 03 123456", world)
        case .done: break
        }
    }

    private var token: String { sessions.last?.token ?? "" }
    private var receipt: String { Self.hex(sessions.last?.receipt ?? [0, 0]) }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap { $0.hexDigitValue.map(UInt8.init) }
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    private func write(_ hex: String, _ world: World) {
        if let connection { world.sendFromTill(Self.bytes(hex), connection) }
    }

    private func hangUp(_ world: World) {
        guard let connection else { return again(2_000, world) }
        self.connection = nil
        world.closeFromTill(connection)
        again(2_000, world)
    }

    private func again(_ time: Int64, _ world: World) {
        number += 1
        tries += 1
        // Twenty times, then the call has failed.
        if tries > 20 { fail(world) }
        let own = number
        world.after(time...time) { [self] world in if number == own, step != .done { begin(world) } }
    }

    func lost(_ connection: TillConnection, _ world: World) {
        guard connection == self.connection else { return }
        self.connection = nil
        if step != .done { again(2_000, world) }
    }

    func received(_ bytes: [UInt8], _ connection: TillConnection, _ world: World) {
        guard connection == self.connection else { return }
        buffer += bytes
        while buffer.count >= 3, buffer.count >= 3 + Int(buffer[2]) {
            let packet = Array(buffer.prefix(3 + Int(buffer[2])))
            buffer.removeFirst(packet.count)
            take(packet, world)
        }
    }

    private func take(_ packet: [UInt8], _ world: World) {
        switch (packet[0], packet[1]) {
        case (0x80, 0x00): break
        case (0x84, _): ended(isDone: false, packet, world)
        case (0x04, 0x0F):
            write("800000", world)
            result = packet.count > 4 && packet[3] == 0x27 ? packet[4] : nil
            fields = packet
            // What has come of a read ends it: a completion would be taken for the answer to the next command.
            if greeting.isEmpty, step == .read { ended(isDone: true, packet, world) }
        case (0x06, 0x0F), (0x06, 0x1E):
            write("800000", world)
            ended(isDone: packet[1] == 0x0F, packet, world)
        default: write("800000", world)
        }
    }

    private func ended(isDone: Bool, _ packet: [UInt8], _ world: World) {
        number += 1
        tries = 0
        let own = number
        if !greeting.isEmpty {
            if isDone { greeting.removeFirst() }
        } else {
            next(isDone: isDone, packet, world)
        }
        world.after(50...2_000) { [self] world in if number == own, step != .done { begin(world) } }
    }

    private func next(isDone: Bool, _ packet: [UInt8], _ world: World) {
        let index = sessions.count - 1
        switch step {
        case .read:
            guard isDone else { break }
            cards += 1
            let number = sessions.count
            sessions.append(
                Session(
                    token: Self.hex(Array("TOK".utf8) + [UInt8(0x30 + number / 10), UInt8(0x30 + number % 10), 0x41])))
            step = .hold
        case .hold:
            sessions[index].receipt = isDone && result == 0 ? receiptField : nil
            sessions[index].word = sessions[index].receipt == nil ? "refused" : "held"
            step = sessions[index].receipt != nil && world.random.next() % cancels != 0 ? .commit : .read
            if step == .read { nextSession() }
        case .commit:
            sessions[index].word = isDone && result == 0 ? "booked" : "not booked"
            if isDone { sessions[index].told = amountField }
            nextSession()
        case .pending:
            // None is open, or this one.
            step = packet.count >= 7 && packet[4] == 0x87 && packet[5] != 0xFF ? .cancel([packet[5], packet[6]]) : .day
            if packet[0] == 0x84 { step = .pending }
        case .cancel: step = .pending
        case .day:
            step = isDone ? .done : .pending
            isDayEnded = isDone
        case .register, .identify, .status, .done: break
        }
    }

    private func nextSession() {
        left -= 1
        step = left > 0 ? .read : .pending
    }

    private func fail(_ world: World) {
        tries = 0
        switch step {
        case .hold:
            sessions[sessions.count - 1].word = "lost"
            nextSession()
        case .commit:
            sessions[sessions.count - 1].word = "not booked"
            nextSession()
        case .register, .identify, .status, .read, .pending, .cancel, .day, .done: break
        }
    }

    private var receiptField: [UInt8]? { field(0x87, 2) }
    private var amountField: Int64? {
        field(0x04, 6).map { $0.reduce(0) { $0 * 100 + Int64($1 >> 4) * 10 + Int64($1 & 0x0F) } }
    }

    /// An unknown one ends the reading, as in the client.
    private func field(_ wanted: UInt8, _ count: Int) -> [UInt8]? {
        let sizes: [UInt8: Int] = [
            0x27: 1, 0x04: 6, 0x0B: 3, 0x0C: 3, 0x0D: 2, 0x0E: 2, 0x17: 2, 0x19: 1, 0x29: 4, 0x2A: 15, 0x3B: 8, 0x49: 2,
            0x87: 2, 0x8A: 1, 0x8C: 1,
        ]
        var rest = fields.dropFirst(3)
        while let number = rest.popFirst() {
            var size = sizes[number]
            if number == 0x22 || number == 0x8B, rest.count > 1 {
                let digits = rest.prefix(2).map { Int($0 & 0x0F) }
                rest = rest.dropFirst(2)
                size = digits[0] * 10 + digits[1]
            }
            guard let size, rest.count >= size else { return nil }
            if number == wanted { return Array(rest.prefix(count)) }
            rest = rest.dropFirst(size)
        }
        return nil
    }
}
