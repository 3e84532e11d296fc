// SPDX-License-Identifier: Apache-2.0
import ECR

/// A till of a hotel over ZVT: it holds 50.00 of each guest, and books a part later, all of it or nothing. Where an answer is lost it
/// asks again for the same.
final class ReservationTill: TillSide {
    struct Guest {
        var receipt: UInt64?
        /// What the till asked for first: it does not ask for anything else of this guest.
        var wish: (command: [UInt8], amount: Int64)?
        /// What the shop gets of it, as the terminal said.
        var told: Int64?
        var word = "waiting"
    }

    private(set) var guests: [Guest] = []
    private var connection: TillConnection?
    private var buffer: [UInt8] = []
    private var left: Int
    private var number = 0
    private var result: UInt8?
    private var fields: [UInt8] = []
    private var isTaken = false
    private var tries = 0

    init(guests: Int) { left = guests }

    func begin(_ world: World) {
        number += 1
        (buffer, result, isTaken) = ([], nil, false)
        if connection.map({ !world.isLive($0) }) ?? true { connection = world.connect() }
        if guests.last?.word == "waiting", guests.last?.receipt != nil { return book(world) }
        // A reservation whose answer was lost is taken back.
        if guests.last?.word == "waiting" { guests[guests.count - 1].word = "lost" }
        guard left > 0 else { return }
        left -= 1
        tries = 0
        guests.append(Guest())
        write([0x06, 0x22, 0x0A, 0x04, 0, 0, 0, 0, 0x50, 0x00, 0x49, 0x09, 0x78], world)
    }

    private func book(_ world: World) {
        let index = guests.count - 1
        guard let receipt = guests[index].receipt else { return }
        let number = [
            UInt8(receipt / 1_000 % 10 << 4 | receipt / 100 % 10), UInt8(receipt / 10 % 10 << 4 | receipt % 10),
        ]
        if guests[index].wish == nil {
            let wishes: [(command: [UInt8], amount: Int64)] = [
                ([0x06, 0x23, 0x0A, 0x87] + number + [0x04, 0, 0, 0, 0, 0x12, 0x50], 3_750),
                ([0x06, 0x24, 0x0A, 0x87] + number + [0x04, 0, 0, 0, 0, 0x12, 0x50], 1_250),
                ([0x06, 0x24, 0x03, 0x87] + number, 5_000), ([0x06, 0x25, 0x03, 0x87] + number, 0),
            ]
            guests[index].wish = wishes.randomElement(using: &world.random)
        }
        tries += 1
        // One whose wish is refused again and again is left as it is.
        guard tries < 40, let wish = guests[index].wish else {
            guests[index].word = "refused"
            return begin(world)
        }
        write(wish.command, world)
    }

    private func write(_ bytes: [UInt8], _ world: World) {
        guard let connection else { return }
        world.sendFromTill(bytes, connection)
        let own = number
        world.after(900_000...900_000) { [self] world in
            guard number == own, let line = self.connection else { return }
            self.connection = nil
            world.closeFromTill(line)
            again(world)
        }
    }

    private func answer(_ world: World) {
        if let connection { world.sendFromTill([0x80, 0, 0], connection) }
    }

    private func again(_ world: World) {
        number += 1
        let own = number
        world.after(500...20_000) { [self] world in if number == own { begin(world) } }
    }

    func lost(_ connection: TillConnection, _ world: World) {
        guard connection == self.connection else { return }
        self.connection = nil
        again(world)
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
        let index = guests.count - 1
        switch (packet[0], packet[1]) {
        case (0x80, 0x00): isTaken = true
        case (0x84, _): if !isTaken { again(world) }
        case (0x04, 0x0F):
            result = packet.count > 4 && packet[3] == 0x27 ? packet[4] : nil
            fields = packet
            answer(world)
        case (0x06, 0x0F), (0x06, 0x1E):
            answer(world)
            if packet[1] == 0x0F, result == 0 { succeeded(index) } else { refused(index) }
            again(world)
        default: answer(world)
        }
    }

    private func succeeded(_ index: Int) {
        if guests[index].receipt == nil {
            guests[index].receipt = decimal(after: 0x87, count: 2)
        } else {
            guests[index].told = decimal(after: 0x04, count: 6).map(Int64.init)
            guests[index].word = guests[index].told == guests[index].wish?.amount ? "booked" : "another sum"
        }
    }

    private func refused(_ index: Int) {
        if guests[index].receipt == nil { guests[index].word = "declined" }
    }

    /// Of the result: 27 and 04 come first, and the receipt where the others end.
    private func decimal(after field: UInt8, count: Int) -> UInt64? {
        let sizes: [UInt8: Int] = [
            0x27: 1, 0x04: 6, 0x0B: 3, 0x0C: 3, 0x0D: 2, 0x19: 1, 0x29: 4, 0x37: 3, 0x3B: 8, 0x49: 2, 0x87: 2, 0x8A: 1,
        ]
        var rest = fields.dropFirst(3)
        while let number = rest.popFirst() {
            var size = sizes[number]
            if number == 0x22, rest.count > 1 {
                let digits = rest.prefix(2).map { Int($0 & 0x0F) }
                rest = rest.dropFirst(2)
                size = digits[0] * 10 + digits[1]
            }
            guard let size, rest.count >= size else { return nil }
            if number == field {
                return rest.prefix(count).reduce(0) { $0 * 100 + UInt64($1 >> 4) * 10 + UInt64($1 & 0x0F) }
            }
            rest = rest.dropFirst(size)
        }
        return nil
    }
}
