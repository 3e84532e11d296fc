// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Envelope
import HSM
import ISO8583
import Logging
import PaymentValues
import PostgreSQL
import Synchronization
import TestSupport
import Testing

@testable import Switch
@testable import nfc_tap_switch

/// Keys that fail as they are told to, in each call.
struct FailingKeys: EnvelopeOpener {
    private let keys: TokenOpener
    let fault: @Sendable () async -> OpeningRefusal?

    init(_ fault: @escaping @Sendable () async -> OpeningRefusal?) throws {
        keys = TokenOpener(token: try SoftwareKeys(recipients: [SecretBytes(Array(SwitchRig.key.utf8))]))
        self.fault = fault
    }

    private func fail() async throws(OpeningRefusal) { if let fault = await fault() { throw fault } }

    func recipients() async throws(OpeningRefusal) -> RecipientKeySet {
        try await fail()
        return try await keys.recipients()
    }

    func open(_ envelope: String) async throws(OpeningRefusal) -> SecretBytes {
        try await fail()
        return try await keys.open(envelope)
    }

    func open(
        _ envelope: String, merchant: String, number: @escaping @Sendable (SecretBytes) -> SecretBytes?
    ) async throws(OpeningRefusal) -> (record: SecretBytes, token: String?) {
        try await fail()
        return try await keys.open(envelope, merchant: merchant, number: number)
    }

    func cardToken(merchant: String, number: SecretBytes) async throws(OpeningRefusal) -> String {
        try await fail()
        return try await keys.cardToken(merchant: merchant, number: number)
    }

    func seal(_ content: SecretBytes, for name: String) async throws(OpeningRefusal) -> [UInt8] {
        try await fail()
        return try await keys.seal(content, for: name)
    }

    func unseal(_ sealed: [UInt8], for name: String) async throws(OpeningRefusal) -> SecretBytes {
        try await fail()
        return try await keys.unseal(sealed, for: name)
    }
}

/// What was logged, by level and text.
final class LogBook: LogHandler, Sendable {
    private let kept = Mutex<[(Logger.Level, String)]>([])

    var logLevel: Logger.Level {
        get { .trace }
        set {}
    }
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    subscript(metadataKey _: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) {
        let metadata = event.metadata.map { "\($0)" } ?? ""
        kept.withLock { $0.append((event.level, "\(event.message) \(metadata)")) }
    }

    func lines(_ level: Logger.Level) -> [String] { kept.withLock { $0.filter { $0.0 == level }.map(\.1) } }

    var logger: Logger { Logger(label: "test") { _ in self } }
}

