// SPDX-License-Identifier: Apache-2.0
import CardSim
import Configuration
import POSAPI
import PaymentValues
import ReaderCore
import ReaderVirtual
import Testing
import Transactions

@testable import TapDaemon

@Suite("When a lane needs to be prepared")
struct LanePreparationTests {
    private let second: UInt64 = 1_000_000_000

    private func expect(
        _ watch: inout PowerWatch, _ expected: Bool, _ reading: PowerWatch.Reading, _ why: Comment? = nil
    ) {
        let hasSlept = watch.hasSlept(reading)
        #expect(hasSlept == expected, why)
    }

    /// One lane that no daemon looks after.
    private func desk(in folder: TestFolder) throws -> LaneRegistry {
        let control = try VirtualReaderControl { CardCatalogue.card(named: $0) }
        let settings = CurrentSettings(try DaemonConfiguration(in: folder))
        return LaneRegistry(
            [try Lane(name: "lane-0", source: .virtual(control))], settings.snapshot,
            EventOutlet(events: EventHub(firstID: 1), settings: settings), Shop.quiet)
    }

    private func now(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: seconds * 1_000) }

    @Test("Requirement 12: a suspension is seen in the clock that counts it and the one that does not")
    func suspension() {
        var watch = PowerWatch()
        expect(&watch, false, .init(awake: 5 * second, all: 65 * second), "the first reading says nothing")
        expect(&watch, false, .init(awake: 6 * second, all: 66 * second))
        expect(&watch, false, .init(awake: 900 * second, all: 960 * second), "time passing is none")
        expect(&watch, true, .init(awake: 901 * second, all: 4_561 * second))
        expect(&watch, false, .init(awake: 902 * second, all: 4_562 * second), "each is told once")
    }

    @Test("A moment between two readings is no suspension, nor are clocks that make no sense")
    func noSuspension() {
        var watch = PowerWatch()
        expect(&watch, false, .init(awake: 10 * second, all: 10 * second))
        expect(&watch, false, .init(awake: 11 * second, all: 11 * second + PowerWatch.threshold - 1))
        expect(&watch, false, .init(awake: 12 * second, all: 0))
        expect(&watch, false, .init(awake: .max, all: .max))
    }

    @Test("The machine's own clocks move on together")
    func clocks() {
        let reading = PowerWatch.Reading.now()
        #expect(reading.awake > 0 && reading.all >= reading.awake)
    }

    @Test("Requirement 12: what ends is renewed an hour before, again each minute, and a tap waits only after the end")
    func expiry() throws {
        var desk = try desk(in: try TestFolder())
        func due(_ seconds: Int64) -> [PrepareReason] { desk.lanesToPrepare(at: now(seconds)).map(\.reason) }
        #expect(due(1) == [.start])
        var wanted = desk.joinPreparation(of: "lane-0")
        let preparation = try #require(wanted).0
        desk.endPreparation(preparation, of: "lane-0", nil, until: 100_000)
        #expect(due(96_399).isEmpty)
        #expect(due(96_400) == [.expiry])
        #expect(due(96_459).isEmpty, "not more than once a minute")
        #expect(due(96_460) == [.expiry])
        let began = desk.beginPreparation(of: "lane-0", .expiry)
        let renewal = try #require(began)
        #expect(desk.table.statuses.first?.state == .ready, "it stays ready while it is renewed")
        wanted = desk.joinPreparation(of: "lane-0")
        #expect(wanted == nil)
        desk.endPreparation(renewal, of: "lane-0", .pspUnreachable, until: nil)
        #expect(desk.table.statuses.first?.state == .ready, "what was prepared is still good")
        #expect(due(100_000) == [.expiry])
        wanted = desk.joinPreparation(of: "lane-0")
        #expect(wanted != nil)
    }

    @Test("What is tried again and fails again is not told again and again")
    func quiet() {
        let retry = LanePreparation(.retry, isQuiet: true)
        #expect(retry.isQuiet)
        retry.join()
        #expect(!retry.isQuiet, "somebody waits for it now")
    }

    @Test("A preparation knows its percentage once a step is done, and keeps what it failed of")
    func progress() {
        let preparation = LanePreparation(.start, isQuiet: false)
        #expect(preparation.percent == nil && preparation.step == .reader)
        preparation.begin(.terminal)
        #expect(preparation.percent == 75)
        let id = TransactionID()
        let event = preparation.progress("till-1", for: id)
        #expect(event.name == .prepareProgress && event.lane == "till-1" && event.transaction == id)
        #expect(event.percent == 75 && event.step == .terminal && event.reason == .start)
        preparation.end(.readerFaulty)
        #expect(preparation.finished.hasFired && preparation.failure == .readerFaulty)
    }

    @Test("Row 56 of the guidance: without a profile the status names the terminal's networks, each once")
    func networksOfTheTerminal() async throws {
        try await Shop.open(in: TestFolder()) { shop in
            let status = try WireJSON.decode(Status.self, from: try await shop.get("/v1/status").body)
            let networks = try #require(status.networks)
            #expect(networks.contains("Visa") && networks.contains("Mastercard"))
            #expect(Set(networks).count == networks.count)
        }
    }
}
