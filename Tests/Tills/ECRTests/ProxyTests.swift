// SPDX-License-Identifier: Apache-2.0
import Codes
import Testing

@testable import ECR

struct ProxyTests {
    private var terminal: ProxyTerminal
    private var exchange: UInt64 = 0

    init() throws {
        terminal = ProxyTerminal(
            desk: TillMachine(lane: "main", installation: "1"),
            settings: .init(
                currency: try #require(CurrencyCode("EUR")), hosts: [ProxyTill.headers.host],
                origins: [ProxyTill.headers.origin]))
    }

    private mutating func send(
        _ request: ProxyRequest, at now: Int64 = 0
    ) -> (response: ProxyResponse?, effects: [TillEffect]) {
        exchange += 1
        let effects = terminal.request(request, on: TillConnection(exchange), at: now)
        for case .respond(let response, _) in effects { return (response, effects) }
        return (nil, effects)
    }

    private mutating func start(_ info: String, at now: Int64 = 0) -> String? {
        send(ProxyTill.request(Self.startPath, ["payment_info": info], id: 1), at: now)
            .response.map { String(decoding: $0.body, as: UTF8.self) }
    }

    private mutating func poll() -> String? {
        send(ProxyTill.request("/hw_proxy/status_json", [:], id: 2)).response.map {
            String(decoding: $0.body, as: UTF8.self)
        }
    }

    private static func info(_ payment: String, amount: String = "12.5") -> String {
        "{\"amount\":\(amount),\"currency_iso\":\"EUR\",\"payment_mode\":\"card\",\"payment_id\":\"\(payment)\",\"order_id\":\"o\"}"
    }

    static let startPath = "/hw_proxy/payment_terminal_transaction_start"
    private static let refused = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":false}"

    @Test(arguments: [
        ("12.5", 2, 1250), ("0.1", 2, 10), ("16.1", 2, 1610), ("1e2", 2, 10_000), ("1.5E+1", 2, 1500),
        ("1250e-2", 2, 1250),
        ("5", 0, 5), ("1.234", 3, 1234), ("12.500", 2, 1250), ("0", 2, 0),
    ])
    func `a sum is read as decimal text`(text: String, exponent: Int, minor: Int64) throws {
        #expect(try DecimalAmount.minorUnits(text, exponent: exponent) == minor)
    }

    @Test(arguments: ["-1", "1.234", "", ".", "1.", ".5", "1e", "1e99", "1e-9", "0x1", "99999999999", "1.2.3", "１"])
    func `a sum that a currency of two decimals cannot hold is no sum`(text: String) {
        #expect(throws: DecimalAmount.Fault.self) { try DecimalAmount.minorUnits(text, exponent: 2) }
    }

    @Test mutating func `a page of a foreign origin, text, and a foreign host begin nothing`() {
        let good = ProxyTill.request(
            "/hw_proxy/payment_terminal_transaction_start", ["payment_info": Self.info("1")], id: 1)
        var foreign = good
        foreign.origin = "https://evil.example"
        var text = good
        text.contentType = "text/plain;charset=UTF-8"
        var host = good
        host.host = "evil.example:8069"
        for request in [foreign, text, host] {
            #expect(send(request).response?.status == 403)
            #expect(terminal.desk.counter == 0)
        }
        #expect(send(good).response?.status == 200)
        #expect(terminal.desk.counter == 1)
    }

    @Test mutating func `a browser is told who may ask, and nobody else is named`() throws {
        let asked = ProxyRequest(
            "OPTIONS", "/hw_proxy/status_json", host: ProxyTill.headers.host, origin: ProxyTill.headers.origin,
            asksForPrivateNetwork: true)
        let response = try #require(send(asked).response)
        let headers = Dictionary(uniqueKeysWithValues: response.headers.map { ($0.name, $0.value) })
        #expect(response.status == 204 && headers["Access-Control-Allow-Origin"] == ProxyTill.headers.origin)
        #expect(headers["Vary"] == "Origin" && headers["Access-Control-Allow-Private-Network"] == "true")
        var foreign = asked
        foreign.origin = "https://evil.example"
        #expect(send(foreign).response?.headers.contains { $0.name.hasPrefix("Access-Control") } == false)
    }

