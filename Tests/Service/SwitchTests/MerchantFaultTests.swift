// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Envelope
import Foundation
import HSM
import ISO8583
import Logging
import NIOCore
import NIOPosix
import PSPAPI
import PaymentValues
import PostgreSQL
import Synchronization
import TestSupport
import Testing

@testable import Switch
@testable import nfc_tap_switch
@testable import rig_tills

/// Merchants who do what is not theirs, cards that say the same twice, and a host that does not read.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct MerchantFaultTests {
    private static let first = "01990000-0000-7000-8000-000000000001"
    private static let second = "01990000-0000-7000-8000-000000000002"

    private func withStore(_ body: (SwitchStore, PrivatePostgreSQL) async throws -> Void) async throws {
        let server = try PrivatePostgreSQL()
        let store = SwitchStore(database: try Database(server.address, connections: 1))
        try await store.migrate()
        try await body(store, server)
    }

    private func intent(
        _ id: String, _ cryptogram: UInt8? = nil, token: String = "ct_x"
    ) throws -> PaymentIntent {
        let card = try #require(MaskedCard(scheme: "Visa", last4: "0010", masked: "************0010"))
        let request = AuthorizationRequest(
            id: try #require(TransactionID(id)), mode: .test, type: .sale,
            amount: Money(value: 1_000, currency: try #require(Currency("EUR"))), entryMode: .contactlessEMV,
            cvm: .noCVM,
            emv: "", card: card, envelope: "",
            terminal: .init(id: "00000001", merchant: "m", capabilities: []))
        return PaymentIntent(
            request: request, body: [UInt8](repeating: 0, count: 32), token: token, record: id,
            cryptogram: cryptogram.map { [UInt8](repeating: $0, count: 32) })
    }

    private func row(_ id: String) throws -> ExchangeRow {
        var message = ISOMessage(try #require(MessageType(200)))
        message.set(7, "1124123456")
        message.set(11, "00000\(id.suffix(1))")
        return ExchangeRow(
            exchange: Exchange(
                id: ExchangeID(id), order: 1, original: message, stage: .awaiting(until: 0, cancelled: nil)),
            sealed: [1], owner: 7)
    }

    private struct Missing: Error {}

    // MARK: - S17

    /// EMV Book 2, 8.1: a card's counter goes on with each transaction, so that no cryptogram comes twice.
    @Test("S17: a card's cryptogram pays once, whatever envelope it comes in")
    func cryptogramOnce() async throws {
        try await withStore { store, server in
            guard case .begun = try await store.begin(try intent(Self.first, 1), try row(Self.first)) else {
                throw Missing()
            }
            let again = try await store.begin(try intent(Self.second, 1), try row(Self.second))
            guard case .replayed = again else { throw Missing() }
            #expect(try server.sql("select count(*) from payment") == "1\n")
            // Another card may say the same by chance, and this one something else.
            let third = "01990000-0000-7000-8000-000000000003"
            let fourth = "01990000-0000-7000-8000-000000000004"
            let other = try intent(third, 1, token: "ct_y")
            guard case .begun = try await store.begin(other, try row(third)),
                case .begun = try await store.begin(try intent(fourth, 2), try row(fourth))
            else { throw Missing() }
            // The same request again is the same payment.
            guard case .begun = try await store.begin(try intent(Self.first, 1), try row(Self.first)) else {
                throw Missing()
            }
            // No till sends anything later than thirty-one days.
            try server.sql("update payment set created = now() - interval '36 days', state = 'declined', answer = '{}'")
            _ = try await store.erase(cardDays: 395, days: 3_650)
            #expect(try server.sql("select count(*) from payment where cryptogram is not null") == "0\n")
            guard case .begun = try await store.begin(try intent(Self.second, 1), try row(Self.second)) else {
                throw Missing()
            }
        }
    }

    @Test("S17: days that the acquirer took without comparing them have an alert")
    func unsaidAlert() throws {
        let alerts = try String(contentsOf: Checkout.file("docs/examples/switch-alerts.yml"), encoding: .utf8)
        #expect(alerts.contains("nfc_tap_switch_unsaid_days) > 0"))
    }

    // MARK: - S19

    @Test("S19: another merchant's payment can be neither probed nor taken back, and its id cannot be used up before")
    func foreignIDs() async throws {
        try await withStore { store, server in
            let reversal = ReversalRequest(reason: .customerCancel)
            guard case .begun = try await store.begin(try intent(Self.first, 1), try row(Self.first)) else {
                throw Missing()
            }
            guard case .foreign = try await store.reverse(Self.first, reversal, merchant: "other") else {
                throw Missing()
            }
            #expect(try server.sql("select coalesce(reason, '') || state from payment") == "running\n")
            // Before it comes.
            guard case .done = try await store.reverse(Self.second, reversal, merchant: "other") else {
                throw Missing()
            }
            var begun: Begun?
            let (wanted, exchange) = (try intent(Self.second, 2), try row(Self.second))
            for _ in 0..<2 where begun == nil {
                do throws(DatabaseError) { begun = try await store.begin(wanted, exchange) } catch {
                    #expect(error == .again(state: ""))
                }
            }
            guard case .begun = begun else { throw Missing() }
            // Also where it is refused before anybody is asked.
            let fifth = "01990000-0000-7000-8000-000000000005"
            guard case .done = try await store.reverse(fifth, reversal, merchant: "other") else { throw Missing() }
            #expect(try await store.refuse(try intent(fifth), "{}") == nil)
            // Its own merchant's word counts.
            let third = "01990000-0000-7000-8000-000000000003"
            guard case .done = try await store.reverse(third, reversal, merchant: "m") else { throw Missing() }
            guard case .known(let known) = try await store.begin(try intent(third, 3), try row(third)) else {
                throw Missing()
            }
            #expect(known.state == "void")
        }
    }

    @Test("S19: a reversal of nothing is kept for thirty-five days, not for ten years")
    func voids() async throws {
        try await withStore { store, server in
            try server.sql(
                """
                insert into payment (id, merchant, state, created) values
                    ('\(Self.first)', 'm', 'void', now() - interval '34 days'), ('\(Self.second)', 'm', 'void', now() - interval '36 days')
                """)
            _ = try await store.erase(cardDays: 395, days: 3_650)
            #expect(try server.sql("select id from payment") == Self.first + "\n")
        }
    }

    @Test("S19: magnetic-stripe mode with a cryptogram goes out with field 55")
    func stripeWithCryptogram() async throws {
        var request = try await TestTill("/nowhere").sale(900)
        request.entryMode = .contactlessMagstripe
        let keys = TokenOpener(token: try SoftwareKeys(recipients: [SecretBytes(Array(SwitchRig.key.utf8))]))
        let record = try OpenedRecord(try await keys.open(request.envelope))
        let acceptor = Acceptor(merchant: "m", acceptor: "M", location: "", category: "", terminal: "T")
        let message = try HostMessages(packager: try Packager(.bcd1987), acquirer: "").payment(
            request, record, acceptor, now: .now)
        #expect(message[55] != nil)
        #expect(message.text(22) == "912")
        #expect(record.cryptogram?.count == 32)
    }

    /// A line that takes nothing: what waits there is bounded, and what is not begun is declined.
    @Test("S19: for a host that does not read nothing is kept, and no payment is begun")
    func fullLine() async throws {
        let (measures, book) = (SwitchMeasures(), LogBook())
        let acquirer = try Acquirer.withoutBooks(measures, book)
        let counter = Counter()
        await acquirer.setLine { _ in counter.add() }
        for _ in 0..<100 { await acquirer.put(.connected) }
        #expect(counter.count == 0)
        #expect(measures.counted(.lineFull) == 100)
        #expect(book.lines(.error).count == 1)
        let message = ISOMessage(try #require(MessageType(200)))
        guard case .notSent(let decision) = await acquirer.submit(.payment(try intent(Self.first)), message) else {
            throw Missing()
        }
        #expect(decision.code == "91")
    }

    @Test("S19: answers to nothing that was asked are counted each, and told once in ten seconds")
    func strayAnswers() async throws {
        let (measures, book) = (SwitchMeasures(), LogBook())
        let acquirer = try Acquirer.withoutBooks(measures, book)
        var message = ISOMessage(try #require(MessageType(210)))
        for (field, text) in [(7, "1124123456"), (11, "000001"), (39, "00")] { message.set(field, text) }
        for number in 0..<2_000 {
            message.set(11, HostMessages.padded(Int64(number), 6))
            await acquirer.put(.received(message))
        }
        #expect(measures.counted(.stray) == 2_000)
        #expect(book.lines(.warning).count <= 2)
    }

    /// tcp(7): what the other side does not read fills its window, and then this side.
    @Test("S19: a line to a host that does not read takes no more than it may keep")
    func waterMark() async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelOption(.autoRead, value: false).bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        let channel = try await Acquirer.connect(try #require(AcquirerAddress("127.0.0.1:\(port)")), lineSeconds: 60)
        var written = 0
        while channel.channel.isWritable, written < 64 << 20 {
            channel.channel.writeAndFlush(ByteBuffer(repeating: 0, count: 4_096), promise: nil)
            written += 4_096
            if written.isMultiple(of: 1 << 20) { try await Task.sleep(for: .milliseconds(5)) }
        }
        #expect(!channel.channel.isWritable)
        #expect(try await channel.channel.getOption(.writeBufferWaterMark).get().high == Acquirer.waterMark.high)
        channel.channel.close(promise: nil)
        try await channel.executeThenClose { _, _ in }
        try await server.close()
    }

    // MARK: - S17

    @Test("S17: a sum of refunds that nobody has told is not nothing")
    func untoldSum() async throws {
        #expect(throws: DatabaseError.unknown) { try SwitchStore.refunded(nil) }
        let server = try PrivatePostgreSQL()
        let database = try Database(server.address, connections: 1)
        let empty = try await database.run(Call("select null::bigint as amount")).first
        #expect(throws: DatabaseError.self) { try SwitchStore.refunded(empty) }
        let told = try await database.run(Call("select 700::bigint as amount")).first
        #expect(try SwitchStore.refunded(told) == 700)
    }

    // MARK: - S3

    @Test("S3: one certificate takes its share of the places, and all of them leave some for the proxy's own questions")
    func places() {
        let places = TillPlaces(most: 2, mostOfAll: 3)
        #expect(places.enter("a") && places.enter("a") && !places.enter("a"))
        #expect(places.enter("b") && !places.enter("c"))
        places.leave("a")
        #expect(places.enter("c") && !places.enter("a"))
        for till in ["a", "b", "c", "c", "nobody"] { places.leave(till) }
        #expect(places.enter("a") && places.enter("a") && places.enter("b") && !places.enter("b"))
        #expect(TillPlaces().enter("a"))
    }
}

extension Acquirer {
    /// Of books that nobody asks.
    static func withoutBooks(_ measures: SwitchMeasures, _ book: LogBook) throws -> Acquirer {
        Acquirer(
            packager: try Packager(.bcd1987), rules: LinkRules(),
            store: SwitchStore(database: try Database("host=/nowhere", connections: 1)),
            keys: WatchedKeys(try FailingKeys { nil }, measures, book.logger),
            seat: Seat(number: 0, owner: 1, trace: 1), start: try #require(HostTime(.now)), logger: book.logger,
            measures: measures)
    }

    fileprivate func setLine(_ line: @escaping @Sendable ([UInt8]?) -> Void) {
        self.line = line
        lineTakes = { false }
    }
}
