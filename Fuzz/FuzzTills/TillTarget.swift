// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Codes
import ECR
import FuzzSupport
import Glibc

/// A terminal's machine, and what happens to it as an input says: a protocol, then steps of a kind, a length and so many bytes.
///
/// It ends the process where a rule is broken: a key that begins two payments, a confirmation of what was not approved or was
/// taken back, a number that goes back.
struct TillTarget {
    private enum Machine {
        case caisse(CaisseTerminal)
        case zvt(ZVTTerminal)
        case proxy(ProxyTerminal)
        case ePlus(EPlusTerminal)
    }

    private var machine: Machine
    private var now: Int64 = 0
    private var started: Set<AttemptKey> = []
    private var approved: Set<AttemptKey> = []
    private var back: Set<AttemptKey> = []
    private var booked: Set<AttemptKey> = []
    /// Reservations of which nothing is left.
    private var done: Set<AttemptKey> = []
    private var newest: AttemptKey?
    private var numbers: UInt64 = 0
    private var timers: [TillTimer] = []

    static func run(_ input: [UInt8]) {
        guard let kind = input.first, var target = TillTarget(kind) else { return }
        target.carryOut(target.handle(.restored))
        for connection in 1...2 as ClosedRange<UInt64> {
            target.carryOut(target.handle(.connected(TillConnection(connection), peer: "10.0.0.\(connection)")))
        }
        var rest = input.dropFirst()
        while let step = rest.first, rest.count >= 2 {
            let length = Int(rest[rest.startIndex + 1])
            let data = Array(rest.dropFirst(2).prefix(length))
            rest = rest.dropFirst(2 + data.count)
            target.take(step, data)
        }
    }

    private init?(_ kind: UInt8) {
        guard let euro = CurrencyCode("EUR") else { return nil }
        let desk = TillMachine(lane: "main", installation: "fuzz")
        switch kind % 6 {
        case 0:
            machine = .caisse(CaisseTerminal(desk: desk, settings: .init(currency: euro, kinds: [.sale, .refund])))
        case 1, 2:
            let settings = ZVTTerminal.Settings(
                currency: euro, terminal: 29_001_006, refunds: true, reservations: true)
            machine = .zvt(ZVTTerminal(desk: desk, settings: settings, line: kind % 6 == 1 ? .tcp : .serial))
        case 4, 5:
            let settings = EPlusTerminal.Settings(
                currency: euro, kinds: [.sale, .refund], answer: kind % 6 == 4 ? .atTheEnd : .atOnce)
            machine = .ePlus(EPlusTerminal(desk: desk, settings: settings))
        default:
            let settings = ProxyTerminal.Settings(currency: euro, hosts: ["till"], origins: ["https://shop.example"])
            machine = .proxy(ProxyTerminal(desk: desk, settings: settings))
        }
    }

    private mutating func take(_ step: UInt8, _ data: [UInt8]) {
        now += Int64(data.first ?? 1) * 100
        let connection = TillConnection(UInt64(step >> 6 & 1) + 1)
        switch step % 10 {
        case 0, 1, 2: carryOut(bytes(data, connection))
        case 3: if let timer = timers.popLast() { carryOut(handle(.timer(timer))) }
        case 4: settle(.approved(TillApproval(amount: amount, maskedCard: "************0010", reference: "1")))
        case 5: settle(.notPaid(TillRefusal(.declined, hostCode: data.first)))
        case 6: carryOut(handle(.lost(connection, data.isEmpty ? .closed : .reset)))
        case 7: if let newest { carryOut(handle(data.isEmpty ? .confirmed(newest) : .takenBack(newest))) }
        case 8: carryOut(handle(.sent(connection)))
        default:
            guard let key = desk.held.first?.key, desk.attempt(key)?.booking?.phase == .asked else { return }
            if data.isEmpty { done.insert(key) }
            carryOut(handle(.booked(key, data.isEmpty ? .done : .refused)))
        }
    }

    private var desk: TillMachine {
        switch machine {
        case .caisse(let terminal): terminal.desk
        case .zvt(let terminal): terminal.desk
        case .proxy(let terminal): terminal.desk
        case .ePlus(let terminal): terminal.desk
        }
    }

    private var amount: Int64 { desk.open?.order.amount ?? 1 }

    private mutating func settle(_ outcome: TillOutcome) {
        guard let newest, started.contains(newest) else { return }
        if case .approved = outcome { approved.insert(newest) }
        carryOut(handle(.settled(newest, outcome)))
    }

    private mutating func bytes(_ data: [UInt8], _ connection: TillConnection) -> [TillEffect] {
        guard case .proxy(var terminal) = machine else { return handle(.bytes(data, connection)) }
        let path = data.first.map { $0 % 2 == 0 } ?? false ? "status_json" : "payment_terminal_transaction_start"
        let request = ProxyRequest(
            "POST", "/hw_proxy/\(path)", host: "till", origin: "https://shop.example", contentType: "application/json",
            body: Array(data.dropFirst()))
        defer { machine = .proxy(terminal) }
        return terminal.request(request, on: connection, at: now)
    }

