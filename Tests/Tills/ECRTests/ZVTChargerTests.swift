// SPDX-License-Identifier: Apache-2.0
import Codes
import Testing

@testable import ECR

/// What the ZVT client of EVerest (EVerest/zvt 05e973c, a charger's) sends and understands.
struct ZVTChargerTests {
    private var terminal: ZVTTerminal
    private let line = TillConnection(1)

    init() throws { terminal = try Self.terminal("17FD0001") }

    private static func terminal(_ device: String?) throws -> ZVTTerminal {
        var terminal = ZVTTerminal(
            desk: TillMachine(lane: "charger", installation: "1"),
            settings: .init(
                currency: try #require(CurrencyCode("EUR")), terminal: 52_500_001, password: [0x12, 0x34, 0x56],
                reservations: true, device: device), line: .tcp)
        _ = terminal.handle(.connected(TillConnection(1), peer: "p"), at: 0)
        return terminal
    }

    private mutating func till(_ hex: String) -> [String] {
        sent(terminal.handle(.bytes(ZVTText.hexadecimal(hex) ?? [], line), at: 0))
    }

    private func sent(_ effects: [TillEffect]) -> [String] {
        effects.compactMap { effect in
            guard case .send(let bytes, _, _) = effect else { return nil }
            return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
    }

    private static let ok = "800000"
    /// 25.00 with a session token in 06 / E9, its order as in a recorded exchange.
    private static let reservation = "06221e1940490978040000000025000610e90e1f620241431f6306544f4b303031"

    private mutating func settle(_ outcome: TillOutcome) throws -> [String] {
        sent(terminal.handle(.settled(try #require(terminal.desk.open?.key), outcome), at: 0))
    }

    @Test mutating func `0F A1 tells device, software and terminal id in letters, of 37 characters`() throws {
        let answers = till("0fa1020001")
        #expect(answers.first == Self.ok)
        let letters = (ZVTText.hexadecimal(answers.last ?? "") ?? []).dropFirst(3)
        #expect(String(decoding: letters, as: UTF8.self) == "17FD0001nfc-tap 0.1.0    52500001n/a ")
        terminal = try Self.terminal(nil)
        #expect(till("0fa1020001") == ["848300"], "no charger's terminal")
    }

    @Test mutating func `The status has the version in front`() {
        #expect(till("050103123456") == [Self.ok, "060f11f0f1f36e66632d74617020302e312e3000"])
    }

    @Test mutating func `Terminal id, diagnosis without a password, and initialisation are answered`() {
        for command in ["061b081234562952500001", "06700506031b0104", "069303123456"] {
            #expect(till(command) == [Self.ok, "060f00"], "\(command)")
            #expect(till(Self.ok) == [])
        }
        #expect(till("061b081234562952500002") == ["846b00"], "another terminal's id")
    }

    @Test mutating func `A reservation is told with fields that the client knows, the receipt last`() throws {
        #expect(till(Self.reservation) == [Self.ok])
        let told = try settle(.approved(TillApproval(amount: 2_500, aid: "A0000000031010", reference: "1")))
        #expect(told == ["040f182700040000000025000b0000012952500001490978870001"])
        #expect(till(Self.ok) == ["060f00"])
        _ = till(Self.ok)
        #expect(till("06230387ffff") == [Self.ok, "061e04b8870001"])
        _ = till(Self.ok)
        #expect(till("0623218700010400000000129519404909780610e90e1f620241431f6306544f4b303031") == [Self.ok])
        let key = try #require(terminal.desk.finished.last?.key)
        let booked = sent(terminal.handle(.booked(key, .done), at: 0))
        // No currency without a registration that names one. 37 is no field of that client, and would end its reading before the receipt.
        #expect(booked == ["040f152700040000000012050b0000022952500001870002"])
    }

    @Test(
        "A decline has the code that the client gives the right meaning to, never a PIN's for missing money",
        arguments: [
            (TillRefusal(.declined, hostCode: 51), "71"), (TillRefusal(.declined, hostCode: 65), "ec"),
            (TillRefusal(.declined, hostCode: 70), "ec"), (TillRefusal(.declined, hostCode: 61), "c3"),
            (TillRefusal(.declined, hostCode: 54), "78"), (TillRefusal(.declined, hostCode: 43), "c5"),
            (TillRefusal(.declined, hostCode: 19), "05"), (TillRefusal(.declined), "05"),
            (TillRefusal(.deadline), "6c"),
        ])
    mutating func declines(refusal: TillRefusal, code: String) throws {
        #expect(till(Self.reservation) == [Self.ok])
        #expect(try settle(.notPaid(refusal)) == ["040f0727\(code)2952500001"])
        #expect(till(Self.ok) == ["061e01\(code)"])
    }
}
