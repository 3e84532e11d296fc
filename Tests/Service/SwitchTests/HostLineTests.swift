// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Dispatch
import ISO8583
import LocalHTTP
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

/// The line to the acquirer, and what it says of its day.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct HostLineTests {
    @Test("S13: a sign-on that is refused again and again is tried once a minute in the end")
    func backOff() {
        var pause = ReconnectPause()
        var refused: [Duration] = []
        for _ in 0..<10 { refused.append(pause.next(hasSpoken: true, wasSignedOn: false)) }
        #expect(refused.prefix(4) == [.milliseconds(500), .seconds(1), .seconds(2), .seconds(4)])
        #expect(refused.last == .seconds(60))
        // In ten seconds five, where it were twenty.
        var sum = Duration.zero
        #expect(
            refused.prefix {
                sum += $0; return sum <= .seconds(10)
            }.count == 4)
        #expect(pause.next(hasSpoken: true, wasSignedOn: true) == .milliseconds(500))
    }

    /// haproxy in TCP mode takes a connection before it has one to the host behind it.
    @Test("S25: a line that ends without a byte of the host is tried every eight seconds in the end")
    func nobodyBehindTheProxy() {
        var pause = ReconnectPause()
        var away: [Duration] = []
        for _ in 0..<10 { away.append(pause.next(hasSpoken: false, wasSignedOn: false)) }
        #expect(away.max() == .seconds(8))
    }

    /// How long the acquirer's side rests after each of nine lines to a host that serves them so.
    private func rests(_ serving: @escaping LineHost.Serving) async throws -> [Duration] {
        let rests = Rests()
        let acquirer = try Acquirer.withoutBooks(SwitchMeasures(), LogBook())
        try await LineHost.run(serving) { address in
            let line = Task(executorPreference: SocketThread.shared) {
                await acquirer.stayConnected(to: [address], lineSeconds: 60) { rest in
                    // What comes after the ninth is not waited for; the sleep ends when it is cancelled.
                    if rests.add(rest) == 9 { try? await Task.sleep(for: .seconds(3_600)) }
                }
            }
            try await eventually("nine lines") { rests.all.count == 9 }
            line.cancel()
            await line.value
        }
        return rests.all
    }

    private final class Rests: Sendable {
        private let kept = Mutex<[Duration]>([])

        /// - Returns: how many there are.
        func add(_ rest: Duration) -> Int {
            kept.withLock {
                $0.append(rest)
                return $0.count
            }
        }

        var all: [Duration] { kept.withLock { $0 } }
    }

    @Test("S25, S13: a line in silence, one whose sign-on is refused, and one that was of use have rests of their own")
    func silentAndRefused() async throws {
        let growing = [500, 1_000, 2_000, 4_000, 8_000]
        let silent = try await rests { _, _ in }
        #expect(silent == (growing + [8_000, 8_000, 8_000, 8_000]).map { .milliseconds($0) })
        let refused = try await rests(LineHost.answering("05", atMost: 1))
        #expect(refused == (growing + [16_000, 32_000, 60_000, 60_000]).map { .milliseconds($0) })
        let used = try await rests(LineHost.answering("00", atMost: 1))
        #expect(used == (1...9).map { _ in .milliseconds(500) })
    }

    /// A web server at the acquirer's port: “HT” stands where the length should.
    @Test("S13: bytes that are no frame are counted, and their length is told")
    func frame() async throws {
        let (measures, book) = (SwitchMeasures(), LogBook())
        let acquirer = try Acquirer.withoutBooks(measures, book)
        let serving: LineHost.Serving = { inbound, outbound in
            try await outbound.write(ByteBuffer(string: "HTTP/1.1 400"))
            for try await _ in inbound {}
        }
        try await LineHost.run(serving) { address in
            let line = Task(executorPreference: SocketThread.shared) {
                await acquirer.stayConnected(to: [address], lineSeconds: 60)
            }
            try await eventually("the frame") { measures.counted(.frame) >= 1 }
            try await eventually("its line") { book.lines(.error).contains { $0.contains("4854") } }
            #expect(!book.lines(.error).contains { $0.contains("48545450") })
            line.cancel()
            await line.value
        }
    }

    /// tcp(7): what the other side does not read fills its window, and then this side.
    @Test("S19: what is sent to a host that does not read is left once its line is full")
    func fullLine() async throws {
        let measures = SwitchMeasures()
        let acquirer = try Acquirer.withoutBooks(measures, LogBook())
        let serving: LineHost.Serving = { _, _ in try await Task.sleep(for: .seconds(3_600)) }
        try await LineHost.run(serving) { address in
            let line = Task(executorPreference: SocketThread.shared) {
                await acquirer.stayConnected(to: [address], lineSeconds: 60)
            }
            try await eventually("the line") { await acquirer.line != nil }
            var long = ISOMessage(try #require(MessageType(800)))
            for (field, text) in [(7, "1122000001"), (11, "000001"), (70, "301")] { long.set(field, text) }
            long.set(48, String(repeating: "X", count: 900))
            for _ in 0..<50_000 where measures.counted(.lineFull) == 0 { await acquirer.send(long) }
            #expect(measures.counted(.lineFull) > 0)
            line.cancel()
            await line.value
        }
    }

    @Test("S20: of several lines the next one is tried where one is of no use, and the first again after one that was")
    func lines() {
        var turn = LineTurn(count: 3)
        let ends = (0..<4).map { _ in turn.end(wasSignedOn: false) }
        #expect(ends == [false, false, true, false] && turn.index == 1)
        let isOver = turn.end(wasSignedOn: true)
        #expect(isOver && turn.index == 0)
        var only = LineTurn(count: 1)
        let rounds = [only.end(wasSignedOn: false), only.end(wasSignedOn: true)]
        #expect(rounds == [true, true])
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

    /// An answer to a sign-off that overtakes a payment has the payment come over a line that is signed off: a host of another hand saw it.
    @Test("S24: what is sent from two threads arrives in the order in which it was sent")
    func order() async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).bind(
            host: "127.0.0.1", port: 0
        ) { channel in
            channel.eventLoop.makeCompletedFuture {
                try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
            }
        }
        let port = try #require(server.channel.localAddress?.port)
        let address = try #require(AcquirerAddress("127.0.0.1:\(port)"))
        let client = try await Acquirer.connect(address, lineSeconds: 7)
        let line = AcquirerLine.writer(client.channel)
        let isAsked = DispatchSemaphore(value: 0)
        client.channel.eventLoop.execute {
            // The loop's own thread sends second.
            isAsked.wait()
            line([2])
            line(nil)
        }
        line([1])
        isAsked.signal()
        var came: [UInt8] = []
        try await server.executeThenClose { connections in
            for try await connection in connections {
                try await connection.executeThenClose { inbound, _ in
                    for try await buffer in inbound { came += buffer.readableBytesView }
                }
                break
            }
        }
        #expect(came == [1, 2])
        try? await client.executeThenClose { _, _ in }
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
        let store = SwitchStore(database: try Database(server.address, connections: 1))
        try await store.migrate()
        try await store.noteCutOver("1129")
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
        let answer = try await store.approve(row, HostDecision(.approved(message)), asked, now: .now)
        // The host's own reference is the payment's name.
        #expect(answer?.contains("HOST00000001-1124") == true)
        #expect(try server.sql("select settlement || ' ' || reference from exchange") == "1129 HOST00000001\n")
        // Of two answers the later one's count, as it is of one that is written down in another way.
        message.set(15, "1130")
        original.set(37, "HOST00000002")
        let again = Exchange(id: exchange.id, order: 1, original: original, stage: .answered(.approved))
        row = ExchangeRow(exchange: again, sealed: nil, owner: 7)
        row.isSealedAlready = true
        _ = try await store.keep(row, [.decided(HostDecision(.approved(message)))], now: .now)
        #expect(try server.sql("select settlement || ' ' || reference from exchange") == "1130 HOST00000002\n")
    }
}
