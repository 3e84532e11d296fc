import PSPSandbox
import ReaderVirtual
import Testing
import Wire

@testable import TapDaemon

@Suite("A payment from the request to the answer", .timeLimit(.minutes(2)))
struct PaymentTests {
    @Test("A card on the reader is read, sealed, authorised and reported", arguments: ["visa", "mastercard"])
    func approved(card: String) async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { sandbox in
            try await Shop.open(in: folder) { shop in
                try shop.reader.obey("present \(card)")
                let answer = try await shop.post(purchase(1_250, order: "A-1"), wait: 20)
                #expect(answer.status == 201)
                let transaction = try answer.transaction()
                #expect(transaction.state == .approved, "\(answer.text)")
                #expect(transaction.result?.outcome == .approved && transaction.result?.mode == .test)
                #expect(transaction.history.map(\.state) == [.created, .armed, .reading, .sealed, .sent, .approved])
                #expect(transaction.card?.last4.count == 4)
                let ledger = await sandbox.ledger
                #expect(ledger.transactions.map(\.id) == [transaction.id])
                #expect(ledger.transactions.first?.cryptogram == "verified")
                #expect(ledger.unseen.isEmpty)
                #expect(try shop.journal("SELECT state, authorization IS NULL FROM payment") == "approved|1")
            }
        }
    }
}
