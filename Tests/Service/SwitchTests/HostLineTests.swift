// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ISO8583
import NIOCore
import NIOPosix
import PSPAPI
import PaymentValues
import PostgreSQL
import TestSupport
import Testing

@testable import Switch

/// The line to the acquirer, and what it says of its day.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct HostLineTests {
    @Test("S13: a sign-on that is refused again and again is tried once a minute in the end")
    func backOff() {
        var pause = ReconnectPause()
        var refused: [Duration] = []
        for _ in 0..<10 { refused.append(pause.next(isThere: true, wasSignedOn: false)) }
        #expect(refused.prefix(4) == [.milliseconds(500), .seconds(1), .seconds(2), .seconds(4)])
        #expect(refused.last == .seconds(60))
        // In ten seconds five, where it were twenty.
        var sum = Duration.zero
        #expect(
            refused.prefix {
                sum += $0; return sum <= .seconds(10)
            }.count == 4)
        #expect(pause.next(isThere: true, wasSignedOn: true) == .milliseconds(500))
        var away: [Duration] = []
        for _ in 0..<10 { away.append(pause.next(isThere: false, wasSignedOn: false)) }
        #expect(away.max() == .seconds(8))
    }

    /// tcp(7): TCP_USER_TIMEOUT, in milliseconds.
    @Test("S8: the line to the acquirer has a time in which what was sent must be acknowledged")
    func userTimeout() async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).bind(
            host: "127.0.0.1", port: 0
        ).get()
        let port = try #require(server.localAddress?.port)
        let address = try #require(AcquirerAddress("127.0.0.1:\(port)"))
        let channel = try await Acquirer.connect(address, lineSeconds: 7)
        let value = try await channel.channel.getOption(.tcpOption(Acquirer.userTimeout)).get()
        #expect(value == 7_000)
        try await channel.executeThenClose { _, _ in }
        try await server.close()
    }

    @Test("S13: field 15 of an answer, and of a cut-over, stay in the books")
    func settlementDate() async throws {
        var message = ISOMessage(try #require(MessageType(210)))
        message.set(39, "00")
        message.set(15, "1129")
        #expect(HostDecision(.approved(message)).settlement == "1129")
        message.set(15, "1 29")
        #expect(HostDecision(.approved(message)).settlement == nil)
        let server = try PrivatePostgreSQL()
        let books = Books(database: try Database(server.address, connections: 1))
        try await books.migrate()
        try await books.noteCutOver("1129")
        #expect(try server.sql("select settlement from day where cut_over is not null") == "1129\n")
        try server.sql(
            """
            insert into payment (id, merchant, body, kind, amount, currency, state)
                values ('01990000-0000-7000-8000-000000000001', 'm', decode(repeat('00', 32), 'hex'), 'sale', 1000, 'EUR', 'running');
            insert into exchange (id, payment, kind, owner, stage, type, trace, reference, transmitted, sealed)
                select id, id, 'payment', 7, 'awaiting', '0200', '000001', '632814000001', '1124123456', 'x' from payment
            """)
        var original = ISOMessage(try #require(MessageType(200)))
        for (field, text) in [(7, "1124123456"), (11, "000001"), (37, "HOST00000001")] { original.set(field, text) }
        let exchange = Exchange(
            id: ExchangeID("01990000-0000-7000-8000-000000000001"), order: 1, original: original,
            stage: .answered(.approved))
        var row = ExchangeRow(exchange: exchange, sealed: nil, owner: 7)
        row.isSealedAlready = true
        message.set(15, "1129")
        let asked = AskedPayment(
            amount: Money(value: 1_000, currency: try #require(Currency("EUR"))), kind: .sale, token: nil)
        let answer = try await books.approve(row, HostDecision(.approved(message)), asked, now: .now)
        // The host's own reference is the payment's name.
        #expect(answer?.contains("HOST00000001-1124") == true)
        #expect(try server.sql("select settlement || ' ' || reference from exchange") == "1129 HOST00000001\n")
    }
}
