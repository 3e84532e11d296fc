// SPDX-License-Identifier: Apache-2.0
import Foundation
import POSAPI
import PSPSandbox
import PaymentValues
import Receipt
import TapClient
import TestSupport
import Testing

/// Every call of the library, with the daemon and the sandbox as they are installed.
@Suite("TapClient with a real daemon", .timeLimit(.minutes(10)))
struct ClientLibraryTests {
    private func request(_ type: TransactionType, _ value: Int64 = 1_200) throws -> TransactionRequest {
        TransactionRequest(type: type, amount: Money(value: value, currency: try #require(Currency("EUR"))))
    }

    private func settled(_ client: TapClient, _ request: TransactionRequest) async throws -> Transaction {
        try await client.start(request, idempotencyKey: UUID().uuidString).settled()
    }

    private func code(_ call: () async throws -> Void) async -> String? {
        do { try await call() } catch { return (error as? TapClientError)?.code.rawValue }
        return nil
    }

    /// A shop with a card on its reader, for as long as `body` takes.
    private func open(_ body: (TapClient) async throws -> Void) async throws {
        let shop = try Shop()
        try shop.awaitReader()
        try shop.card("present visa")
        try await body(TapClient(path: shop.posSocket))
        withExtendedLifetime(shop) {}
    }

    @Test("A sale is tried, confirmed, its receipt printed, and taken back")
    func sale() async throws {
        try await open { client in
            #expect(try await client.prepare("main", waiting: 20).outcome == .stillPrepared)
            #expect(await code { _ = try await client.prepare("nowhere") } == "lane.unknown")
            var sale = try request(.purchase)
            (sale.order, sale.confirmWithin) = ("A-1", 600)
            let answer = try await client.check(sale)
            #expect(answer.lane == "main" && answer.mode == .test)
            let paid = try await settled(client, sale)
            #expect(paid.state == .approved && paid.confirmation?.confirmedAt == nil)
            let confirmed = try await client.confirm(paid.id)
            #expect(confirmed.confirmation?.confirmedAt != nil)
            #expect(try await client.receipt(of: paid.id, copy: .merchant).status == .approved)
            let text = try await client.receiptText(of: paid.id, language: .german, width: 32)
            #expect(text.contains("Kundenbeleg") && text.split(separator: "\n").allSatisfy { $0.count <= 32 })
            let reversing = try await client.reverse(paid.id, reason: .malfunction)
            #expect([.reversing, .reversed].contains(reversing.state))
            while try await client.transaction(paid.id).state != .reversed {
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(try await client.reverse(paid.id).state == .reversed)
            #expect(try await client.transactions(order: "A-1").map(\.id) == [paid.id])
            #expect(await code { _ = try await client.confirm(paid.id) } == "confirmation.too_late")
            #expect(try await client.cancel(paid.id).outcome == .nothingToCancel)
        }
    }

    @Test("Refunds, verifications, look-ups and stored cards come to their end like sales")
    func others() async throws {
        try await open { client in
            #expect(try await settled(client, request(.refund)).state == .approved)
            for (reason, consent) in [
                (VerificationReason.lookUp, nil), (.openTab, nil), (.saveCard, "told"), (.other, nil),
            ] {
                var verification = try request(.verification, 0)
                (verification.reason, verification.consent) = (reason, consent)
                let read = try await settled(client, verification)
                #expect(read.state == .approved && read.card?.token != nil, "\(reason)")
                #expect(read.details?.consent == consent)
                #expect(await code { _ = try await client.confirm(read.id) } == "confirmation.not_wanted")
            }
            let declined = try await settled(client, request(.purchase, 1_251))
            #expect(await code { _ = try await client.reverse(declined.id) } == "transaction.not_approved")
            #expect(await code { _ = try await client.decline(declined.id) } == "queue.not_stored")
            #expect(await code { _ = try await client.receipt(of: TransactionID()) } == "transaction.unknown")
            #expect(try await client.lane("main").name == client.lanes().first?.name)
            #expect(try await client.contract().hasPrefix("openapi: 3.1.0"))
        }
    }

    @Test("Requirement 6: terms are accepted once, by their hash, and by a file that is right")
    func terms() async throws {
        try await open { client in
            while try await client.terms().hash == nil { try await Task.sleep(for: .milliseconds(20)) }
            let hash = try #require(try await client.terms().hash)
            #expect(await code { _ = try await client.acceptTerms(hash: "00") } == "terms.other_version")
            #expect(await code { _ = try await client.acceptTerms(file: "a.b.c") } == "terms.file_invalid")
            let file = try SandboxProfile(key: TestSigner.key())
                .acceptance(merchant: "sandbox-merchant", hash: hash, by: "Head office", at: .now)
            let acceptance = try await client.acceptTerms(file: file)
            #expect(acceptance.acceptedBy == "Head office" && acceptance.source == .file)
            #expect(try await client.terms().acceptance == acceptance)
            #expect(try await client.status().terms == .accepted)
            #expect(await code { _ = try await client.acceptTerms(hash: hash) } == "terms.already_accepted")
        }
    }

    @Test("Stored payments are seen, declined, and taken to the payment service in a batch")
    func queue() async throws {
        let shop = try Shop.storing()
        let client = TapClient(path: shop.posSocket)
        #expect(await code { _ = try await client.openBatch() } == "queue.empty")
        for _ in 0..<3 { #expect(try shop.store().state == "stored") }
        let waiting = try await client.queue()
        #expect(waiting.count == 3 && waiting.openBatch == nil)
        #expect(try await client.flushQueue().count == 3)
        let first = try #require(waiting.entries.first?.transaction)
        #expect(try await client.decline(first).state == .declined)
        let batch = try await client.openBatch(size: 1)
        #expect(await code { _ = try await client.openBatch() } == "queue.batch_open")
        #expect(try await client.batch(batch.id) == batch)
        #expect(try await client.resetBatch(batch.id).left == 2)
        #expect(await code { _ = try await client.batch(batch.id) } == "queue.batch_closed")
        #expect(await code { _ = try await client.resetBatch("nothing") } == "queue.batch_unknown")
        let all = try await client.openBatch()
        #expect(all.count == 2)
        #expect(await code { _ = try await client.resolveBatch(all.id, token: "a.b.c") } == "queue.token_invalid")
        let exported = try WireJSON.encode(all)
        let token = try shop.deliver(String(decoding: exported, as: UTF8.self))
        #expect(try await client.resolveBatch(all.id, token: token).left == 0)
    }
}
