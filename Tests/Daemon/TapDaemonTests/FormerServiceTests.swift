// SPDX-License-Identifier: Apache-2.0
import Configuration
import Envelope
import Foundation
import LocalHTTP
import POSAPI
import PaymentValues
import ReaderVirtual
import Settings
import StoreAndForward
import Testing

@testable import TapDaemon

@Suite("Payments stored for a payment service that the shop had before", .timeLimit(.minutes(5)))
struct FormerServiceTests {
    private let former = SigningKey()
    private let current = SigningKey()

    private func wish(_ serviceName: String, _ key: SigningKey) throws -> Shop.Wish {
        try StoreAndForwardTests.wish {
            $0.offline?.serviceName = serviceName
            $0.offline?.receiptKey = key.verificationKey
        }
    }

    private func resolve(_ batch: QueueBatch, by key: SigningKey, _ shop: Shop) async throws -> Answer {
        let receipt = BatchReceipt(
            batch: batch.id, count: batch.count, hash: batch.hash,
            expiresAt: Timestamp.now.advanced(bySeconds: 60))
        return try await shop.post(
            to: "/v1/queue/batches/\(batch.id)/resolve", #"{"token":"\#(try receipt.token(key: key))"}"#)
    }

    @Test("Acceptance test 9: they keep others from being stored, and only that service's receipt lets them go")
    func resolved() async throws {
        let folder = try TestFolder()
        var first: TransactionID?
        try await Shop.open(in: folder, try wish("old", former)) { shop in
            await shop.daemon.queue.noteContact()
            try shop.reader.obey("present visa-afl")
            first = try await shop.post(purchase(500), wait: 20).transaction().id
        }
        let id = try #require(first)
        try await Shop.open(in: folder, try wish("new", current)) { shop in
            await shop.daemon.queue.noteContact()
            let status = try WireJSON.decode(QueueStatus.self, from: try await shop.get("/v1/queue").body)
            #expect(status.count == 1 && status.refusal?.code == "offline.service_changed")
            let batch = try WireJSON.decode(
                QueueBatch.self, from: try await shop.post(to: "/v1/queue/batches").body)
            // Neither key counts: one is not configured, the other is not whom the payments are for.
            for key in [former, current] {
                #expect(try await resolve(batch, by: key, shop).error().code == "queue.token_invalid")
            }
            // An administrator installs the former service's key and reloads.
            let error = await shop.daemon.reload { before in
                var new = before
                new.formerServices = ["old": .init(receiptKey: former.verificationKey)]
                return new
            }
            #expect(error == nil)
            #expect(try await resolve(batch, by: current, shop).error().code == "queue.token_invalid")
            #expect(try await resolve(batch, by: former, shop).text == #"{"left":0}"#)
            #expect(try await shop.get("/v1/transactions/\(id)").transaction().state == .delivered)
            let after = try WireJSON.decode(QueueStatus.self, from: try await shop.get("/v1/queue").body)
            #expect(after.refusal == nil)
        }
    }

    private func file(_ text: String) throws -> ConfigurationFile {
        try ConfigurationFile(file: "f", text: text + "[[lane]]\nname = \"a\"\nreader = \"pcsc:\"\n")
    }

    @Test("They are configured in live mode too, with a key that is no test key")
    func configured() throws {
        let folder = try TestFolder()
        let test = VerificationKey.sandboxTest
        for (name, key) in [("psp", current.verificationKey), ("old", former.verificationKey), ("test", test)] {
            try Data(key.jwk.utf8).write(to: URL(filePath: "\(folder.path)/\(name).jwk"))
        }
        let live = "mode = \"live\"\n[profile]\nkey = \"\(folder.path)/psp.jwk\"\n"
        func service(_ serviceName: String, _ key: String) -> String {
            "[[former-service]]\nservice-name = \"\(serviceName)\"\nreceipt-key = \"\(folder.path)/\(key).jwk\"\n"
        }
        let good = try file(live + service("old", "old") + service("older", "old"))
        let configuration = try DaemonConfiguration(good)
        let settings = OfflineSettings(configuration, nil)
        #expect(settings.rules == nil && settings.receiptKey(for: "old") == former.verificationKey)
        #expect(settings.receiptKey(for: "older") == former.verificationKey)
        #expect(settings.receiptKey(for: settings.serviceName) == nil && settings.receiptKey(for: "other") == nil)
        for wrong in [
            live + service("old", "test"), service("old", "none"), service("old", "old") + service("old", "old"),
            "[[former-service]]\nservice-name = \"old\"\n",
            "[[former-service]]\nreceipt-key = \"\(folder.path)/old.jwk\"\n",
        ] {
            #expect(throws: ConfigurationError.self, "\(wrong)") { try file(wrong) }
        }
        #expect(try file(service("old", "test")).formerServices["old"]?.receiptKey == test)
    }
}