    @Test mutating func `paths answer as clients expect, and nothing else is there`() {
        let hello = send(ProxyRequest("GET", "/hw_proxy/hello", host: ProxyTill.headers.host)).response
        #expect(hello?.status == 200 && hello?.body == Array("ping".utf8))
        #expect(
            send(ProxyTill.request("/hw_proxy/handshake", [:], id: 7)).response?.body
                == Array("{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":true}".utf8))
        #expect(send(ProxyTill.request("/hw_proxy/print_receipt", [:], id: 1)).response?.status == 404)
    }

    @Test mutating func `the button pressed twice is one transaction, and a paid line is not paid again`() throws {
        let first = try #require(start(Self.info("1")))
        #expect(start(Self.info("1")) == first)
        let key = try #require(terminal.desk.open?.key)
        _ = terminal.handle(.settled(key, .approved(TillApproval(amount: 1250, reference: "7"))), at: 0)
        #expect(start(Self.info("1")) == first)
        #expect(try #require(poll()).contains("\"success\":true"))
        #expect(terminal.handle(.sent(TillConnection(exchange)), at: 0).contains(.confirm(key)))
        #expect(start(Self.info("1")) == first)
        #expect(try #require(poll()).contains("\"success\":true"))
        #expect(terminal.desk.counter == 1)
    }

    @Test mutating func `a line that was declined is a new payment when the button is pressed again`() throws {
        _ = start(Self.info("1"))
        let key = try #require(terminal.desk.open?.key)
        _ = terminal.handle(.settled(key, .notPaid(TillRefusal(.declined))), at: 0)
        #expect(try #require(start(Self.info("1"))) != Self.refused)
        #expect(terminal.desk.counter == 2 && terminal.desk.open?.key != key)
    }

    @Test mutating func `a poll that was not written in full is told again, and confirms nothing`() throws {
        _ = start(Self.info("1"))
        let key = try #require(terminal.desk.open?.key)
        _ = terminal.handle(.settled(key, .approved(TillApproval(amount: 1250, reference: "7"))), at: 0)
        _ = poll()
        #expect(!terminal.handle(.lost(TillConnection(exchange), .reset), at: 0).contains(.confirm(key)))
        #expect(try #require(poll()).contains("\"success\":true"))
        #expect(terminal.handle(.sent(TillConnection(exchange)), at: 0).contains(.confirm(key)))
    }

    @Test mutating func `a till that does not hear that its payment has begun has none`() throws {
        _ = start(Self.info("1"))
        let key = try #require(terminal.desk.open?.key)
        #expect(terminal.handle(.lost(TillConnection(exchange), .reset), at: 0).contains(.cancel(key)))
        // The keepalive of another page hears of no approval.
        #expect(try #require(poll()).contains("\"success\":null"))
        let end = terminal.handle(.settled(key, .approved(TillApproval(amount: 1250, reference: "7"))), at: 0)
        #expect(end.contains(.takeBack(key, .notDelivered)))
    }

    @Test mutating func `a second press whose answer is lost stops nothing that its till knows of`() throws {
        _ = start(Self.info("1"))
        let key = try #require(terminal.desk.open?.key)
        _ = terminal.handle(.sent(TillConnection(exchange)), at: 0)
        _ = start(Self.info("1"))
        #expect(!terminal.handle(.lost(TillConnection(exchange), .reset), at: 0).contains(.cancel(key)))
        #expect(terminal.desk.open?.phase == .running)
    }

