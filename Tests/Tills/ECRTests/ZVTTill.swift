// SPDX-License-Identifier: Apache-2.0
import ECR

/// A till that speaks ZVT, written from what is known of the till's side: it takes bytes apart by itself and shares no line with
/// the terminal. It answers whatever the terminal sends, and asks for the last payment where a connection was lost before the end.
final class ZVTTill: TillSide {
    private enum Doing: Equatable { case nothing, registering, paying, asking }

    private(set) var beliefs: [Belief] = []
    private var connection: TillConnection?
    private var buffer: [UInt8] = []
    private var doing: Doing = .nothing
    /// The command was taken: something may come of it.
    private var isTaken = false
    private var result: UInt8?
    private var acknowledged = false
    private var isRegistered = false
    private var left: Int
    private var number = 0
    private var frames: SerialEnd?
    private let configuration: UInt8

    init(sales: Int, configuration: UInt8, isSerial: Bool) {
        left = sales
        self.configuration = configuration
        frames = isSerial ? SerialEnd() : nil
    }

    func begin(_ world: World) {
        number += 1
        buffer = []
        acknowledged = false
        result = nil
        isTaken = false
        if connection.map({ !world.isLive($0) }) ?? true {
            connection = world.connect()
            isRegistered = false
            frames = frames.map { _ in SerialEnd() }
        }
        if !isRegistered {
            doing = .registering
            command(
                [
                    0x06, 0x00, 0x0F, 0, 0, 0, configuration, 0x09, 0x78, 0x06, 0x06, 0x26, 0x04, 0x0A, 0x02, 0x06,
                    0xD3, 0x00,
                ], world)
        } else if beliefs.last == .waiting {
            doing = .asking
            command([0x06, 0x20, 0x05, 0, 0, 0, 0x03, 0x03], world)
        } else if left > 0 {
            left -= 1
            doing = .paying
            beliefs.append(.waiting)
            command([0x06, 0x01, 0x0A, 0x04, 0, 0, 0, 0, 0x12, 0x50, 0x49, 0x09, 0x78], world)
            if world.chance(100) {
                let own = number
                world.after(10...30_000) { [self] world in
                    // Only what was taken can be aborted.
                    if number == own, doing == .paying, isTaken { write([0x06, 0xB0, 0x00], world) }
                }
            }
        } else {
            doing = .nothing
        }
    }

    private func command(_ bytes: [UInt8], _ world: World) {
        // The registration's length is what it is, not what was typed.
        var bytes = bytes
        if doing == .registering { bytes = Array(bytes.prefix(17)); bytes[2] = UInt8(bytes.count - 3) }
        write(bytes, world)
        let own = number
        // Nothing within five seconds to a command, or within 15 minutes to a payment: the till hangs up and begins anew.
        world.after(5_000...5_000) { [self] world in if number == own, !isTaken, doing != .nothing { hangUp(world) } }
        world.after(900_000...900_000) { [self] world in if number == own, doing != .nothing { hangUp(world) } }
    }

    private func write(_ bytes: [UInt8], _ world: World) {
        guard let connection else { return }
        let line = frames.map { $0.frame(bytes) } ?? bytes
        world.sendFromTill(line, connection)
    }

    private func hangUp(_ world: World) {
        guard let connection else { return }
        if !world.isSerial { world.closeFromTill(connection); self.connection = nil }
        isRegistered = world.isSerial
        retry(world)
    }

    func lost(_ connection: TillConnection, _ world: World) {
        guard connection == self.connection else { return }
        self.connection = nil
        retry(world)
    }

    /// What was not even taken was not begun; everything else has to be asked about.
    private func retry(_ world: World) {
        if doing == .paying, !isTaken { beliefs[beliefs.count - 1] = .unknown }
        number += 1
        let wasIdle = doing == .nothing
        doing = .nothing
        if wasIdle, left == 0, beliefs.last != .waiting { return }
        let own = number
        world.after(100...15_000) { [self] world in if number == own { begin(world) } }
    }

    func received(_ bytes: [UInt8], _ connection: TillConnection, _ world: World) {
        guard connection == self.connection else { return }
        if var end = frames {
            let (apdus, reply) = end.take(bytes)
            frames = end
            if !reply.isEmpty { world.sendFromTill(reply, connection) }
            for apdu in apdus { take(apdu, world) }
            return
        }
        buffer += bytes
        while buffer.count >= 3 {
            let isLong = buffer[2] == 0xFF
            guard !isLong || buffer.count >= 5 else { return }
            let length = isLong ? Int(buffer[3]) + 256 * Int(buffer[4]) : Int(buffer[2])
            let start = isLong ? 5 : 3
            guard buffer.count >= start + length else { return }
            let apdu = Array(buffer.prefix(2)) + Array(buffer[start..<(start + length)])
            buffer = Array(buffer.dropFirst(start + length))
            take(apdu, world)
        }
    }

