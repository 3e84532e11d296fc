// SPDX-License-Identifier: Apache-2.0
import Configuration
import Envelope
import Foundation
import LocalHTTP
import POSAPI
import PSPSandbox
import PaymentValues
import ReaderVirtual
import Settings
import StoreAndForward
import Testing

@testable import TapDaemon

@Suite("What is in the audit chain beside transactions (requirements §10.15)", .timeLimit(.minutes(5)))
struct AuditEntryTests {
    /// The entries of a kind, oldest first: subject, then what is told.
    private func entries(_ kind: String, _ shop: Shop) throws -> [String] {
        try shop.journal("SELECT subject, detail FROM audit WHERE kind = '\(kind)' ORDER BY sequence")
            .split(separator: "\n").map(String.init)
    }

    @Test("A profile that comes into force, one that is refused, and terms accepted or not: each with who and what")
    func profileAndTerms() async throws {
        let folder = try TestFolder()
        let service = PaymentService()
        let merchant = PaymentService.merchant
        try await withSandbox(in: folder) { sandbox in
            await service.serve(try service.json(serial: 5), at: sandbox)
            var wish = Shop.Wish()
            wish.profile = service.settings()
            try await Shop.open(in: folder, wish) { shop in
                _ = await shop.profiles.refresh()
                await service.serve(try service.json(serial: 4), at: sandbox)
                // The second time it is no news.
                for _ in 0..<2 { _ = await shop.profiles.refresh() }
                let applied = try entries("profile", shop)
                #expect(
                    applied == [
                        "\(merchant)|serial 5 applied, signed by \(service.key.verificationKey.thumbprint)",
                        "serial|refused with credential.outdated; serial 5 stays in force",
                    ])
                let hash = try #require(
                    try WireJSON.decode(Terms.self, from: try await shop.get("/v1/terms").body).hash)
                for body in [String(repeating: "0", count: 64), hash, hash] {
                    _ = try await shop.post(to: "/v1/terms/acceptance", #"{"hash":"\#(body)"}"#)
                }
                let name = PointOfSaleAPI.name(ofUser: geteuid())
                #expect(
                    try entries("terms", shop) == [
                        "\(merchant)|not accepted by uid \(geteuid()): terms.other_version",
                        "\(merchant)|version 2026-03 accepted by \(name), uid \(geteuid()), local, hash \(hash)",
                        "\(merchant)|not accepted by uid \(geteuid()): terms.already_accepted",
                    ])
            }
        }
        #expect(try verified(folder).faults.isEmpty)
    }

    @Test("A reload that was taken, and what is wrong with one that was not")
    func reload() async throws {
        let folder = try TestFolder()
        try await Shop.open(in: folder) { shop in
            let wrong = ConfigurationError("psp.socket", "is no absolute path", remedy: "begin it with /")
            _ = await shop.daemon.reload { (_) throws(ConfigurationError) in throw wrong }
            _ = await shop.daemon.reload { before in
                var new = before
                new.journal.directory = "/elsewhere"
                return new
            }
            let entries = try self.entries("configuration", shop)
            #expect(
                entries == [
                    "psp.socket|refused at a reload: is no absolute path; the one before stays",
                    "|applied at a reload, lanes: 1, after a restart: journal.directory",
                ])
        }
        #expect(try verified(folder).faults.isEmpty)
    }

    @Test("What an administrator does with batches and the queue, refusals included; a text that is no id stays out")
    func batches() async throws {
        let folder = try TestFolder()
        try await Shop.open(in: folder, try StoreAndForwardTests.wish()) { shop in
            let who = "by uid \(geteuid()) as admin"
            _ = try await shop.post(to: "/v1/queue/batches")
            let contact = shop.daemon.queue
            await contact.noteContact()
            try shop.reader.obey("present visa-afl")
            #expect(try await shop.post(purchase(500), wait: 20).transaction().state == .stored)
            let body = try await shop.post(to: "/v1/queue/batches").body
            let batch = try WireJSON.decode(QueueBatch.self, from: body).id
            _ = try await shop.get("/v1/queue/batches/\(batch)")
            _ = try await shop.get("/v1/queue/batches/4761730000000011")
            _ = try await shop.post(to: "/v1/queue/batches/\(batch)/resolve", #"{"token":"a.b.c"}"#)
            _ = try await shop.post(to: "/v1/queue/batches/\(batch)/reset")
            _ = try await shop.post(to: "/v1/queue/flush")
            _ = try await shop.get("/v1/queue")
            #expect(
                try entries("administration", shop) == [
                    "|open batch \(who): refused with queue.empty",
                    "|open batch \(who): \(batch), payments: 1",
                    "\(batch)|export batch \(who): payments: 1",
                    "|export batch \(who): refused with queue.batch_unknown",
                    "\(batch)|resolve batch \(who): refused with queue.token_invalid",
                    "\(batch)|reset batch \(who): left in the queue: 1",
                    "|flush \(who): stored: 1",
                ])
        }
        #expect(try verified(folder).faults.isEmpty)
    }

    @Test(
        "What an administrator does to another user's payment is there; what users do to their own is not",
        .enabled(if: geteuid() == 0, "needs root, to become another user"))
    func others() async throws {
        let folder = try TestFolder()
        var wish = Shop.Wish()
        wish.access = Access(groups: [.cashier: 20], owner: 500)
        try await withSandbox(in: folder) { _ in
            try await Shop.open(in: folder, wish) { shop in
                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o666], ofItemAtPath: folder.path + "/pos.sock")
                let armed = try await begin(shop, more: #","detached":true"#)
                _ = try await shop.reach([.armed], armed)
                // Root is an administrator by the kernel's word.
                _ = try await shop.delete("/v1/transactions/\(armed)")
                _ = try await shop.reach([.cancelled], armed)
                _ = try await shop.delete("/v1/transactions/\(armed)")

                try shop.reader.obey("present visa")
                let paid = try await begin(shop, more: #","detached":true,"confirmWithin":60"#)
                _ = try await shop.reach([.approved], paid)
                _ = try await shop.post(to: "/v1/transactions/\(paid)/decline")
                _ = try await shop.post(to: "/v1/transactions/\(paid)/confirmation")
                _ = try await shop.post(to: "/v1/transactions/\(paid)/reversal", #"{"reason":"customerCancel"}"#)
                _ = try await shop.reach([.reversed], paid)

                // Its own user's, and root's own.
                try shop.reader.obey("remove")
                let own = try await begin(shop, more: #","detached":true"#)
                let owners = try await curl(
                    folder, groups: "20", ["-X", "DELETE", "http://d/v1/transactions/\(own)"])
                #expect(owners.status == "200")
                let roots = try await shop.post(purchase(300, more: #","detached":true"#)).transaction().id
                _ = try await shop.delete("/v1/transactions/\(roots)")
                #expect(
                    try entries("administration", shop) == [
                        "\(armed)|cancel by uid 0 as admin: cancelled",
                        "\(armed)|cancel by uid 0 as admin: nothingToCancel",
                        "\(paid)|decline by uid 0 as admin: refused with queue.not_stored",
                        "\(paid)|confirm by uid 0 as admin: approved",
                        "\(paid)|reverse by uid 0 as admin: reversing",
                    ])
            }
        }
        #expect(try verified(folder).faults.isEmpty)
    }

    /// A payment that a cashier asks for.
    private func begin(_ shop: Shop, more: String) async throws -> TransactionID {
        let answer = try await curl(
            shop.folder, groups: "20",
            [
                "-H", "Content-Type: application/json", "-H", "Idempotency-Key: \(UUID())", "-d",
                purchase(1_000, more: more), "http://d/v1/transactions",
            ])
        #expect(answer.status == "201", "\(answer.body)")
        return try WireJSON.decode(Transaction.self, from: Array(answer.body.utf8)).id
    }
}
