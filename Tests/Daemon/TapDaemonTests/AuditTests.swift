// SPDX-License-Identifier: Apache-2.0
import Configuration
import Envelope
import Foundation
import Journal
import LocalHTTP
import POSAPI
import PaymentValues
import ReaderVirtual
import Synchronization
import TestSupport
import Testing

@testable import TapDaemon

/// What verification finds in a shop's journal with the shop's own public key.
func verified(_ folder: TestFolder) throws -> (faults: [AuditFault], signedUpTo: Int64?, last: Int64?) {
    let jwk = try Data(contentsOf: URL(filePath: folder.path + "/state/installation.jwk"))
    let source = try AuditSource(file: folder.path + "/state/journal.sqlite")
    var verifier = AuditVerifier(key: try VerificationKey(jwk: Array(jwk)))
    for statement in source.statements { verifier.take(statement: statement) }
    try source.forEachLink { link in
        if let link { verifier.take(link) } else { verifier.takeUnreadable(number: 0) }
    }
    for id in try source.differences() { verifier.takeDifference(transaction: id) }
    return (verifier.finish(), verifier.signedUpTo, verifier.last)
}

@Suite("The daemon's audit chain (requirements §10.5, §10.15)", .timeLimit(.minutes(5)))
struct AuditTests {
    @Test("It can be verified while the daemon works, and everything in it is signed once it has stopped")
    func life() async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { _ in
            try await Shop.open(in: folder) { shop in
                for value in [1_000, 1_051] as [Int64] {
                    try shop.reader.obey("present visa")
                    try await shop.post(purchase(value), wait: 20)
                    try shop.reader.obey("remove")
                }
                await shop.daemon.notes.keepNow()
                #expect(try verified(folder).faults.isEmpty)
            }
        }
        let after = try verified(folder)
        #expect(after.faults.isEmpty)
        #expect(after.signedUpTo == after.last)
        let details = try sqlite(
            folder.path + "/state/journal.sqlite", "SELECT detail FROM audit WHERE kind = 'operation'")
        #expect(details == "started 0.1.0 test\nstopped")
        // The card's last digits, where no hash or id can have them by chance.
        #expect(try !sqlite(folder.path + "/state/journal.sqlite", "SELECT detail FROM audit").contains("0010"))
    }

    @Test("What is older than its time is erased: from journal, files and events; the rest of the chain holds")
    func retention() async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { _ in
            try await Shop.open(in: folder) { shop in
                try shop.reader.obey("present visa")
                let transaction = try await shop.post(purchase(1_000), wait: 20).transaction()
                #expect(transaction.state == .approved)
                // The ledger keeps the row of a payment until the day that it belongs to is closed.
                let endOfDay = HTTPClientRequest(
                    .post, "/v1/days", fields: ["Content-Type": "application/json", "Idempotency-Key": "day"],
                    body: Array("{}".utf8))
                #expect(try await shop.send(endOfDay).status == 201)
                let later = Timestamp.now.advanced(bySeconds: 86_400 * 401)
                await shop.daemon.audit.erase(now: later)
                await shop.daemon.notes.keepNow()
                #expect(try await shop.get("/v1/transactions/\(transaction.id)").status == 404)
                for (name, bytes) in try filesOnDisk(in: folder.path + "/state") {
                    #expect(bytes.range(of: Data(transaction.id.text.utf8)) == nil, "\(name)")
                }
                #expect(try verified(folder).faults.isEmpty)
                // The daemon goes on as before.
                try shop.reader.obey("remove")
                try shop.reader.obey("present visa")
                #expect(try await shop.post(purchase(1_100), wait: 20).transaction().state == .approved)
            }
        }
        #expect(try verified(folder).faults.isEmpty)
    }

    @Test("Before its time nothing is erased")
    func kept() async throws {
        try await Shop.withSandbox { shop, _ in
            try shop.reader.obey("present visa")
            let transaction = try await shop.post(purchase(1_000), wait: 20).transaction()
            await shop.daemon.audit.erase(now: Timestamp.now.advanced(bySeconds: 86_400 * 89))
            #expect(try await shop.get("/v1/transactions/\(transaction.id)").status == 200)
        }
    }

    @Test("A sealed record of a sale that goes out at once is in no file, before and after its answer")
    func sealedRecords() async throws {
        let folder = try TestFolder()
        let state = folder.path + "/state"
        let whileAsked = Mutex<[String]>(["nobody was asked"])
        try await withAdapter(in: folder) { _ in
            let found = (try? filesWithRecord(in: state)) ?? []
            whileAsked.withLock { $0 = found }
            return .text(200, #"{"outcome":"approved"}"#)
        } _: { _ in
            try await Shop.open(in: folder) { shop in
                try shop.reader.obey("present visa")
                let planted = URL(filePath: state + "/planted")
                try Data(#"{"envelope":"e30"}"#.utf8).write(to: planted)
                #expect(try filesWithRecord(in: state) == ["planted"], "the search finds a record that is there")
                try FileManager.default.removeItem(at: planted)
                #expect(try await shop.post(purchase(1_000), wait: 20).transaction().state == .approved)
                // A sale that goes out at once is never sent again: decision 141.
                #expect(whileAsked.withLock { $0 } == [])
                await shop.runner.journal.scrub(Shop.quiet)
                #expect(try filesWithRecord(in: state) == [])
            }
        }
    }

    /// The journal's files in which a sealed record is, which is kept as JSON with this member.
    private func filesWithRecord(in folder: String) throws -> [String] {
        try filesOnDisk(in: folder).filter { $0.bytes.range(of: Data(#""envelope""#.utf8)) != nil }.map(\.name)
    }

    @Test("The times of the configuration are taken", arguments: [("keep-transactions = 30", 30), ("", 90)])
    func configured(line: String, days: Int) throws {
        let text = "[journal]\n\(line)\n[[lane]]\nname = \"main\"\nreader = \"virtual:/run/r.sock\"\n"
        #expect(try ConfigurationFile(file: "f", text: text).journal.retention.transactions == Retention.day * days)
    }
}