    /// Class and instruction, then the data.
    private func take(_ apdu: [UInt8], _ world: World) {
        guard apdu.count >= 2 else { return }
        switch (apdu[0], apdu[1]) {
        case (0x80, 0x00), (0x84, 0x00): isTaken = true
        case (0x84, _):
            guard !isTaken else { return }
            // Refused at once: nothing was begun. A payment asked about that is not settled is asked about again.
            isTaken = true
            if doing == .paying { beliefs[beliefs.count - 1] = .notPaid }
            finish(world)
        case (0x04, 0x0F):
            // Nobody waits for a result: no goods go out.
            guard doing == .paying || doing == .asking else { return write([0x84, 0x66, 0], world) }
            result = apdu.count > 3 && apdu[2] == 0x27 ? apdu[3] : nil
            if doing == .paying, result == 0, world.chance(150) {
                let answers: [[UInt8]] = [[0x84, 0x9C, 0], [0x84, 0x66, 0], [0x84, 0x9D, 7, 4, 0, 0, 0, 0, 5, 0]]
                return write(answers.randomElement(using: &world.random) ?? answers[0], world)
            }
            if world.chance(20) { return }
            acknowledged = result == 0
            write([0x80, 0, 0], world)
        case (0x06, 0xD1), (0x06, 0xD3):
            let prints = doing == .asking || !world.chance(30)
            write(prints ? [0x80, 0, 0] : [0x84, 0xCC, 0], world)
        case (0x06, 0x0F), (0x06, 0x1E):
            write([0x80, 0, 0], world)
            let isDone = apdu[1] == 0x0F
            if doing == .registering { isRegistered = isDone }
            if doing == .paying { beliefs[beliefs.count - 1] = isDone && acknowledged ? .paid : .notPaid }
            if doing == .asking { beliefs[beliefs.count - 1] = isDone && result == 0 ? .paid : .notPaid }
            finish(world)
        default: write([0x80, 0, 0], world)
        }
    }

    private func finish(_ world: World) {
        world.note("till: \(doing) → \(String(describing: beliefs.last))")
        doing = .nothing
        number += 1
        let own = number
        guard left > 0 || beliefs.last == .waiting else { return }
        world.after(300...20_000) { [self] world in if number == own { begin(world) } }
    }
}

/// The till's end of a serial line: frames with a table-driven checksum, of another making than the terminal's.
struct SerialEnd {
    private static let table: [UInt16] = (0..<256).map { index in
        var value = UInt16(index)
        for _ in 0..<8 { value = value % 2 == 1 ? (value / 2) ^ 0x8408 : value / 2 }
        return value
    }
    private var bytes: [UInt8] = []

    private static func sum(_ bytes: [UInt8]) -> UInt16 {
        var value: UInt16 = 0
        for byte in bytes { value = (value >> 8) ^ table[Int((value ^ UInt16(byte)) & 0xFF)] }
        return value
    }

    func frame(_ apdu: [UInt8]) -> [UInt8] {
        let sum = Self.sum(apdu + [3])
        var line: [UInt8] = [0x10, 0x02]
        for byte in apdu { line += byte == 0x10 ? [0x10, 0x10] : [byte] }
        return line + [0x10, 0x03, UInt8(sum & 0xFF), UInt8(sum >> 8)]
    }

    /// Whole packets (class, instruction, data) and what is to be answered to them.
    mutating func take(_ more: [UInt8]) -> (apdus: [[UInt8]], reply: [UInt8]) {
        bytes += more
        var apdus: [[UInt8]] = []
        var reply: [UInt8] = []
        while let start = bytes.firstIndex(of: 0x10), start + 1 < bytes.count {
            guard bytes[start + 1] == 0x02 else {
                bytes = Array(bytes.dropFirst(start + 1))
                continue
            }
            guard let (apdu, end, isGood) = whole(from: start + 2) else { return (apdus, reply) }
            bytes = Array(bytes.dropFirst(end))
            reply.append(isGood ? 0x06 : 0x15)
            if isGood, apdu.count >= 3 {
                let isLong = apdu[2] == 0xFF && apdu.count >= 5
                apdus.append(Array(apdu.prefix(2)) + apdu.dropFirst(isLong ? 5 : 3))
            }
        }
        return (apdus, reply)
    }

    private func whole(from start: Int) -> (apdu: [UInt8], end: Int, isGood: Bool)? {
        var apdu: [UInt8] = []
        var index = start
        while index + 1 < bytes.count {
            guard bytes[index] == 0x10 else {
                apdu.append(bytes[index])
                index += 1
                continue
            }
            if bytes[index + 1] == 0x03 {
                guard index + 3 < bytes.count else { return nil }
                let sum = UInt16(bytes[index + 2]) | UInt16(bytes[index + 3]) << 8
                return (apdu, index + 4, sum == Self.sum(apdu + [3]))
            }
            apdu.append(bytes[index + 1])
            index += 2
        }
        return nil
    }
}
