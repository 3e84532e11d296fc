// SPDX-License-Identifier: Apache-2.0
import Codes
import Testing

@testable import ECR

struct ZVTTests {
    private var terminal: ZVTTerminal
    private let line = TillConnection(1)
    private var now: Int64 = 0

    init() throws {
        terminal = ZVTTerminal(
            desk: TillMachine(lane: "main", installation: "1", counter: 41),
            settings: .init(
                currency: try #require(CurrencyCode("EUR")), terminal: 29_001_006, password: [0x12, 0x34, 0x56]),
            line: .tcp)
        _ = terminal.handle(.connected(line, peer: "p"), at: 0)
    }

    /// What the terminal sends to this, as hexadecimal.
    private mutating func till(_ hex: String) -> [String] {
        sent(terminal.handle(.bytes(ZVTText.hexadecimal(hex) ?? [], line), at: now))
    }

    private func sent(_ effects: [TillEffect]) -> [String] {
        effects.compactMap { if case .send(let bytes, _, _) = $0 { Self.hex(bytes) } else { nil } }
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16, uppercase: true) + String($0 & 15, radix: 16, uppercase: true) }.joined()
    }

    private mutating func settle(_ outcome: TillOutcome) throws -> [TillEffect] {
        terminal.handle(.settled(try #require(terminal.desk.open?.key), outcome), at: now)
    }

    private static let ok = "800000"
    private static let sale = "06010C040000000012504909780600"
    private static let approval = TillOutcome.approved(
        TillApproval(
            amount: 1250, maskedCard: "************0010", authorisation: "123456", aid: "A0000000031010",
            network: .visa,
            reference: "1", time: TillTime(month: 11, day: 22, hour: 12, minute: 0, second: 0)))
    private static let paid =
        "040F50" + "2700" + "04000000001250" + "0B000042" + "0C120000" + "0D1122" + "1960"
        + "22F0F8EEEEEEEEEEEE0010" + "2929001006" + "3B3132333435360000" + "490978" + "870042" + "8A0A"
        + "8BF0F55669736100" + "060F" + "60094307A0000000031010" + "1F120102"

    private mutating func pay() throws {
        _ = till(Self.sale)
        _ = try settle(Self.approval)
        _ = till(Self.ok)
        _ = till(Self.ok)
    }

    @Test mutating func `a sale as a real till drives it`() throws {
        #expect(till("060004123456BA") == [Self.ok, "060F0719002929001006"])
        #expect(till(Self.ok) == [])
        #expect(till("050103123456") == [Self.ok, "060F11F0F1F36E66632D74617020302E312E3000"])
        #expect(till(Self.ok) == [])
        #expect(till(Self.sale) == [Self.ok])
        let key = try #require(terminal.desk.open?.key)
        #expect(sent(terminal.handle(.progress(key, TillProgress(.cardAwaited)), at: 0)) == ["04FF010A"])
        #expect(till(Self.ok) == [])
        #expect(sent(try settle(Self.approval)) == [Self.paid])
        let effects = terminal.handle(.bytes([0x80, 0, 0], line), at: 0)
        #expect(sent(effects) == ["060F00"])
        let confirmed = try #require(effects.firstIndex(of: .confirm(key)))
        #expect(confirmed < effects.count - 1)
        #expect(till(Self.ok) == [] && terminal.desk.open == nil)
    }

    @Test mutating func `a payment is on disk before its command is answered, and begins after that`() {
        let effects = terminal.handle(.bytes(ZVTText.hexadecimal(Self.sale) ?? [], line), at: 0)
        let kinds = effects.prefix(3).map { effect in
            switch effect {
            case .record: "record"
            case .send: "send"
            case .start: "start"
            default: "other"
            }
        }
        #expect(kinds == ["record", "send", "start"])
    }

    @Test mutating func `a refusal is told with the result and the abort`() throws {
        _ = till(Self.sale)
        let refusal = TillRefusal(.declined, hostCode: 51, text: "Abgelehnt")
        #expect(sent(try settle(.notPaid(refusal))) == ["040F1427332929001006" + "3CF0F0F9416267656C65686E74"])
        #expect(till(Self.ok) == ["061E0133"])
        #expect(till(Self.ok) == [])
    }

    @Test(arguments: [("846600", ["061E016C"]), ("849D0704000000000500", ["040F0727B52929001006"])])
    mutating func `a till that does not hand out the goods gets the payment taken back`(
        answer: String, next: [String]
    ) throws {
        _ = till(Self.sale)
        _ = try settle(Self.approval)
        let key = try #require(terminal.desk.open?.key)
        let effects = terminal.handle(.bytes(ZVTText.hexadecimal(answer) ?? [], line), at: 0)
        #expect(effects.contains(.takeBack(key, .refusedByTill)) && sent(effects) == next)
    }

    @Test mutating func `a till that is not ready is told again as often as it wants, and then no more`() throws {
        _ = till("06010E0400000000125049097801050202")
        _ = try settle(Self.approval)
        let key = try #require(terminal.desk.open?.key)
        for _ in 0..<2 {
            let effects = terminal.handle(.bytes([0x84, 0x9C, 0], line), at: 0)
            guard case .arm(.again(let number), milliseconds: 2_000)? = effects.last else {
                Issue.record("\(effects)")
                return
            }
            #expect(sent(terminal.handle(.timer(.again(number)), at: 0)).first?.hasPrefix("040F") == true)
        }
        let effects = terminal.handle(.bytes([0x84, 0x9C, 0], line), at: 0)
        #expect(effects.contains(.takeBack(key, .refusedByTill)) && sent(effects) == ["040F07276C2929001006"])
    }

    @Test mutating func `a till that does not answer, or has gone, gets the payment taken back`() throws {
        _ = till(Self.sale)
        _ = try settle(Self.approval)
        let key = try #require(terminal.desk.open?.key)
        var other = terminal
        #expect(other.handle(.lost(line, .closed), at: 0).contains(.takeBack(key, .notDelivered)))
        let silent = terminal.handle(.timer(.answer(1)), at: 5_000)
        #expect(silent.contains(.takeBack(key, .notDelivered)) && silent.contains(.close(line)))
    }

    @Test mutating func `receipts are printed by a till that wants to, and only then is it confirmed`() throws {
        _ = till("06000E123456BE0978060626040A0206D3")
        _ = till(Self.ok)
        _ = till(Self.sale)
        let receipts = [TillReceipt(copy: .merchant, lines: ["Grüße"]), TillReceipt(copy: .customer, lines: ["A"])]
        _ = try settle(.approved(TillApproval(amount: 1250, reference: "1", receipts: receipts)))
        let key = try #require(terminal.desk.open?.key)
        var refusing = terminal
        #expect(
            till(Self.ok) == [
                "06D33E063C" + "1F070101" + "2536" + "072A"
                    + Self.hex(Array("Receipt no. 0042              TID 29001006".utf8))
                    + "0705477281E165" + "090181"
            ])
        #expect(till(Self.ok).first?.hasPrefix("06D3") == true)
        #expect(terminal.handle(.bytes([0x80, 0, 0], line), at: 0).contains(.confirm(key)))
        _ = refusing.handle(.bytes([0x80, 0, 0], line), at: 0)
        #expect(refusing.handle(.bytes([0x84, 0xCC, 0], line), at: 0).contains(.takeBack(key, .refusedByTill)))
    }

    @Test(arguments: [
        ("060103220112", "848300"), ("06010522F0F24970", "84A500"), ("06010A040000000012500E2712", "84A500"),
        ("060E00", "848300"), ("06010A04000000001250490840", "846F00"), ("065003999999", "843700"),
        ("06310A12345604000000000100", "846B00"), ("06220704000000001250", "848300"),
        // Tips, with and without what a till may say with them.
        ("060C00", "848300"), ("060C0A87004204000000000100", "848300"), ("060C0D12345687004204000000000100", "848300"),
    ])
    mutating func `what is not done here is refused at once, and begins nothing`(command: String, answer: String) {
        #expect(till(command) == [answer])
        #expect(terminal.desk.counter == 41)
    }

    @Test mutating func `a command that comes again is answered again, and another one has to wait`() {
        #expect(till(Self.sale) == [Self.ok])
        #expect(till(Self.sale) == [Self.ok])
        #expect(till("06010A04000000000100490978") == ["849C00"])
        #expect(terminal.desk.counter == 42)
    }

    @Test mutating func `after the completion an equal sale is a second one, though the till has not answered`() throws
    {
        _ = till(Self.sale)
        _ = try settle(Self.approval)
        #expect(till(Self.ok) == ["060F00"])
        #expect(till(Self.sale) == [Self.ok])
        #expect(terminal.desk.counter == 43 && terminal.desk.open?.number == 43)
    }

    @Test
    mutating func `message numbers and the synchronisation by receipt number are not agreed on, and change nothing`()
        throws
    {
        // A till that offers 1F73 hears nothing of it, and so does without.
        let registered = till("06000E" + "123456" + "08" + "0978" + "06061F7303000000")
        #expect(
            registered.first == Self.ok && registered.count == 2 && !registered[1].contains("1F73"), "\(registered)")
        #expect(till(Self.ok) == [])
        _ = till("060110" + "04000000001250" + "490978" + "06041F1F0105")
        let told = sent(try settle(Self.approval))
        #expect(
            told.count == 1 && told.allSatisfy { $0.hasPrefix("040F") && !$0.contains("1F1F") && !$0.contains("1F73") })
        // Of the payment before nothing is taken back by a receipt number that is not its own.
        #expect(till(Self.ok) == ["060F00"])
        let more = terminal.handle(
            .bytes(ZVTText.hexadecimal("060110" + "04000000001250" + "490978" + "06041F1F0141") ?? [], line), at: now)
        #expect(sent(more) == [Self.ok] && !more.contains { if case .takeBack = $0 { true } else { false } })
    }

    @Test mutating func `an abort is a wish: what became of it is told by the result`() throws {
        _ = till(Self.sale)
        let key = try #require(terminal.desk.open?.key)
        let effects = terminal.handle(.bytes([0x06, 0xB0, 0], line), at: 0)
        #expect(sent(effects) == [Self.ok] && effects.contains(.cancel(key)))
        #expect(sent(try settle(.notPaid(TillRefusal(.cancelledByOperator)))) == ["040F07276C2929001006"])
        #expect(till(Self.ok) == ["061E016C"])
    }

    @Test mutating func `after a lost connection the till learns of its last payment`() throws {
        _ = till(Self.sale)
        let key = try #require(terminal.desk.open?.key)
        _ = terminal.handle(.lost(line, .closed), at: 0)
        _ = terminal.handle(.connected(line, peer: "p"), at: 0)
        #expect(till("0620051234560303") == ["849C00"])
        #expect(till(Self.sale) == ["849C00"])
        #expect(terminal.handle(.settled(key, Self.approval), at: 0).contains(.takeBack(key, .notDelivered)))
        #expect(till("0620051234560303") == [Self.ok, "040F07276C2929001006"])
        #expect(till(Self.ok) == ["060F00"])
        _ = till(Self.ok)
        try pay()
        #expect(till("0620051234560303").last?.hasPrefix("040F") == true)
    }

    @Test mutating func `a sale is reversed once, by its receipt, by the till that made it`() throws {
        try pay()
        let key = try #require(terminal.desk.finished.last?.key)
        let command = "06300D1234568700420400000000" + "1250"
        let effects = terminal.handle(.bytes(ZVTText.hexadecimal(command) ?? [], line), at: 0)
        #expect(sent(effects) == [Self.ok] && effects.contains(.reverse(key)))
        let done = sent(terminal.handle(.reversed(key, .done), at: 0))
        #expect(done == ["040F192700040000000012500B0000432929001006" + "37000042" + "870043"])
        #expect(till(Self.ok) == ["060F00"])
        _ = till(Self.ok)
        #expect(till(command) == [Self.ok, "040F0727B42929001006"])
    }

    @Test(arguments: [TillInput.Answer.done, .refused])
    mutating func `a till that lost its line in a reversal learns of the reversal, not of the sale before it`(
        answer: TillInput.Answer
    ) throws {
        try pay()
        let key = try #require(terminal.desk.finished.last?.key)
        _ = till("063006123456870042")
        _ = terminal.handle(.lost(line, .closed), at: 0)
        _ = terminal.handle(.connected(line, peer: "p"), at: 0)
        #expect(till("0620051234560303") == ["849C00"], "it goes on")
        #expect(till("065003123456") == ["849C00"], "and belongs to this batch")
        _ = terminal.handle(.reversed(key, answer), at: 0)
        let told =
            answer == .done
            ? "040F192700040000000012500B0000432929001006" + "37000042" + "870043" : "040F0727B52929001006"
        #expect(till("0620051234560303") == [Self.ok, told])
        _ = (till(Self.ok), till(Self.ok))
        try pay()
        #expect(till("0620051234560303").last?.contains("870044") == true)
    }

    @Test mutating func `an old sale whose place was given away reverses nothing, and is a guess`() throws {
        try pay()
        let first = try #require(terminal.desk.finished.last?.key)
        now = 1_000_000
        for _ in 0..<100 {
            try pay()
            let key = try #require(terminal.desk.finished.last?.key)
            _ = terminal.handle(.confirmed(key), at: now)
            _ = terminal.handle(.confirmed(first), at: now)
        }
        #expect(terminal.desk.attempt(first) == nil)
        let effects = terminal.handle(.bytes(ZVTText.hexadecimal("063006123456870042") ?? [], line), at: now)
        #expect(sent(effects) == [Self.ok, "040F0727B52929001006"])
        #expect(!effects.contains { if case .reverse = $0 { true } else { false } })
    }

    @Test mutating func `wrong sums, strangers, old sales and guesses reverse nothing`() throws {
        try pay()
        let command = "063006123456870042"
        #expect(till("06300D12345687004204000000001251").last == "040F0727B72929001006")
        _ = (till(Self.ok), till(Self.ok))
        _ = terminal.handle(.lost(line, .closed), at: 0)
        _ = terminal.handle(.connected(line, peer: "stranger"), at: 0)
        for guess in 1...3 {
            let effects = terminal.handle(.bytes(ZVTText.hexadecimal(command) ?? [], line), at: 0)
            #expect(sent(effects).last == "040F0727B52929001006")
            #expect(effects.contains(.alarm(.reversalsBarred)) == (guess == 3))
            _ = (till(Self.ok), till(Self.ok))
        }
        _ = terminal.handle(.lost(line, .closed), at: 0)
        _ = terminal.handle(.connected(line, peer: "p"), at: 0)
        #expect(till(command).last == "040F0727B52929001006")
        _ = (till(Self.ok), till(Self.ok))
        now = 600_001
        var late = self
        #expect(till(command) == [Self.ok])
        #expect(terminal.desk.finished.last?.phase == .reversing)
        late.now = 900_001
        #expect(late.till(command).last == "040F0727B52929001006")
    }

    @Test mutating func `totals are those of the open batch, which the till's answer closes`() throws {
        try pay()
        let none = String(repeating: "0", count: 14)
        let single = "00420042\(none)\(none)\(none)\(none)01000000001250\(none)\(none)"
        let totals = "040F4227000400000000125060F0F5F3\(single)"
        #expect(till("061003123456") == [Self.ok, totals])
        #expect(till(Self.ok) == ["060F00"])
        _ = till(Self.ok)
        #expect(till("065003123456") == [Self.ok, totals])
        let effects = terminal.handle(.bytes([0x80, 0, 0], line), at: 0)
        #expect(effects.contains(.closeBatch(through: 42)))
        var next = sent(effects)
        while next.first?.hasPrefix("06D1") == true { next = till(Self.ok) }
        #expect(next == ["060F00"])
        _ = till(Self.ok)
        #expect(till("061003123456") == [Self.ok, "040F09270004" + "000000000000"])
    }

    @Test mutating func `no host's code reads as a success, and none above 99 is passed on`() {
        for reason in TillRefusal.Reason.allCases {
            for code: UInt8? in [nil, 0, 5, 51, 99, 100, 0xA0, 0xAF] {
                let result = ZVTAnswer.code(of: TillRefusal(reason, hostCode: code))
                #expect(result != 0 && result != 0xA0, "\(reason), \(String(describing: code))")
            }
        }
    }

    @Test mutating func `a new connection of the same till takes the place of an idle one, never of a sale`() {
        let second = TillConnection(2)
        #expect(terminal.handle(.connected(TillConnection(9), peer: "q"), at: 0) == [.close(TillConnection(9))])
        #expect(terminal.handle(.connected(second, peer: "p"), at: 0) == [.close(line)])
        _ = terminal.handle(.bytes(ZVTText.hexadecimal(Self.sale) ?? [], second), at: 0)
        #expect(terminal.handle(.connected(line, peer: "p"), at: 0) == [.close(line)])
    }

    @Test mutating func `a till that connects anew at once is let in where nothing but an end was left to be said`() {
        let second = TillConnection(2)
        #expect(till("060004123456BA").count == 2)
        #expect(terminal.handle(.connected(TillConnection(9), peer: "q"), at: 0) == [.close(TillConnection(9))])
        #expect(terminal.handle(.connected(second, peer: "p"), at: 0) == [.close(line)])
        #expect(sent(terminal.handle(.lost(line, .closed), at: 0)) == [])
        let answer = terminal.handle(.bytes(ZVTText.hexadecimal("060004123456BA") ?? [], second), at: 0)
        #expect(sent(answer) == [Self.ok, "060F0719002929001006"])
    }
}

