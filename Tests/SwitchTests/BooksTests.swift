// SPDX-License-Identifier: Apache-2.0
import Foundation
import ISO8583
import PostgreSQL
import TestSupport
import Testing
import Wire

@testable import Switch

/// The books on a PostgreSQL of their own, without replicas around them.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct BooksTests {
    private static let id = "01990000-0000-7000-8000-000000000001"

    /// A payment that was answered: its till knows that it is approved.
    private func withApproval(_ body: (Books, PrivatePostgreSQL) async throws -> Void) async throws {
        let server = try PrivatePostgreSQL()
        let books = Books(database: try Database(server.address, connections: 1))
        try await books.migrate()
        try server.sql(
            """
            insert into payment (id, merchant, body, kind, amount, currency, state, answer, authorised, captured)
                values ('\(Self.id)', 'm', decode(repeat('00', 32), 'hex'), 'sale', 1000, 'EUR', 'approved', '{}', 1000, 1000);
            insert into exchange (id, payment, kind, owner, stage, detail, type, trace, transmitted)
                values ('\(Self.id)', '\(Self.id)', 'payment', 7, 'answered', '00', '0200', '000001', '1122000000')
            """)
        try await body(books, server)
    }

    /// What a replica would write that took the exchange up from a row without its answer, and waited in vain.
    private func reversing(owner: Int64 = 7) throws -> ExchangeRow {
        let message = ISOMessage(try #require(MessageType(200)))
        let exchange = Exchange(
            id: ExchangeID(Self.id), order: 1, original: message,
            stage: .reversing(Repetition(message: ISOMessage(try #require(MessageType(400))), attempts: 1)))
        return ExchangeRow(exchange: exchange, sealed: [1], owner: owner)
    }

    private func isLost(_ kept: Kept) -> Bool { if case .lost = kept { true } else { false } }

    @Test func `a replica with a stale exchange does not take back what a till was told is approved`() async throws {
        try await withApproval { books, server in
            let kept = try await books.keep(try reversing(), [.decided(HostDecision(.unknown, "91"))], now: .now)
            #expect(isLost(kept))
            #expect(try server.sql("select stage from exchange").hasPrefix("answered"))
            #expect(try server.sql("select state from payment").hasPrefix("approved"))
        }
    }

    @Test func `what somebody wants back is taken back, by whoever owns it and by nobody else`() async throws {
        try await withApproval { books, server in
            try server.sql("update exchange set wanted = 'customerCancel'")
            #expect(isLost(try await books.keep(try reversing(owner: 8), [], now: .now)))
            #expect(!isLost(try await books.keep(try reversing(), [], now: .now)))
            #expect(
                try server.sql("select stage || coalesce(wanted, ' no more') from exchange").hasPrefix(
                    "reversing no more"))
        }
    }

    @Test func `a sum that is not in the row is an error, not nothing`() async throws {
        try await withApproval { books, _ in
            let row = try #require(
                try await books.database.run(Call("select id, kind, currency, amount from payment")).first)
            #expect(try KnownPayment(row).money?.value == 1_000)
            #expect(throws: DatabaseError.refused(state: "22004")) { try KnownPayment(row).figures }
        }
    }
}