/// Faults of the token leave a trace, and are taken for nothing else.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct KeyFaultTests {
    private static let payment = "01990000-0000-7000-8000-000000000001"

    /// An approved payment that somebody wants back, sealed by the keys.
    private func withReversal(
        _ keys: FailingKeys, _ body: (SwitchStore, Acquirer, SwitchMeasures, LogBook) async throws -> Void
    ) async throws {
        let server = try PrivatePostgreSQL()
        let store = SwitchStore(database: try Database(server.address, connections: 1))
        try await store.migrate()
        var message = ISOMessage(try #require(MessageType(200)))
        for (field, text) in [(3, "000000"), (4, "000000001000"), (7, "1124123456"), (11, "000001"), (49, "978")] {
            message.set(field, text)
        }
        let packager = try Packager(.bcd1987)
        let exchange = Exchange(
            id: ExchangeID(Self.payment), order: 1, original: message, stage: .answered(.approved))
        let content = try #require(StoredExchange.content(exchange, packager, isFinal: false))
        let sealed = try await TokenOpener(
            token: try SoftwareKeys(recipients: [SecretBytes(Array(SwitchRig.key.utf8))])
        ).seal(content, for: Self.payment)
        try server.sql(
            """
            insert into payment (id, merchant, body, kind, amount, currency, state, answer, authorised, captured)
                values ('\(Self.payment)', 'm', decode(repeat('00', 32), 'hex'), 'sale', 1000, 'EUR', 'reversing', '{}', 1000, 1000);
            insert into exchange (id, payment, kind, stage, detail, type, trace, transmitted, sealed, wanted)
                values ('\(Self.payment)', '\(Self.payment)', 'payment', 'answered', '00', '0200', '000001', '1124123456',
                    '\\x\(Hex.string(sealed))', 'customerCancel')
            """)
        let (measures, book) = (SwitchMeasures(), LogBook())
        let seat = try #require(try await store.takeSeat())
        let acquirer = Acquirer(
            packager: packager, rules: LinkRules(), store: store, keys: WatchedKeys(keys, measures, book.logger),
            seat: seat, start: try #require(HostTime(.now)), logger: book.logger, measures: measures)
        try await body(store, acquirer, measures, book)
    }

    @Test("S16: keys that cannot be used now are counted and told; the reversal waits, and no person is called")
    func unavailable() async throws {
        let fault = SharedFault(.unavailable)
        try await withReversal(try FailingKeys { fault.now }) { store, acquirer, measures, book in
            for row in try await store.takeWork(await acquirer.seat.owner, known: nil) { await acquirer.take(row) }
            #expect(measures.counted(.keysUnavailable) == 1)
            #expect(measures.counted(.unreadable) == 0)
            #expect(book.lines(.critical).isEmpty, "\(book.lines(.critical))")
            #expect(book.lines(.error).contains { $0.contains("the keys cannot be used now") })
            #expect(book.lines(.error).contains { $0.contains("waits for the keys") && $0.contains(Self.payment) })
            // The token is back, and the next round finds the same row.
            fault.now = nil
            for row in try await store.database.run(Call("select *, 0::bigint as age from exchange")) {
                await acquirer.take(row)
            }
            let exchange = await acquirer.link.exchange(ExchangeID(Self.payment))
            #expect(exchange?.repetition?.message.type == MessageType(420))
            #expect(book.lines(.critical).isEmpty, "\(book.lines(.critical))")
        }
    }

    @Test("S16: what is sealed with a key that is gone, and what cannot be read, are two faults for a person")
    func goneAndUnreadable() async throws {
        for (refusal, counted, words) in [
            (OpeningRefusal.unknownKey, SwitchMeasures.Fault.unknownKey, "a key that is not here"),
            (.unreadable, .unreadable, "cannot be read"),
        ] {
            try await withReversal(try FailingKeys { refusal }) { store, acquirer, measures, book in
                for row in try await store.takeWork(await acquirer.seat.owner, known: nil) { await acquirer.take(row) }
                #expect(measures.counted(counted) == 1)
                #expect(measures.counted(.keysUnavailable) == 0)
                #expect(book.lines(.critical).contains { $0.contains(words) }, "\(book.lines(.critical))")
            }
        }
    }

    @Test("S16: every use of the keys is watched: a fault of each is counted, and told once in ten seconds")
    func everyUse() async throws {
        let (measures, book) = (SwitchMeasures(), LogBook())
        let keys = WatchedKeys(try FailingKeys { .unavailable }, measures, book.logger)
        let bytes = SecretBytes([1])
        await #expect(throws: OpeningRefusal.unavailable) { try await keys.recipients() }
        await #expect(throws: OpeningRefusal.unavailable) { try await keys.open("") }
        await #expect(throws: OpeningRefusal.unavailable) { _ = try await keys.open("", merchant: "m") { _ in nil } }
        await #expect(throws: OpeningRefusal.unavailable) { try await keys.cardToken(merchant: "m", number: bytes) }
        await #expect(throws: OpeningRefusal.unavailable) { try await keys.seal(bytes, for: "a") }
        await #expect(throws: OpeningRefusal.unavailable) { try await keys.unseal([1], for: "a") }
        #expect(measures.counted(.keysUnavailable) == 6)
        #expect(book.lines(.error).count == 1)
        let full = WatchedKeys(try FailingKeys { .busy }, measures, book.logger)
        await #expect(throws: OpeningRefusal.busy) { try await full.open("") }
        #expect(measures.counted(.keysBusy) == 1 && measures.counted(.keysUnavailable) == 6)
        #expect(book.lines(.error).contains { $0.contains("--sessions") })
    }

    @Test("S16: a line that comes again and again is told with how many were left out")
    func pace() {
        let pace = LogPace()
        #expect(pace.take("a", at: 0) == 0)
        for moment in 1...5 { #expect(pace.take("a", at: UInt64(moment)) == nil) }
        #expect(pace.take("b", at: 5) == 0)
        #expect(pace.take("a", at: 10_000_000_000) == 5)
        #expect(pace.take("a", at: 20_000_000_000) == 0)
    }
}

/// What the keys fail with at the moment.
final class SharedFault: Sendable {
    private let state: Mutex<OpeningRefusal?>

    init(_ fault: OpeningRefusal?) { state = Mutex(fault) }

    var now: OpeningRefusal? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
