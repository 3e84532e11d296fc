// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ISO8583
import PSPAPI
import PaymentValues
import PostgreSQL
import Synchronization
import TestSupport
import Testing

@testable import Switch

/// What the host says between two steps of the switch. A host of another hand found each of these: `make check-switch`.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct HostOrderTests {
    private static let payment = "01990000-0000-7000-8000-000000000001"
    private static let id = ExchangeID(payment)

    /// An approved payment at a replica that is signed on.
    private func withApproval(
        _ keys: FailingKeys, isWanted: Bool,
        _ body: (PrivatePostgreSQL, SwitchStore, Acquirer, SentMessages, ISOMessage) async throws -> Void
    ) async throws {
        let server = try PrivatePostgreSQL()
        let store = SwitchStore(database: try Database(server.address, connections: 1))
        try await store.migrate()
        var message = ISOMessage(try #require(MessageType(200)))
        for (field, text) in [(3, "000000"), (4, "000000001000"), (7, "1124123456"), (11, "000001"), (49, "978")] {
            message.set(field, text)
        }
        let packager = try Packager(.bcd1987)
        let exchange = Exchange(id: Self.id, order: 1, original: message, stage: .answered(.approved))
        let content = try #require(StoredExchange.content(exchange, packager, isFinal: false))
        let sealed = try await FailingKeys { nil }.seal(content, for: Self.payment)
        let (measures, book) = (SwitchMeasures(), LogBook())
        let seat = try #require(try await store.takeSeat())
        try server.sql(
            """
            insert into payment (id, merchant, body, kind, amount, currency, state, answer, authorised, captured)
                values ('\(Self.payment)', 'm', decode(repeat('00', 32), 'hex'), 'sale', 1000, 'EUR',
                    '\(isWanted ? "reversing" : "approved")', '{}', 1000, 1000);
            insert into exchange (id, payment, kind, owner, stage, detail, type, trace, transmitted, sealed, wanted)
                values ('\(Self.payment)', '\(Self.payment)', 'payment', \(seat.owner), 'answered', '00', '0200', '000001', '1124123456',
                    '\\x\(Hex.string(sealed))', \(isWanted ? "'customerCancel'" : "null"))
            """)
        let acquirer = Acquirer(
            packager: packager, rules: LinkRules(), store: store, keys: WatchedKeys(keys, measures, book.logger),
            seat: seat, start: try #require(HostTime(.now)), logger: book.logger, measures: measures)
        let sent = SentMessages(packager)
        await acquirer.setOpenLine { if let bytes = $0 { sent.take(bytes) } }
        await acquirer.put(.connected)
        var answer = try #require(sent.all.first)
        answer.type = try #require(answer.type.answer)
        answer.set(39, "00")
        await acquirer.put(.received(answer))
        #expect(await acquirer.isSignedOn)
        try await body(server, store, acquirer, sent, message)
    }

    /// A reversal is being written down while the host signs off (0800, field 70 002, ISO 8583:1987): it leaves after the next sign-on.
    @Test("S22: what was being written when the host signed off is not sent over the line that is signed off")
    func signedOffMeanwhile() async throws {
        // The first use opens the row; then the keys are away until the host has signed off.
        let token = AwayToken()
        let keys = try FailingKeys { token.use() ? .unavailable : nil }
        try await withApproval(keys, isWanted: true) { server, store, acquirer, sent, _ in
            for row in try await store.database.run(Call("select *, 0::bigint as age from exchange")) {
                await acquirer.take(row)
            }
            try await eventually("the record that waits") { token.uses > 1 }
            var signOff = ISOMessage(try #require(MessageType(800)))
            for (field, text) in [(7, "1124123500"), (11, "000777"), (70, "002")] { signOff.set(field, text) }
            await acquirer.put(.received(signOff))
            #expect(await !acquirer.isSignedOn)
            token.comeBack()
            await acquirer.finishWriting(Self.id)
            #expect(try server.sql("select stage from exchange") == "reversing\n")
            #expect(sent.all.map(\.type.description) == ["0800", "0810"])
            #expect(await acquirer.link.openExchanges.map(\.id) == [Self.id])
        }
    }

    /// A payment that is sent after the new key was tried and before the host has heard that it is accepted. Seed 7 over TLS, messages with codes.
    @Test("S26: what is sent before the answer that accepts a new key is coded by the key before it")
    func keyAfterItsAnswer() async throws {
        let packager = try Packager(
            file: Array(#"{"name": "x", "base": "1987-bcd", "mac": {"algorithm": "cmac", "exchange": 48}}"#.utf8))
        let (measures, book) = (SwitchMeasures(), LogBook())
        let codes = LineCodes(packager, TellingCodes(), book.logger, measures)
        codes.begin()
        let (came, line) = AsyncStream.makeStream(of: ISOMessage.self)
        let send: @Sendable (ISOMessage) -> Void = { message in
            codes.send(message) { bytes in if let message = try? packager.parse(bytes) { line.yield(message) } }
        }
        func message(_ type: UInt16, _ fields: [(Int, String)]) throws -> ISOMessage {
            var message = ISOMessage(try #require(MessageType(type)))
            for (field, text) in fields { message.set(field, text) }
            return message
        }
        let payment = try message(200, [(3, "000000"), (4, "000000001000"), (11, "000001")])
        for key in [UInt8(0xA1), 0xB2] {
            // The wrapping of a key, and how a code by it begins.
            let text = String(repeating: Hex.string([key]), count: 27)
            let change = try message(800, [(11, "000009"), (48, text), (70, "101")])
            await withCheckedContinuation { continuation in
                codes.take(change) { input in
                    #expect(input == .keyTaken(change, true))
                    continuation.resume()
                }
            }
            send(payment)
            send(try message(810, [(11, "000009"), (39, "00"), (70, "101")]))
            codes.use(change, lastFor: 20_000)
            send(payment)
        }
        var made: [String] = []
        for await message in came {
            made.append(message.type.kind == 8 ? "answer" : Hex.string(message[64] ?? []))
            if made.count == 6 { break }
        }
        let (none, first, second) = ("0000000000000000", "A1A1A1A1A1A1A1A1", "B2B2B2B2B2B2B2B2")
        #expect(made == [none, "answer", first, first, "answer", second])
        // The host may use a key as soon as it has handed it over, and the one before it for a while.
        var keys = LineKeys()
        keys.hold([1], of: payment)
        keys.use(payment, lastUntil: 10)
        keys.hold([2], of: payment)
        #expect(keys.wrapped == [1] && keys.accepted(at: 9) == [[1], [2]])
        keys.use(payment, lastUntil: 10)
        #expect(keys.wrapped == [2] && keys.accepted(at: 9) == [[2], [1]] && keys.accepted(at: 10) == [[2]])
        // One that nobody has tried changes nothing.
        keys.use(payment, lastUntil: 99)
        #expect(keys.wrapped == [2])
    }

    /// Books that were restored to before a reversal: docs/service/payment-service.md, After a restore, step 5. The host has taken it back already.
    /// It says so, or that it no longer knows the payment, which a person settles by its list.
    @Test(
        "S30: a payment that its host has taken back and the books call approved is taken back as its till did it",
        arguments: ["00", "25"])
    func reversalThatWasLost(code: String) async throws {
        try await withApproval(try FailingKeys { nil }, isWanted: false) { server, store, acquirer, sent, _ in
            let answer = try await store.reverse(
                Self.payment, ReversalRequest(reason: .customerCancel, amount: nil), merchant: "m")
            guard case .queued = answer else {
                Issue.record("\(answer)")
                return
            }
            for row in try await store.takeWork(await acquirer.seat.owner, known: nil) { await acquirer.take(row) }
            let reversal = try await eventually("the reversal") { sent.all.last { $0.type.description == "0420" } }
            var told = reversal
            told.type = try #require(reversal.type.answer)
            told.set(39, code)
            await acquirer.put(.received(told))
            let end = code == "00" ? "reversed|f\n" : "reversing|t\n"
            try await eventually("its end") {
                try server.sql("select state, given_up from payment p join exchange x on x.id = p.id") == end
            }
            #expect(try await store.openItems().map { $0.text("id") } == (code == "00" ? [] : [Self.payment]))
            #expect(try server.sql("select coalesce(sum(amount), 0) from entry where account = 'shop'") == "0\n")
        }
    }

    @Test("S21: what the host contradicts after its end stands among the open items until a person has settled it")
    func openItem() async throws {
        try await withApproval(try FailingKeys { nil }, isWanted: false) { server, store, acquirer, _, message in
            let exchange = Exchange(id: Self.id, order: 1, original: message, stage: .answered(.approved))
            await acquirer.put(.adopt(exchange, rest: 0))
            var answer = message
            answer.type = try #require(message.type.answer)
            answer.set(39, "51")
            await acquirer.put(.received(answer))
            try await eventually("the open item") { try server.sql("select given_up from exchange") == "t\n" }
            #expect(try await store.outlook()?.number("given_up") == 1)
            #expect(try await store.openItems().map { $0.text("id") } == [Self.payment])
            // The till was told: that stands.
            #expect(try server.sql("select state from payment") == "approved\n")
            #expect(try await Array(store.takeWork(99, known: nil)).isEmpty)
            // Taken back after all: its end is an end.
            try server.sql("update exchange set wanted = 'malfunction', owner = null")
            #expect(try await Array(store.takeWork(99, known: nil)).count == 1)
            var row = ExchangeRow(exchange: exchange, sealed: nil, owner: 99)
            row.isSealedAlready = true
            _ = try await store.keep(row, [], now: .now)
            #expect(try server.sql("select given_up from exchange") == "t\n", "one more record of the same stage")
            let repetition = Repetition(message: message, attempts: 1)
            let reversal = Exchange(id: Self.id, order: 1, original: message, stage: .reversing(repetition))
            _ = try await store.keep(ExchangeRow(exchange: reversal, sealed: [1], owner: 99), [], now: .now)
            #expect(try server.sql("select given_up from exchange") == "f\n")
        }
    }
}

/// What went over the line.
final class SentMessages: Sendable {
    private let kept = Mutex<[ISOMessage]>([])
    private let packager: Packager

    init(_ packager: Packager) { self.packager = packager }

    func take(_ bytes: [UInt8]) {
        var reader = FrameReader(packager.frame)
        reader.append(bytes)
        while case .message(let message, _)? = try? reader.next() {
            if let parsed = try? packager.parse(message) { kept.withLock { $0.append(parsed) } }
        }
    }

    var all: [ISOMessage] { kept.withLock { $0 } }
}

/// Codes that tell by which key they were made: its first eight bytes.
struct TellingCodes: MessageAuthenticator {
    func code(of message: [UInt8], wrapped: [UInt8]?) async throws(OpeningRefusal) -> [UInt8] {
        [UInt8]((wrapped ?? [0, 0, 0, 0, 0, 0, 0, 0]).prefix(8))
    }
}

/// Works once, and then not until it has come back.
private final class AwayToken: Sendable {
    private let state = Mutex((uses: 0, isAway: true))

    /// - Returns: whether it is away.
    func use() -> Bool {
        state.withLock {
            $0.uses += 1
            return $0.uses > 1 && $0.isAway
        }
    }

    var uses: Int { state.withLock { $0.uses } }
    func comeBack() { state.withLock { $0.isAway = false } }
}

extension Acquirer {
    fileprivate func finishWriting(_ id: ExchangeID) async {
        while let last = writing[id]?.last { await last.value }
    }

    func setOpenLine(_ line: @escaping @Sendable ([UInt8]?) -> Void) { self.line = line }
}