    private mutating func handle(_ input: TillInput) -> [TillEffect] {
        switch machine {
        case .caisse(var terminal):
            defer { machine = .caisse(terminal) }
            return terminal.handle(input, at: now)
        case .zvt(var terminal):
            defer { machine = .zvt(terminal) }
            return terminal.handle(input, at: now)
        case .proxy(var terminal):
            defer { machine = .proxy(terminal) }
            return terminal.handle(input, at: now)
        case .ePlus(var terminal):
            defer { machine = .ePlus(terminal) }
            return terminal.handle(input, at: now)
        }
    }

    private mutating func carryOut(_ effects: [TillEffect]) {
        for effect in effects {
            switch effect {
            case .start(let demand):
                guard started.insert(demand.key).inserted, demand.order.amount > 0 else { abort() }
                newest = demand.key
            case .confirm(let key):
                guard approved.contains(key), !back.contains(key) else { abort() }
            case .takeBack(let key, _):
                guard started.contains(key) else { abort() }
                back.insert(key)
            case .record(let attempt): numbers = max(numbers, attempt.number)
            case .spend(let number):
                guard number > numbers else { abort() }
                numbers = number
            case .book(let booking, let key):
                guard approved.contains(key), !back.contains(key), booked.insert(booking.key).inserted,
                    !done.contains(key)
                else { abort() }
            case .arm(let timer, _): timers = timers.filter { $0 != timer } + [timer]
            case .send(let bytes, _, _): if bytes.isEmpty || bytes.count > 70_000 { abort() }
            case .respond(let response, _): if !(200...599).contains(response.status) { abort() }
            case .close, .refuse, .cancel, .lookUp, .reverse, .closeBatch, .alarm: break
            }
        }
    }

    // MARK: - Inputs to begin with

    static func writeSeeds(to folder: String) {
        let caisse = Array("CZ0040300CJ012012345678901CA00201CE003978CD0010CB0041250".utf8)
        let start = """
            {"id":1,"jsonrpc":"2.0","method":"call","params":{"payment_info":"{\\"amount\\":12.5,\\"currency_iso\\":\\"EUR\\",\
            \\"payment_mode\\":\\"card\\",\\"payment_id\\":\\"a\\",\\"order_id\\":\\"b\\"}"}}
            """
        let sale = (try? Hex.bytes("06010C0400000000125049097806 00")) ?? []
        let commands = [
            "0600041234 56BA", "05 0103 123456", "0650 03123456", "061003123456", "0630061234568700 01", "06B000",
        ]
        .compactMap { try? Hex.bytes($0) }
        Fuzzer.write([0] + step(0, caisse) + step(3, []) + step(4, []) + step(8, []), to: folder, named: "caisse")
        let answer: [UInt8] = [0x80, 0, 0]
        var zvt: [UInt8] = step(0, sale) + step(4, [])
        for _ in 0..<4 { zvt += step(0, answer) }
        Fuzzer.write([1] + zvt, to: folder, named: "zvt")
        for (index, command) in commands.enumerated() {
            Fuzzer.write(
                [1] + zvt + step(0, command) + step(0, answer) + step(0, answer), to: folder, named: "zvt-\(index)")
            if let packet = ZVTPacket.first(of: command)?.packet {
                Fuzzer.write([2] + step(0, ZVTFrame.bytes(of: packet)), to: folder, named: "serial-\(index)")
            }
        }
        var reservation: [UInt8] = step(0, (try? Hex.bytes("06220A04000000005000490978")) ?? []) + step(4, [])
        for _ in 0..<3 { reservation += step(0, answer) }
        for command in ["06230D870001040000000015 00490978", "06240387 0001", "0625038700 01", "06230387FFFF"] {
            guard let bytes = try? Hex.bytes(command) else { continue }
            Fuzzer.write(
                [1] + reservation + step(0, bytes) + step(9, []) + step(0, answer) + step(0, answer), to: folder,
                named: "booking-\(bytes[1])-\(bytes.count)")
        }
        let request = Array("01000012500109780000000000A010B010".utf8)
        let ePlus: [UInt8] =
            step(0, [5]) + step(0, [2] + request + [3, request.reduce(3, ^)]) + step(0, [4]) + step(4, [])
            + step(0, [6]) + step(0, [6])
        for kind in [4, 5] as [UInt8] { Fuzzer.write([kind] + ePlus, to: folder, named: "e-plus-\(kind)") }
        Fuzzer.write(
            [3] + step(0, [1] + Array(start.utf8)) + step(4, []) + step(0, [0] + Array(start.utf8)), to: folder,
            named: "proxy")
    }

    private static func step(_ kind: UInt8, _ data: [UInt8]) -> [UInt8] { [kind, UInt8(clamping: data.count)] + data }
}