/// The frames of a serial line.
struct ZVTSerialLinkTests {
    private let command = ZVTPacket(0x0602)

    @Test func `a frame that is not acknowledged is sent three times, and then given up`() {
        var link = ZVTSerialLink()
        let frame = ZVTFrame.bytes(of: command)
        #expect(link.send(command) == [.write(frame), .armFrame(1)])
        #expect(link.receive([0x15]) == [.write(frame), .armFrame(2)])
        #expect(link.frameTimePassed(1) == [])
        #expect(link.frameTimePassed(2) == [.write(frame), .armFrame(3)])
        #expect(link.frameTimePassed(3) == [.failed])
        #expect(link.receive([0x06]) == [])
    }

    @Test func `a second frame waits for the first one's acknowledgement`() {
        var link = ZVTSerialLink()
        _ = link.send(.positive)
        #expect(link.send(command) == [])
        #expect(link.receive([0x06]) == [.write(ZVTFrame.bytes(of: command)), .armFrame(2)])
    }

    @Test func `a frame that comes again because its acknowledgement was lost is acknowledged and not read again`() {
        var link = ZVTSerialLink()
        let frame = ZVTFrame.bytes(of: command)
        #expect(link.receive(frame) == [.write([0x06]), .packet(command)])
        #expect(link.receive(frame) == [.write([0x06])])
        _ = link.send(.positive)
        _ = link.receive([0x06])
        #expect(link.receive(frame) == [.write([0x06]), .packet(command)])
    }

    @Test func `an answer says that its frame arrived, though the acknowledgement was lost`() {
        var link = ZVTSerialLink()
        _ = link.send(command)
        #expect(link.receive(ZVTFrame.bytes(of: .positive)) == [.write([0x06]), .packet(.positive)])
        #expect(link.frameTimePassed(1) == [])
        #expect(link.receive(ZVTFrame.bytes(of: .positive)) == [.write([0x06])])
    }

    @Test func `a broken frame and one that breaks off are asked for again`() {
        var link = ZVTSerialLink()
        var frame = ZVTFrame.bytes(of: command)
        frame[3] ^= 1
        #expect(link.receive(frame) == [.write([0x15])])
        #expect(link.receive(Array(ZVTFrame.bytes(of: command).dropLast(3))) == [.armByte])
        #expect(link.byteTimePassed() == [.write([0x15])])
        #expect(link.byteTimePassed() == [])
        #expect(link.receive(ZVTFrame.bytes(of: command)) == [.write([0x06]), .packet(command)])
    }
}
