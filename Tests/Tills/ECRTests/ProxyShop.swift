// SPDX-License-Identifier: Apache-2.0
import Codes
import Foundation
import TestSupport

@testable import ECR

/// A shop with one reader, one till of hw_proxy and two windows, each with a customer, in random order: starts of all kinds, questions,
/// keepalives, lines that are given up, cancels, time and cards. It knows what a person in the shop would know: whose turn it is, and
/// who has paid what.
struct ProxyShop {
    enum Wrong: Error, Equatable {
        /// Confirmed with the card of the other customer.
        case paidByOther
        /// Confirmed, though its page had not asked for five seconds when it was approved.
        case abandonedConfirmed
        /// A card found a payment whose page has not asked for 36 seconds.
        case abandonedOnReader
        /// A page was told "paid", and the money went back.
        case toldAndTakenBack
    }

    private enum Fate { case waiting, approved, confirmed, back, no }

    private struct Payment {
        var window: Int
        var fate = Fate.waiting
        var payer: Int?
        var approvedAt: Int64?
        var isTold = false
    }

    private struct Window {
        var line = 0
        /// Of the line for which it asks once a second.
        var waitsFor: UInt64?
        var pollAt: Int64 = .max
        var keepaliveAt: Int64
        /// The answer that it read last: the same one says nothing new.
        var read: [UInt8] = []
    }

    private enum Happening { case timer(TillTimer), input(TillInput), cancel(AttemptKey) }

    private(set) var paid = 0
    /// Confirmed, though the page gave it up in the seconds before.
    private(set) var untold = 0
    private(set) var cards = 0
    private var terminal: ProxyTerminal
    private var random: SeededGenerator
    private var now: Int64 = 0
    private var windows: [Window]
    private var payments: [AttemptKey: Payment] = [:]
    /// When the window of a payment asked last, by its number.
    private var askedAt: [UInt64: Int64] = [:]
    private var agenda: [(at: Int64, what: Happening)] = []
    private var exchange: UInt64 = 0
    /// Whose start was the last, whatever became of it: this customer stands at the reader.
    private var turn = 0

    init(seed: UInt64, currency: CurrencyCode) {
        random = SeededGenerator(seed: seed)
        terminal = ProxyTerminal(
            desk: TillMachine(lane: "main", installation: "1"),
            settings: .init(
                currency: currency, hosts: [ProxyTill.headers.host], origins: [ProxyTill.headers.origin]))
        windows = [Window(keepaliveAt: 0), Window(keepaliveAt: 0)]
        for index in windows.indices { windows[index].keepaliveAt = Int64.random(in: 0...5_000, using: &random) }
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    // MARK: - A day

    /// - Throws: the first thing that went wrong.
    mutating func run(steps: Int) throws(Wrong) {
        for _ in 0..<steps {
            let window = chance(50) ? 0 : 1
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<25: try start(window)
            case 25..<35: giveUp(window)
            case 35..<38: cancel()
            case 38..<68: try presentCard()
            default: break
            }
            let pauses: [Int64] = [50, 400, 1_000, 1_000, 3_000, 3_000, 7_000, 40_000]
            try pass(pauses[Int.random(in: pauses.indices, using: &random)])
        }
        for window in windows.indices { giveUp(window) }
        try pass(4_000)
        if payments.values.contains(where: { $0.fate == .waiting || $0.fate == .approved }) { try pass(45_000) }
        for payment in payments.values where payment.isTold && payment.fate != .confirmed { throw .toldAndTakenBack }
        untold += payments.values.count { $0.fate == .confirmed && !$0.isTold }
    }

    private mutating func pass(_ time: Int64) throws(Wrong) {
        let end = now + time
        while true {
            let due = agenda.indices.min { agenda[$0].at < agenda[$1].at }
            let asks = windows.map { min($0.pollAt, $0.keepaliveAt) }
            let next = min(due.map { agenda[$0].at } ?? .max, asks[0], asks[1])
            guard next <= end else { break }
            now = max(now, next)
            if let due, agenda[due].at == next {
                try happen(agenda.remove(at: due).what)
            } else {
                try ask(asks[0] == next ? 0 : 1)
            }
        }
        now = end
    }

    private mutating func happen(_ what: Happening) throws(Wrong) {
        switch what {
        case .timer(let timer): try carryOut(terminal.handle(.timer(timer), at: now))
        case .input(let input): try carryOut(terminal.handle(input, at: now))
        case .cancel(let key):
            if payments[key]?.fate == .waiting {
                payments[key]?.fate = .no
                soon(.input(.settled(key, .notPaid(TillRefusal(.cancelledByOperator)))))
            } else {
                soon(.input(.tooLate(key)))
            }
        }
    }

    private mutating func soon(_ what: Happening, _ delay: ClosedRange<Int64> = 1...100) {
        agenda.append((now + Int64.random(in: delay, using: &random), what))
    }

    // MARK: - Windows

    private static let wrongSums = ["12.345", "-3", "0", "1e15", "\"5\""]

