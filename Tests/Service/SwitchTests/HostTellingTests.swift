// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ISO8583
import LocalHTTP
import Logging
import PSPAPI
import PaymentValues
import PostgreSQL
import Synchronization
import TestSupport
import Testing

@testable import Switch

/// What the log, the metrics and the books learn of a host's ways.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct HostTellingTests {
    /// A replica that is signed on, with books of its own and a line that tells what went over it.
    private struct Bench {
        let server: PrivatePostgreSQL
        let store: SwitchStore
        let acquirer: Acquirer
        let sent: SentMessages
        let measures = SwitchMeasures()
        let book = LogBook()
        /// The transactions that it was told of before a till was.
        let heard = Heard()

        init(_ packager: Packager, _ rules: LinkRules) async throws {
            server = try PrivatePostgreSQL()
            store = SwitchStore(database: try Database(server.address, connections: 1))
            try await store.migrate()
            let (heard, sent) = (heard, SentMessages(packager))
            self.sent = sent
            acquirer = Acquirer(
                packager: packager, rules: rules, store: store,
                keys: WatchedKeys(try FailingKeys { nil }, measures, book.logger),
                seat: try #require(try await store.takeSeat()), start: try #require(HostTime(.now)),
                logger: book.logger, measures: measures, heard: { heard.add($0) })
            await acquirer.setOpenLine { if let bytes = $0 { sent.take(bytes) } }
            await acquirer.put(.connected)
            await acquirer.put(.received(try answer(to: try #require(sent.all.first), "00")))
        }

        func answer(to asked: ISOMessage, _ code: String) throws -> ISOMessage {
            var answer = asked
            answer.type = try #require(asked.type.answer)
            answer.set(39, code)
            return answer
        }

        /// A sale of 10.00 EUR that the host approves, with this change of its answer.
        func pay(_ change: (inout ISOMessage) -> Void = { _ in }) async throws -> (id: String, told: String) {
            let card = try #require(MaskedCard(scheme: "Visa", last4: "0010", masked: "************0010"))
            let request = AuthorizationRequest(
                id: TransactionID(), mode: .test, type: .sale,
                amount: Money(value: 1_000, currency: try #require(Currency("EUR"))), entryMode: .contactlessEMV,
                cvm: .noCVM, emv: "", card: card, envelope: "",
                terminal: .init(id: "00000001", merchant: "m", capabilities: []))
            let intent = PaymentIntent(
                request: request, body: [UInt8](repeating: 0, count: 32), token: "ct_x", record: request.id.text)
            var message = ISOMessage(try #require(MessageType(200)))
            for (field, text) in [(3, "000000"), (4, "000000001000"), (41, "TERM0001"), (49, "978")] {
                message.set(field, text)
            }
            let (acquirer, before) = (acquirer, sent.all.count)
            let asking = Task { [message] in await acquirer.submit(.payment(intent), message) }
            let asked = try await eventually("the payment") {
                sent.all.dropFirst(before).first { $0.type.description == "0200" }
            }
            var answer = try answer(to: asked, "00")
            change(&answer)
            await acquirer.put(.received(answer))
            guard case .answer(let told) = await asking.value else { throw Missing() }
            return (request.id.text, told)
        }

        /// The reversal that its till wants.
        func takeBack(_ id: String) async throws -> ISOMessage {
            let reversal = try await store.reverse(id, ReversalRequest(reason: .customerCancel), merchant: "m")
            guard case .queued = reversal else { throw Missing() }
            for row in try await store.takeWork(await acquirer.seat.owner, known: nil) { await acquirer.take(row) }
            return try await eventually("the reversal") { sent.all.last { $0.type.description == "0420" } }
        }

        func networkRequest(_ code: String, _ more: [(Int, String)] = []) throws -> ISOMessage {
            var message = ISOMessage(try #require(MessageType(800)))
            for (field, text) in [(7, "1122000001"), (11, "000001"), (70, code)] + more { message.set(field, text) }
            return message
        }
    }

    private final class Heard: Sendable {
        private let state = Mutex<[Int64]>([])

        func add(_ number: Int64) { state.withLock { $0.append(number) } }
        var all: [Int64] { state.withLock { $0 } }
    }

    private struct Missing: Error {}

    private func bench(_ more: String = "", _ rules: LinkRules = LinkRules()) async throws -> Bench {
        try await Bench(try Packager(file: Array(#"{"name": "x", "base": "1987-bcd"\#(more)}"#.utf8)), rules)
    }

    /// As iso8583sim 1.6.0 writes field 55.
    @Test("S1: field 55 that does not reach the card is counted, and told without its content")
    func issuerData() async throws {
        let bench = try await bench()
        let text = "910A1626250242A730A03030"
        #expect(try await bench.pay { $0[55] = Array(text.utf8) }.told.contains("approved"))
        #expect(bench.measures.counted(.issuerData) == 1)
        let lines = bench.book.lines(.error)
        #expect(lines.contains { $0.contains("field 55") && $0.contains("hexadecimal") }, "\(lines)")
        #expect(!lines.contains { $0.contains(text) })
    }

    @Test("S4: a host that does not know what it has approved calls a person")
    func contradiction() async throws {
        let bench = try await bench()
        let id = try await bench.pay().id
        let reversal = try await bench.takeBack(id)
        // Whoever takes it up from the books knows that the host has approved it.
        let row = try #require(try await bench.store.database.run(Call("select * from exchange")).first)
        let content = try await FailingKeys { nil }.unseal(try #require(row.bytes("sealed")), for: id)
        let packager = try Packager(.bcd1987)
        #expect(StoredExchange.exchange(row, content, packager)?.isApprovedByHost == true)
        await bench.acquirer.put(.received(try bench.answer(to: reversal, "25")))
        try await eventually("the open item") { try bench.server.sql("select given_up from exchange") == "t\n" }
        #expect(bench.book.lines(.critical).contains { $0.contains("reversalContradictsApproval") })
        #expect(bench.measures.counted(.contradiction) == 1)
    }

    @Test("S7: a host that answers echoes alone is not reached")
    func silentHost() async throws {
        let well = try await bench()
        #expect(await well.acquirer.isReached)
        var rules = LinkRules()
        // As if three payments had been left without an answer.
        rules.mostUnanswered = 0
        let silent = try await bench("", rules)
        #expect(await silent.acquirer.isSignedOn)
        #expect(await !silent.acquirer.isReached)
    }

    @Test("S12: a host's own reference names the payment in the books, and in its reversal from there")
    func hostReference() async throws {
        let bench = try await bench(#", "answers": {"match": [32, 41], "reference": "host"}"#)
        let (id, told) = try await bench.pay { $0.set(37, "HOST00000001") }
        #expect(told.contains("HOST00000001-"))
        #expect(try bench.server.sql("select reference from exchange") == "HOST00000001\n")
        #expect(try await bench.takeBack(id).text(37) == "HOST00000001")
    }

    @Test("S13: a cut-over of the host stands in the books of the open day")
    func cutOver() async throws {
        let bench = try await bench()
        await bench.acquirer.put(.received(try bench.networkRequest("201", [(15, "1129")])))
        try await eventually("the cut-over") {
            try bench.server.sql("select settlement from day where cut_over is not null") == "1129\n"
        }
    }

    @Test("S18: how far the books are is known before a till is told")
    func heard() async throws {
        let bench = try await bench()
        let before = Int64(try bench.server.sql("select pg_current_xact_id()").dropLast()) ?? .max
        _ = try await bench.pay()
        #expect(bench.heard.all.count == 1 && bench.heard.all.allSatisfy { $0 > before })
    }

    /// ISO 8583:1987, field 64.
    @Test("S20: what comes counts by its code alone, by the key of its line; a key with another check value is none")
    func authentic() async throws {
        let packager = try Packager(
            file: Array(#"{"name": "x", "base": "1987-bcd", "mac": {"algorithm": "cmac", "exchange": 48}}"#.utf8))
        let (measures, book) = (SwitchMeasures(), LogBook())
        let codes = LineCodes(packager, TellingCodes(), book.logger, measures)
        codes.begin()
        var change = ISOMessage(try #require(MessageType(800)))
        for (field, text) in [(11, "000009"), (70, "101")] { change.set(field, text) }
        for check in ["B2", "A1"] {
            // The wrapping of a key, and how a code by it begins.
            change.set(48, String(repeating: "A1", count: 24) + String(repeating: check, count: 3))
            let taken = await withCheckedContinuation { continuation in
                codes.take(change) { continuation.resume(returning: $0) }
            }
            #expect(taken == .keyTaken(change, check == "A1"))
        }
        codes.use(change, lastFor: 20_000)
        var answer = ISOMessage(try #require(MessageType(210)))
        for (field, text) in [(4, "000000001000"), (11, "000001"), (39, "00")] { answer.set(field, text) }
        for code in [0xA1, 0xB2, nil] as [UInt8?] {
            let made = code.map { [UInt8](repeating: $0, count: 8) }
            let bytes = try made.map { try packager.build(answer, code: $0) } ?? packager.build(answer)
            let came = try packager.parse(bytes)
            let input = await withCheckedContinuation { continuation in
                codes.receive(bytes, came) { continuation.resume(returning: $0) }
            }
            #expect(input == (code == 0xA1 ? .received(came) : .unauthenticated(came)))
        }
        // Without keys for them nothing begins.
        let settings = SwitchSettings(socket: "/nowhere", database: "host=/nowhere", packager: packager)
        await #expect(throws: SwitchStartError.noMessageKey) {
            _ = try await SwitchServer(settings, keys: try FailingKeys { nil }, logger: book.logger)
        }
    }
}
