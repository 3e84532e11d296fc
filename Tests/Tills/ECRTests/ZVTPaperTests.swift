// SPDX-License-Identifier: Apache-2.0
import Codes
import Testing

@testable import ECR

/// What a till prints, and what it may leave out of a command.
struct ZVTPaperTests {
    private var terminal: ZVTTerminal
    private let line = TillConnection(1)

    init() throws {
        terminal = ZVTTerminal(
            desk: TillMachine(lane: "main", installation: "1", counter: 41),
            settings: .init(
                currency: try #require(CurrencyCode("EUR")), terminal: 52_500_001, password: [0x12, 0x34, 0x56],
                reservations: true, words: ZVTWords(width: 32)),
            line: .tcp)
        _ = terminal.handle(.connected(line, peer: "p"), at: 0)
    }

    private mutating func till(_ hex: String) -> [[UInt8]] {
        sent(terminal.handle(.bytes(ZVTText.hexadecimal(hex) ?? [], line), at: 0))
    }

    private func sent(_ effects: [TillEffect]) -> [[UInt8]] {
        effects.compactMap { if case .send(let bytes, _, _) = $0 { bytes } else { nil } }
    }

    /// Answers whatever comes until the completion.
    ///
    /// - Returns: the lines that were printed.
    private mutating func printed(_ first: [[UInt8]]) -> [String] {
        var lines: [String] = []
        var next = first.filter { $0 != [0x80, 0, 0] }
        while let packet = next.first, packet.count > 1 {
            if packet.starts(with: [0x06, 0xD1]), packet[3] != 0x81 {
                lines.append(String(decoding: packet.dropFirst(4), as: UTF8.self))
            }
            next = till("800000")
        }
        return lines
    }

    private mutating func settle(_ lines: [String]) throws -> [[UInt8]] {
        let approval = TillApproval(
            amount: 2_500, network: .visa, reference: "1", receipts: [TillReceipt(copy: .customer, lines: lines)])
        return sent(terminal.handle(.settled(try #require(terminal.desk.open?.key), .approved(approval)), at: 0))
    }

    private static let sale = "06010A04000000002500490978"
    private static let head = "Receipt no. 0042    TID 52500001"

    @Test(
        "T1: diagnosis, initialisation and a receipt again need no password, and a wrong one is refused all the same",
        arguments: [
            ("067000", "060F00"), ("067900", "060F00"), ("069300", "060F00"), ("062000", "060F00"),
            ("061200", "060F00"),
            // The diagnosis of EVerest/zvt: a container and no password.
            ("06700506031B0104", "060F00"), ("067003123456", "060F00"), ("0670081234560603" + "1B0104", "060F00"),
        ])
    mutating func withoutPassword(command: String, end: String) throws {
        if command.hasPrefix("0620") || command.hasPrefix("0612") {
            _ = till(Self.sale)
            _ = printed(try settle([]))
        }
        var answers = till(command)
        #expect(answers.first == [0x80, 0, 0], "\(command)")
        while answers.last?.starts(with: [0x06, 0xD1]) == true { answers = till("800000") }
        #expect(answers.last == ZVTText.hexadecimal(end), "\(command)")
    }

    @Test(
        "T1: where money moves, or a password is wrong, the command is refused",
        arguments: ["067003999999", "062003999999", "065000", "063003870042", "061000"])
    mutating func withPassword(command: String) { #expect(till(command).first?.first == 0x84) }

    @Test("T2: a sale's paper has the number that a reversal wants, and the till's terminal id")
    mutating func saleOnPaper() throws {
        _ = till(Self.sale)
        #expect(printed(try settle(["TOTAL"])) == [Self.head, "TOTAL"])
        #expect(printed(till("0620051234560303")) == [], "bit 02: nothing to be printed")
        #expect(printed(till("062003123456")) == [Self.head, "TOTAL"])
    }

    @Test("T2: a reversal is printed as it is now, and printed again")
    mutating func reversalOnPaper() throws {
        _ = till(Self.sale)
        _ = printed(try settle(["APPROVED"]))
        let key = try #require(terminal.desk.finished.last?.key)
        #expect(till("063006123456870042") == [[0x80, 0, 0]])
        _ = terminal.handle(.receipts(key, [TillReceipt(copy: .customer, lines: ["REVERSED"])]), at: 0)
        let paper = ["Receipt no. 0043    TID 52500001", "REVERSED"]
        #expect(printed(sent(terminal.handle(.reversed(key, .done), at: 0))) == paper)
        #expect(printed(till("062003123456")) == paper)
    }

    @Test(
        "T2: a booking is printed, and nothing of before where its receipts were not to be had",
        arguments: [true, false])
    mutating func bookingOnPaper(isKnown: Bool) throws {
        _ = till("06220A04000000002500490978")
        _ = printed(try settle(["HELD"]))
        let key = try #require(terminal.desk.finished.last?.key)
        #expect(till("06240A87004204000000001250") == [[0x80, 0, 0]])
        if isKnown {
            _ = terminal.handle(.receipts(key, [TillReceipt(copy: .merchant, lines: ["TOTAL 12.50"])]), at: 0)
        }
        let paper = isKnown ? ["Receipt no. 0043    TID 52500001", "TOTAL 12.50"] : []
        #expect(printed(sent(terminal.handle(.booked(key, .done), at: 0))) == paper)
        #expect(printed(till("062003123456")) == paper)
    }

    @Test("T2: the end of a day is printed with its sums; a day without a payment is not")
    mutating func dayOnPaper() throws {
        _ = till(Self.sale)
        _ = printed(try settle([]))
        #expect(
            printed(till("065003123456")) == [
                "End of day          TID 52500001", "Receipt no. 0042 - 0042", String(repeating: "-", count: 32),
                "1 x Visa               25.00 EUR", "TOTAL                  25.00 EUR",
            ])
        #expect(printed(till("065003123456")) == [])
    }

    @Test("P5: what CP437 lacks is written by the table, and a line ends where it ended")
    func letters() {
        #expect(String(decoding: ZVTText.line("’–„“…œŽŁ\u{202F}Ω€"), as: UTF8.self) == "'-\"\"...oeZL OEUR")
        let line = ZVTText.line("Łódź œ …" + String(repeating: " ", count: 10) + "5 €")
        #expect(line.count == 21 && line.suffix(5) == [0x20, 0x35, 0x20, 0x45, 0x55, 0x52].suffix(5))
        #expect(!ZVTText.codePage437("Zażółć gęślą jaźń Καφές Жук").contains(0x3F))
    }
}
