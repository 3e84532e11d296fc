// SPDX-License-Identifier: Apache-2.0
import Codes
import Testing

@testable import ECR

/// Sums that a till holds by ZVT and books later.
struct ReservationTests {
    private var terminal: ZVTTerminal
    private let line = TillConnection(1)

    init() throws { terminal = try Self.terminal(true) }

    private static func terminal(_ reservations: Bool, attempts: [Attempt] = []) throws -> ZVTTerminal {
        var terminal = ZVTTerminal(
            desk: TillMachine(lane: "main", installation: "1", counter: 230, attempts: attempts),
            settings: .init(
                currency: try #require(CurrencyCode("EUR")), terminal: 29_001_006, reservations: reservations),
            line: .tcp)
        _ = terminal.handle(.connected(TillConnection(1), peer: "p"), at: 0)
        return terminal
    }

    private mutating func effects(_ hex: String) -> [TillEffect] {
        terminal.handle(.bytes(ZVTText.hexadecimal(hex) ?? [], line), at: 0)
    }

    @discardableResult
    private mutating func till(_ hex: String) -> [String] { sent(effects(hex)) }

    private func sent(_ effects: [TillEffect]) -> [String] {
        effects.compactMap { if case .send(let bytes, _, _) = $0 { Self.hex(bytes) } else { nil } }
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16, uppercase: true) + String($0 & 15, radix: 16, uppercase: true) }.joined()
    }

    private func bookings(_ effects: [TillEffect]) -> [Booking] {
        effects.compactMap { if case .book(let booking, _) = $0 { booking } else { nil } }
    }

    private static let ok = "800000"
    private static let none = "061E04B887FFFF"

    /// 25.00 with receipt 231, the sum and number of a recorded exchange with a real terminal.
    private mutating func reserve() throws -> AttemptKey {
        #expect(till("06220C040000000025001940490978") == [Self.ok])
        let open = try #require(terminal.desk.open)
        #expect(open.order.kind == .reservation && open.order.amount == 2_500)
        let approval = TillApproval(amount: 2_500, network: .mastercard, reference: "1")
        _ = terminal.handle(.settled(open.key, .approved(approval)), at: 0)
        #expect(till(Self.ok) == ["060F00"])
        till(Self.ok)
        return open.key
    }

    private mutating func answer(_ key: AttemptKey, _ answer: TillInput.Answer) -> [String] {
        sent(terminal.handle(.booked(key, answer), at: 0))
    }

    /// Result 00, the booked sum, trace and receipt of the booking, and the trace of the reservation.
    private static func booked(_ amount: String, number: String = "0232") -> String {
        "040F192700" + "040000" + amount + "0B00" + number + "2929001006" + "37000231" + "87" + number
    }

    @Test(arguments: [
        // The sum of a partial reversal is what goes back.
        ("06230F8702310400000000129519404909 78", 1_205, "00001205"),
        ("0624038702 31", 2_500, "00002500"), ("06240A870231040000000012 95", 1_295, "00001295"),
        ("0624 07 870231 0B000231", 2_500, "00002500"),
        ("06250819 40 490978 870231", 0, "00000000"),
    ])
    mutating func `a reservation is booked in part, in whole or not at all, and its till is told what the shop gets`(
        command: String, amount: Int64, told: String
    ) throws {
        let key = try reserve()
        #expect(till("06230387FFFF") == [Self.ok, "061E04B8870231"])
        till(Self.ok)
        let command = command.filter { $0 != " " }
        let effects = effects(command)
        #expect(sent(effects) == [Self.ok])
        let booking = try #require(bookings(effects).first)
        #expect(booking.amount == amount && booking.number == 232)
        let record = effects.firstIndex { $0.isRecord }
        let book = effects.firstIndex(of: .book(booking, of: key))
        #expect(try #require(record) < #require(book), "on disk before it is asked for")
        #expect(answer(key, .done) == [Self.booked(told)])
        #expect(till(Self.ok) == ["060F00"])
        till(Self.ok)
        #expect(till("06230387FFFF") == [Self.ok, Self.none])
    }

    @Test mutating func `an answer that is lost is had again by the same command, and by asking for the last payment`()
        throws
    {
        let key = try reserve()
        let command = "06240A87023104000000001295"
        _ = effects(command)
        _ = answer(key, .done)
        // The till hangs up and comes again.
        _ = terminal.handle(.lost(line, .reset), at: 0)
        _ = terminal.handle(.connected(line, peer: "p"), at: 0)
        let again = effects(command)
        #expect(sent(again) == [Self.ok, Self.booked("00001295")] && bookings(again).isEmpty)
        _ = (till(Self.ok), till(Self.ok))
        #expect(till("062005123456" + "0303") == [Self.ok, Self.booked("00001295")])
        _ = (till(Self.ok), till(Self.ok))
        #expect(till("06240387" + "0231") == [Self.ok, "040F0727B42929001006"], "another sum than was booked")
    }

    @Test mutating func `a booking that the service refuses leaves the reservation as it was`() throws {
        let key = try reserve()
        _ = effects("0624038702" + "31")
        #expect(answer(key, .refused) == ["040F0727B52929001006"])
        _ = (till(Self.ok), till(Self.ok))
        let again = effects("0625038702" + "31")
        #expect(bookings(again).map(\.number) == [233] && bookings(again).map(\.amount) == [0])
        #expect(answer(key, .done) == [Self.booked("00000000", number: "0233")])
    }

    @Test
    mutating func
        `a booking without an answer is told as such, and goes on: the till hears its end when it asks again`()
        throws
    {
        let key = try reserve()
        let command = "0624038702" + "31"
        _ = effects(command)
        #expect(sent(terminal.handle(.timer(.patience(key)), at: 0)) == ["061E01A1"])
        till(Self.ok)
        #expect(till(command) == ["849C00"], "still going on")
        #expect(answer(key, .done) == [])
        #expect(till(command) == [Self.ok, Self.booked("00002500")])
    }

    @Test mutating func `after a restart a booking is asked for again, under its own key`() throws {
        let key = try reserve()
        let booking = try #require(bookings(effects("0624038702" + "31")).first)
        terminal = try Self.terminal(true, attempts: terminal.desk.finished)
        let effects = terminal.handle(.restored, at: 0)
        #expect(bookings(effects) == [booking])
        #expect(answer(key, .done) == [])
        #expect(till("0624038702" + "31") == [Self.ok, Self.booked("00002500")])
    }

    @Test mutating func `more than is held, another trace, another currency and a receipt that is none are refused`()
        throws
    {
        _ = try reserve()
        #expect(till("06240A87023104000000002501") == [Self.ok, "040F0727B72929001006"])
        _ = (till(Self.ok), till(Self.ok))
        #expect(till("06230A87023104000000002501") == [Self.ok, "040F0727B72929001006"])
        _ = (till(Self.ok), till(Self.ok))
        #expect(till("0624078702310B000232") == [Self.ok, "040F0727B52929001006"])
        _ = (till(Self.ok), till(Self.ok))
        #expect(till("062406870231490840") == ["846F00"])
        #expect(till("062303870231") == ["848300"], "no sum")
        #expect(till("0630061234568702" + "31") == [Self.ok, "040F0727B52929001006"], "no sale")
        _ = (till(Self.ok), till(Self.ok))
        #expect(till("06240387" + "0007") == [Self.ok, "040F0727B52929001006"])
        _ = (till(Self.ok), till(Self.ok))
        #expect(till("06240387" + "0231") == [Self.ok, "040F0727B52929001006"], "barred after three guesses")
        #expect(terminal.desk.finished.allSatisfy { $0.booking == nil })
    }

    @Test mutating func `a reservation counts in the totals once it is booked, in the batch of that day`() throws {
        let key = try reserve()
        #expect(till("061003123456") == [Self.ok, "040F09270004" + "000000000000"])
        _ = (till(Self.ok), till(Self.ok))
        _ = (till("065003123456"), till(Self.ok), till(Self.ok))
        _ = effects("06240A87023104000000001295")
        _ = (answer(key, .done), till(Self.ok), till(Self.ok))
        let totals = try #require(till("061003123456").last)
        #expect(totals.hasPrefix("040F4227000400000000129560F0F5F302320232"))
    }

    @Test mutating func `a till without reservations is told that it has none of these commands`() throws {
        terminal = try Self.terminal(false)
        for command in ["062209040000000025004909 78", "0624038702 31", "06230A87023104000000001295", "0625038702 31"] {
            #expect(till(command.filter { $0 != " " }.replacing("062209", with: "06220A")) == ["848300"])
        }
        #expect(till("06230387FFFF") == [Self.ok, Self.none])
    }

    @Test func `a desk that forgets old payments keeps every reservation that is not booked`() throws {
        var desk = TillMachine(lane: "main", installation: "1")
        let euro = try #require(CurrencyCode("EUR"))
        var effects: [TillEffect] = []
        let held = TillOrder(kind: .reservation, amount: 100, currency: euro)
        guard case .started(let key) = desk.ask(held, peer: "p", confirmWithin: 60, &effects) else { return }
        _ = desk.settle(key, .approved(TillApproval(amount: 100, reference: "1")), at: 0, &effects)
        #expect(desk.beginTelling(key, at: 0, confirmWithin: 60, &effects))
        desk.told(key, at: 0, &effects)
        let sale = TillOrder(kind: .sale, amount: 100, currency: euro)
        for _ in 0...TillMachine.kept { desk.refuse(sale, peer: "p", TillRefusal(.failed), &effects) }
        #expect(desk.finished.count == TillMachine.kept + 1 && desk.held.map(\.key) == [key])
    }
}
