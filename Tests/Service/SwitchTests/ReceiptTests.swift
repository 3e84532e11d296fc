// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Envelope
import Foundation
import ISO8583
import Linux
import LocalHTTP
import Logging
import PSPAPI
import PaymentValues
import PostgreSQL
import Synchronization
import TestSupport
import Testing

@testable import Switch

/// docs/openapi-psp.yaml, POST /v1/receipts: a receipt goes to an address once for each key, and to nobody but its customer.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct ReceiptTests {
    private static let mine = "01990000-0000-7000-8000-000000000001"
    private static let second = "01990000-0000-7000-8000-000000000002"
    private static let open = "01990000-0000-7000-8000-000000000003"

    /// The operator's program, whose answers a test decides.
    private final class Mailer: Sendable {
        private let state = Mutex((status: 202, seen: [(key: String, body: String)]()))

        var seen: [(key: String, body: String)] { state.withLock { $0.seen } }
        func answer(by status: Int) { state.withLock { $0.status = status } }

        func take(_ request: HTTPRequest) -> HTTPResponse {
            let status = state.withLock { state in
                state.seen.append(
                    (request.fields.only("Idempotency-Key") ?? "", String(decoding: request.body, as: UTF8.self)))
                return state.status
            }
            return .json(status, Array("{}".utf8))
        }
    }

    private struct Door {
        let service: SwitchService
        let routes: SwitchRoutes

        init(_ server: PrivatePostgreSQL, _ store: SwitchStore, outlet: ReceiptOutlet?, _ book: LogBook) throws {
            let measures = SwitchMeasures()
            let lease = Lease()
            lease.renewed(at: MachineClock.awake)
            service = SwitchService(
                store: store, roster: TillRoster(store: store, rate: 1_000),
                keys: WatchedKeys(try FailingKeys { nil }, measures, book.logger), lease: lease,
                memory: try StoreMemory(path: nil),
                messages: HostMessages(packager: try Packager(.bcd1987), acquirer: ""),
                acquirer: nil, logger: book.logger, measures: measures, mode: .test, now: { .now }, outlet: outlet)
            routes = SwitchRoutes(service: service, tillField: nil)
        }

        /// - Parameters:
        ///   - txn: the transaction in the envelope, where it is another one.
        ///   - merchant: of the till that asks.
        func send(
            _ id: String, key: String, txn: String? = nil, merchant: String? = "shop-1",
            email: String = "ada@example.com",
            life: Int64 = 300, mode: Mode = .test
        ) async throws -> Int {
            let address = ReceiptAddress(
                txn: txn ?? id, exp: Timestamp.now.milliseconds / 1_000 + life, email: email)
            let envelope = try JWE.seal(SecretBytes(WireJSON.encode(address)), to: .sandboxTest)
            let delivery = ReceiptDelivery(
                id: try #require(TransactionID(id)), mode: mode, envelope: envelope, language: "de")
            return try await service.sendReceipt(delivery, key: key, merchant: merchant).status
        }
    }

    private func withDoor(_ body: (Door, Mailer, PrivatePostgreSQL, LogBook, () -> Void) async throws -> Void)
        async throws
    {
        let database = try PrivatePostgreSQL()
        let store = SwitchStore(database: try Database(database.address, connections: 1))
        try await store.migrate()
        for (id, state) in [(Self.mine, "approved"), (Self.second, "approved"), (Self.open, "running")] {
            try database.sql(
                """
                insert into payment (id, merchant, body, kind, amount, currency, scheme, last4, state, answer, approval, authorised, captured, decided)
                    values ('\(id)', 'shop-1', decode(repeat('00', 32), 'hex'), 'sale', 1250, 'EUR', 'Visa', '0010', '\(state)',
                        \(state == "running" ? "null" : "'{}'"), 'A1B2C3', 1250, 1250, now())
                """)
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "mail-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (mailer, book, path) = (Mailer(), LogBook(), folder.appending(path: "s").path())
        let server = HTTPServer(socket: try ListeningSocket(path: path), logger: book.logger) { mailer.take($0) }
        async let end: Void = server.run()
        var failure: (any Error)?
        do {
            try await body(
                Door(database, store, outlet: ReceiptOutlet(path: path, answerWithin: .seconds(120)), book), mailer,
                database, book
            ) {
                server.shutDown(grace: .zero)
            }
        } catch { failure = error }
        server.shutDown(grace: .zero)
        try await end
        if let failure { throw failure }
    }

    @Test("S28: a receipt is handed on once for each key, however often its answer is lost")
    func once() async throws {
        try await withDoor { door, mailer, database, book, leave in
            #expect(door.service.supports.contains(.receipt))
            #expect(try await door.send(Self.mine, key: "wish-1") == 200)
            let first = try #require(mailer.seen.first)
            #expect(first.key == "wish-1")
            for part in [
                #""email":"ada@example.com""#, #""amount":{"#, "1250", #""state":"approved""#, #""last4":"0010""#,
                #""approvalCode":"A1B2C3""#, #""language":"de""#, Self.mine,
            ] {
                #expect(first.body.contains(part), "\(first.body)")
            }
            #expect(ReceiptOrder.time("2026-11-28 19:05:44.1+00") == "2026-11-28T19:05:44.1+00:00")
            #expect(ReceiptOrder.time("2026-11-28 19:05:44+05:30") == "2026-11-28T19:05:44+05:30")
            // The till's daemon has not heard the answer, or another replica is asked.
            #expect(try await door.send(Self.mine, key: "wish-1") == 200)
            #expect(mailer.seen.count == 1)
            #expect(try await door.send(Self.second, key: "wish-1") == 422)
            #expect(try await door.send(Self.mine, key: "wish-2") == 200)
            #expect(mailer.seen.map { $0.key } == ["wish-1", "wish-2"])
            // Nobody knows whether it was taken: the program is asked again under the same key.
            mailer.answer(by: 500)
            #expect(try await door.send(Self.second, key: "wish-3") == 503)
            mailer.answer(by: 202)
            #expect(try await door.send(Self.second, key: "wish-3") == 200)
            #expect(mailer.seen.map { $0.key }.suffix(2) == ["wish-3", "wish-3"])
            mailer.answer(by: 400)
            #expect(try await door.send(Self.second, key: "wish-4") == 403)
            leave()
            try await eventually("a program that is gone") { try await door.send(Self.second, key: "wish-5") == 503 }
            // The address is in no table and no line.
            let written =
                try database.sql("select * from receipt") + book.lines(.error).joined() + book.lines(.warning).joined()
            #expect(written.contains("wish-1") && !written.contains("example"))
        }
    }

    @Test(
        "S28: an address of another transaction, an old one and one with a line break in it go nowhere, nor does what another till has sold"
    )
    func refused() async throws {
        try await withDoor { (door, mailer, _, _, _) async throws in
            #expect(try await door.send(Self.mine, key: "a", txn: Self.second) == 400)
            #expect(try await door.send(Self.mine, key: "b", life: -1) == 400)
            #expect(try await door.send(Self.mine, key: "c", email: "ada@example.com\r\nBcc: eve@example.com") == 400)
            #expect(try await door.send(Self.mine, key: "d", merchant: "shop-2") == 404)
            #expect(try await door.send("01990000-0000-7000-8000-000000000009", key: "e") == 404)
            #expect(try await door.send(Self.open, key: "f") == 403)
            #expect(try await door.send(Self.mine, key: "g", mode: .live) == 403)
            #expect(mailer.seen.isEmpty)
        }
    }
}