    @Test mutating func `a paid line is found and told again after hundreds of others and a restart`() throws {
        func pay(_ payment: String) throws {
            let number = Int64(terminal.desk.counter) + 1
            _ = start(Self.info(payment), at: number * 100_000)
            let key = try #require(terminal.desk.open?.key)
            let reference = "ref\(payment)"
            _ = terminal.handle(
                .settled(key, .approved(TillApproval(amount: 1250, reference: reference))), at: number * 100_000)
            _ = terminal.request(
                ProxyTill.request("/hw_proxy/status_json", [:], id: 2), on: TillConnection(.max), at: number * 100_000)
            _ = terminal.handle(.sent(TillConnection(.max)), at: number * 100_000)
            _ = terminal.handle(.confirmed(key), at: number * 100_000)
        }
        for payment in 1...200 { try pay("\(payment)") }
        for _ in 0..<2 {
            let answer = try #require(start(Self.info("1")))
            #expect(answer.contains("\"transaction_id\":1,"))
            #expect(
                try #require(poll()).contains(
                    "{\"transaction_id\":1,\"success\":true,\"status\":null,\"status_details\":null,\"reference\":\"ref1\"}"
                ))
            #expect(terminal.desk.counter == 200 && terminal.desk.open == nil)
            let desk = terminal.desk
            #expect(desk.finished.count == TillMachine.kept)
            terminal = ProxyTerminal(
                desk: TillMachine(
                    lane: "main", installation: "1", counter: desk.counter, attempts: desk.finished, past: desk.past),
                settings: .init(
                    currency: try #require(CurrencyCode("EUR")), hosts: [ProxyTill.headers.host],
                    origins: [ProxyTill.headers.origin]))
        }
    }

    @Test mutating func `another sale cancels the one that runs, and is refused where that is too late`() throws {
        _ = start(Self.info("1"))
        let key = try #require(terminal.desk.open?.key)
        #expect(start(Self.info("2")) == nil)
        var late = terminal
        let begun = terminal.handle(.settled(key, .notPaid(TillRefusal(.cancelledByOperator))), at: 0)
        #expect(begun.contains { if case .start = $0 { true } else { false } })
        let refused = late.handle(.tooLate(key), at: 0)
        #expect(
            refused.contains {
                if case .respond(let response, _) = $0 { response.body == Array(Self.refused.utf8) } else { false }
            })
        #expect(
            late.handle(.settled(key, .approved(TillApproval(amount: 1250, reference: "7"))), at: 0).contains(
                .takeBack(key, .notDelivered)))
    }

    @Test
    mutating func
        `a second press for a payment that waits for another is the same payment, and a newer one takes its place`()
        throws
    {
        _ = start(Self.info("1"))
        let key = try #require(terminal.desk.open?.key)
        #expect(start(Self.info("3")) == nil)
        let third = exchange
        exchange += 1
        let newer = terminal.request(
            ProxyTill.request(Self.startPath, ["payment_info": Self.info("2")], id: 1), on: TillConnection(exchange),
            at: 0)
        let answered = newer.compactMap { effect -> UInt64? in
            if case .respond(let response, let connection) = effect, response.body == Array(Self.refused.utf8) {
                return connection.number
            }
            return nil
        }
        #expect(answered == [third])
        #expect(start(Self.info("2")) == nil)
        let begun = terminal.handle(.settled(key, .notPaid(TillRefusal(.cancelledByOperator))), at: 0)
        var answers: [[UInt8]] = []
        for case .respond(let response, _) in begun { answers.append(response.body) }
        #expect(answers.count == 2 && Set(answers).count == 1 && answers.first != Array(Self.refused.utf8))
        #expect(terminal.desk.counter == 2)
        // One that nobody waits for any more is not answered.
        #expect(start(Self.info("4")) == nil)
        _ = terminal.handle(.lost(TillConnection(exchange), .reset), at: 0)
        let open = try #require(terminal.desk.open?.key)
        _ = terminal.handle(.settled(open, .notPaid(TillRefusal(.cancelledByOperator))), at: 0)
        #expect(terminal.desk.counter == 2 && terminal.desk.open == nil)
    }

    @Test(arguments: [
        "", "[]", "{}", info("1", amount: "0"), info("1", amount: "-5"), info("1", amount: "1.001"),
        info("1").replacing("EUR", with: "USD"), info("1").replacing("card", with: "check"),
        info(String(repeating: "1", count: 129)),
        info("1").replacing("\"order_id\"", with: "\"currency_decimals\":3,\"order_id\""),
    ])
    mutating func `what cannot be paid is answered with false`(info: String) {
        #expect(start(info) == Self.refused)
        #expect(terminal.desk.counter == 0)
    }

    @Test mutating func `a till that asks for nothing any more is gone`() throws {
        _ = start(Self.info("1"))
        let key = try #require(terminal.desk.open?.key)
        #expect(terminal.handle(.timer(.keepWaiting), at: 30_000).contains(.cancel(key)))
    }

    @Test mutating func `after a restart a poll finds the transaction, running as it was`() throws {
        _ = start(Self.info("1"))
        let attempt = try #require(terminal.desk.open)
        terminal = ProxyTerminal(
            desk: TillMachine(lane: "main", installation: "1", attempts: [attempt]),
            settings: .init(
                currency: attempt.order.currency, hosts: [ProxyTill.headers.host], origins: [ProxyTill.headers.origin]))
        #expect(terminal.handle(.restored, at: 0).contains(.lookUp(attempt.key)))
        #expect(try #require(poll()).contains("\"1\":{\"transaction_id\":1,\"success\":null"))
    }
}