    private mutating func start(_ window: Int) throws(Wrong) {
        turn = window
        // Pressed again for the same line, or for a new one.
        if windows[window].waitsFor == nil || chance(80) { windows[window].line += 1 }
        giveUp(window)
        let minor = windows[window].line * 506 + window
        var amount = "\(Double(minor) * 0.01)"
        var currency = "EUR"
        if chance(25) { amount = Self.wrongSums[Int.random(in: Self.wrongSums.indices, using: &random)] }
        if chance(5) { currency = "USD" }
        let info = """
            {"amount":\(amount),"currency_iso":"\(currency)","currency_decimals":2,"payment_mode":"card",\
            "payment_id":"\(window)","order_id":"\(windows[window].line)"}
            """
        try send(ProxyTill.request(ProxyTests.startPath, ["payment_info": info], id: 1), from: window)
    }

    private static let question = ProxyTill.request("/hw_proxy/status_json", [:], id: 1)

    /// The line is deleted, paid in cash, or its window closed and opened: nobody asks for it any more, and nobody says so.
    private mutating func giveUp(_ window: Int) {
        (windows[window].waitsFor, windows[window].pollAt, windows[window].read) = (nil, .max, [])
    }

    private mutating func ask(_ window: Int) throws(Wrong) {
        if windows[window].pollAt <= windows[window].keepaliveAt {
            if let number = windows[window].waitsFor { askedAt[number] = now }
            windows[window].pollAt = now + 1_000
            try send(Self.question, from: window)
        } else {
            windows[window].keepaliveAt = now + Int64.random(in: 5_002...5_060, using: &random)
            try send(Self.question, from: nil)
        }
    }

    /// - Parameter window: the one that reads the answer; nobody reads that of a keepalive.
    private mutating func send(_ request: ProxyRequest, from window: Int?) throws(Wrong) {
        exchange += 1
        if let window { readers[TillConnection(exchange)] = window }
        try carryOut(terminal.request(request, on: TillConnection(exchange), at: now))
    }

    private var readers: [TillConnection: Int] = [:]

    private mutating func read(_ response: ProxyResponse, _ connection: TillConnection) {
        soon(.input(.sent(connection)), 0...20)
        guard let window = readers.removeValue(forKey: connection), response.body != windows[window].read else {
            return
        }
        windows[window].read = response.body
        guard let answer = (try? JSONSerialization.jsonObject(with: Data(response.body))) as? [String: Any],
            let result = answer["result"] as? [String: Any]
        else { return }
        if let number = result["transaction_id"] as? Int {
            // Its customer stands there, though another window was quicker to press.
            windows[window].waitsFor = UInt64(number)
            windows[window].pollAt = now + 1_000
            askedAt[UInt64(number)] = now
            return
        }
        guard let number = windows[window].waitsFor, let driver = result["nfc_tap"] as? [String: Any],
            let all = driver["transactions"] as? [String: [String: Any]],
            let success = all["\(number)"]?["success"] as? Bool
        else { return }
        giveUp(window)
        guard success, let key = payments.keys.first(where: { $0.text.hasSuffix("-\(number)") }) else { return }
        payments[key]?.isTold = true
    }

    // MARK: - The reader

    private mutating func cancel() {
        for (key, payment) in payments where payment.fate == .waiting { soon(.cancel(key)) }
    }

    /// Of the customer whose turn it is.
    private mutating func presentCard() throws(Wrong) {
        guard let key = payments.first(where: { $0.value.fate == .waiting })?.key else { return }
        cards += 1
        if let asked = number(of: key).flatMap({ askedAt[$0] }), now - asked > 36_000 { throw .abandonedOnReader }
        payments[key]?.payer = turn
        let isApproved = chance(80)
        payments[key]?.fate = isApproved ? .approved : .no
        let delay = Int64.random(in: 200...2_500, using: &random)
        payments[key]?.approvedAt = isApproved ? now + delay : nil
        let amount = terminal.desk.attempt(key)?.order.amount ?? 0
        let outcome: TillOutcome =
            isApproved ? .approved(TillApproval(amount: amount, reference: "1")) : .notPaid(TillRefusal(.declined))
        agenda.append((now + delay, .input(.settled(key, outcome))))
    }

    private func number(of key: AttemptKey) -> UInt64? { key.text.split(separator: "-").last.flatMap { UInt64($0) } }

    // MARK: - What the machine asks for

    private mutating func carryOut(_ effects: [TillEffect]) throws(Wrong) {
        for effect in effects {
            switch effect {
            case .respond(let response, let connection): read(response, connection)
            case .arm(let timer, let time):
                agenda.removeAll { if case .timer(timer) = $0.what { true } else { false } }
                agenda.append((now + time, .timer(timer)))
            case .start(let demand):
                payments[demand.key] = Payment(window: demand.order.amount % 506 == 0 ? 0 : 1)
            case .cancel(let key): soon(.cancel(key), 1...300)
            case .confirm(let key): try confirm(key)
            case .takeBack(let key, _):
                payments[key]?.fate = .back
                soon(.input(.takenBack(key)))
            case .send, .close, .record, .spend, .refuse, .lookUp, .reverse, .book, .closeBatch, .alarm: break
            }
        }
    }

    private mutating func confirm(_ key: AttemptKey) throws(Wrong) {
        guard let payment = payments[key], payment.fate == .approved else { return }
        guard payment.payer == payment.window else { throw .paidByOther }
        if let asked = number(of: key).flatMap({ askedAt[$0] }), let approved = payment.approvedAt,
            approved - asked > 5_000
        {
            throw .abandonedConfirmed
        }
        payments[key]?.fate = .confirmed
        paid += 1
        soon(.input(.confirmed(key)))
    }
}
