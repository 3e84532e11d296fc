// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import Glibc
import ISO8583
import LocalHTTP
import PSPAPI
import PaymentValues
import PostgreSQL
import TestSupport
import Testing

@testable import Switch
@testable import nfc_tap_switch
@testable import rig_tills

/// Replicas as the program starts them, in this process.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct ReplicaTests {
    private func path(_ name: String) -> String {
        FileManager.default.temporaryDirectory.appending(path: "\(name)-\(UUID().uuidString.prefix(8))").path()
    }

    private func settings(_ database: PrivatePostgreSQL) throws -> SwitchSettings {
        SwitchSettings(socket: path("replica"), database: database.address, packager: try Packager(.bcd1987))
    }

    private func withReplica(_ settings: SwitchSettings, _ body: (SwitchServer) async throws -> Void) async throws {
        let server = try await SwitchServer(settings, keys: try FailingKeys { nil }, logger: LogBook().logger)
        async let end: Void = server.run()
        var failure: (any Error)?
        do { try await body(server) } catch { failure = error }
        server.shutDown()
        try await end
        if let failure { throw failure }
    }

    /// A replica behind which a host serves its line so, before a till.
    private func withSales(
        _ serving: @escaping LineHost.Serving, _ body: (TestTill, PrivatePostgreSQL, SwitchServer) async throws -> Void
    ) async throws {
        let database = try PrivatePostgreSQL()
        try await LineHost.run(serving) { address in
            var settings = try settings(database)
            settings.acquirers = [address]
            try await withReplica(settings) { replica in
                try database.sql(
                    """
                    insert into merchant (id, acceptor) values ('adapter-check', 'M');
                    insert into terminal values ('adapter-check', '00000001', 'TERM0001')
                    """)
                try await body(TestTill(settings.socket), database, replica)
            }
        }
    }

    private func health(_ settings: SwitchSettings) async throws -> Int {
        try await HTTPClient(path: settings.socket).send(
            HTTPClientRequest(.get, "/v1/health"), answerWithin: .seconds(20)
        ).status
    }

    // MARK: - S8

    /// docs/service/payment-service.md, options: those of the line to the acquirer.
    @Test("S8: the options of the line are what a replica is started with")
    func options() throws {
        let command = try ReplicaCommand.parse([
            "--socket", "/s", "--database", "host=/nowhere", "--test-key", "/k", "--trust-requests", "--acquirer",
            "127.0.0.1:8583", "--line-seconds", "7", "--answer-seconds", "9", "--echo-seconds", "31",
            "--echo-answer-seconds", "11",
        ])
        let settings = try command.settings()
        #expect(settings.acquirers.map(\.port) == [8_583])
        #expect(settings.lineSeconds == 7 && settings.rules.answerWithin == 9_000)
        #expect(settings.rules.echoAfter == 31_000 && settings.rules.networkWithin == 11_000)
    }

    /// tcp(7): TCP_USER_TIMEOUT, in milliseconds.
    @Test("S8: a replica's line to the acquirer has the time that it was started with")
    func lineSeconds() async throws {
        let database = try PrivatePostgreSQL()
        try await LineHost.run(LineHost.answering("00")) { address in
            var settings = try settings(database)
            (settings.acquirers, settings.lineSeconds) = ([address], 7)
            try await withReplica(settings) { _ in
                let times = try await eventually("the line") { () -> [CInt]? in
                    let times = userTimeouts(to: address.port)
                    return times.isEmpty ? nil : times
                }
                #expect(times == [7_000])
            }
        }
    }

    /// Of this process's sockets whose other end is this port.
    private func userTimeouts(to port: Int) -> [CInt] {
        (CInt(0)..<4_096).compactMap { descriptor in
            var (address, count) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
            let isConnected = unsafe withUnsafeMutablePointer(to: &address) { address in
                unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    unsafe getpeername(descriptor, address, &count) == 0
                }
            }
            guard isConnected, address.sin_family == sa_family_t(AF_INET),
                Int(UInt16(bigEndian: address.sin_port)) == port
            else { return nil }
            var (time, size) = (CInt(0), socklen_t(MemoryLayout<CInt>.size))
            // 18 is TCP_USER_TIMEOUT in linux/tcp.h.
            let isRead = unsafe getsockopt(descriptor, CInt(IPPROTO_TCP), 18, &time, &size) == 0
            return isRead ? time : nil
        }
    }

    // MARK: - S4

    /// The host has the first refund until it has answered its reversal, half a second later.
    @Test("S4: a refund waits for the reversal of another one whose sum is in its way")
    func refundAfterReversal() async throws {
        try await withSales(LineHost.answering("00", reversalsAfter: .milliseconds(500))) { till, database, _ in
            let sale = try await till.sale(900)
            #expect(try await till.post(sale).answer?.outcome == .approved)
            #expect(try await till.refund(500, of: sale.id) == .approved)
            let refund = try database.sql("select id from operation").dropLast()
            let answer = try await till.client.send(
                HTTPClientRequest(
                    .post, "/v1/authorizations/\(refund)/reversals",
                    fields: ["Content-Type": "application/json", "Idempotency-Key": String(refund)],
                    body: try WireJSON.encode(ReversalRequest(reason: .customerCancel))), answerWithin: .seconds(20))
            #expect(answer.status == 202)
            #expect(try await till.refund(900, of: sale.id) == .approved)
            #expect(try database.sql("select refunded from payment") == "900\n")
        }
    }

    // MARK: - S18

    /// The other one has told of nothing that the books lack: it would go on.
    @Test("S18: a replica that knows the books to be behind tells the others, and none serves until they are compared")
    func doubt() async throws {
        let database = try PrivatePostgreSQL()
        let (other, marks) = (try settings(database), path("marks"))
        var knowing = try settings(database)
        knowing.marks = marks
        // Generation 1, and a transaction that these books will not have for long.
        try "1 4000000000 known\n".write(toFile: marks, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: marks) }
        try await withReplica(other) { _ in
            try await eventually("health") { try await health(other) == 200 }
            try await withReplica(knowing) { _ in
                try await eventually("the doubt") { try await health(other) == 503 }
                #expect(try database.sql("select is_behind from generation") == "t\n")
                #expect(try await health(knowing) == 503)
                #expect(try await SwitchServer.compared(database.address) == 2)
                for replica in [other, knowing] {
                    try await eventually("health after the comparison") { try await health(replica) == 200 }
                }
            }
        }
    }

    /// Renewals of the lease see it two seconds later: three sales, so that not each of them is just before one.
    @Test(
        "S18: what a till was told through a replica is remembered by it before the next renewal, and looked for there")
    func told() async throws {
        try await withSales(LineHost.answering("00")) { till, database, replica in
            for _ in 0..<3 {
                let sale = try await till.sale(900)
                #expect(try await till.post(sale).answer?.outcome == .approved)
                let known = try #require(replica.memory.known?.transaction)
                let booked = try database.sql("select xmin from exchange where id = '\(sale.id)'").dropLast()
                let number = try #require(Int64(booked))
                #expect(known >= number)
            }
            // Of a payment that these books will not have for long: as if they had been restored to before it.
            replica.memory.hear(4_000_000_000)
            try await eventually("the doubt") { try database.sql("select is_behind from generation") == "t\n" }
        }
    }
}
