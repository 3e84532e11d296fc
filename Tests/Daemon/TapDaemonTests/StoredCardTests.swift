// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import LocalHTTP
import POSAPI
import PaymentValues
import ReaderVirtual
import Synchronization
import TestSupport
import Testing

@testable import TapDaemon

@Suite("Stored cards: consent, charges and deletion", .timeLimit(.minutes(10)))
struct StoredCardTests {
    private static let text = "I agree that the shop charges up to 25 € a month.\nUntil I say stop."

    private func shop(
        in folder: TestFolder, _ wish: Shop.Wish = Shop.Wish(), _ service: StoredCardService = StoredCardService(),
        _ body: (Shop, StoredCardService) async throws -> Void
    ) async throws {
        try await withAdapter(in: folder, health: StoredCardService.health) {
            service.answer($0)
        } _: { _ in
            try await Shop.open(in: folder, wish) { shop in
                _ = try await eventually("the service has said what it can") { shop.daemon.health.supports }
                try await body(shop, service)
            }
        }
    }

    private func agreement(_ kind: String = "recurring", maximum: Int64 = 2_500, more: String = "") throws -> String {
        let text = String(decoding: try JSONEncoder().encode(Self.text), as: UTF8.self)
        return
            #"{"kind":"\#(kind)","text":\#(text),"language":"en","maximum":{"value":\#(maximum),"currency":"EUR"}\#(more)}"#
    }

    /// Checks a card.
    private func check(_ shop: Shop, _ reason: String, _ more: String = "") async throws -> Transaction {
        try shop.reader.obey("present visa")
        let answer = try await shop.post(
            #"{"type":"verification","currency":"EUR","reason":"\#(reason)"\#(more)}"#, wait: 20)
        try shop.reader.obey("remove")
        try #require(answer.status == 201, "\(answer.text)")
        return try answer.transaction()
    }

    private func store(_ shop: Shop, _ kind: String = "recurring") async throws -> (StoredCard, Agreement) {
        let card = try #require(
            try await check(shop, "saveCard", #","agreement":\#(try agreement(kind))"#).credential)
        return (card, try #require(card.agreements.last))
    }

    private func charge(
        _ shop: Shop, _ card: StoredCardID, _ agreement: AgreementID, _ value: Int64 = 1_900,
        reason: String = "recurring", more: String = "", key: String = UUID().uuidString
    ) async throws -> Answer {
        try await shop.post(
            #"{"type":"charge","credential":"\#(card)","agreement":"\#(agreement)","initiator":"merchant","#
                + #""reason":"\#(reason)","amount":{"value":\#(value),"currency":"EUR"}\#(more)}"#, key: key, wait: 20)
    }

    private func credential(_ shop: Shop, _ id: StoredCardID) async throws -> StoredCard {
        try WireJSON.decode(StoredCard.self, from: try await shop.get("/v1/credentials/\(id)").body)
    }

    private func audit(_ shop: Shop, _ kind: String) throws -> String {
        try shop.journal("SELECT group_concat(detail, '; ') FROM audit WHERE kind = '\(kind)'")
    }

    @Test func `S1 and S2: what is agreed to is on the disk before a card is read, and the card with the approval`()
        async throws
    {
        try await shop(in: TestFolder()) { shop, service in
            let answer = try await shop.post(
                #"{"type":"verification","currency":"EUR","reason":"saveCard","agreement":\#(try agreement(more: #","until":"2099-11-22T00:00:00.000Z","cycle":"monthly""#))}"#
            )
            #expect(answer.status == 201)
            let id = try answer.transaction().id
            _ = try await shop.reach([.armed], id)
            let hash = SHA256.hash(data: Array(Self.text.utf8)).map { String(format: "%02x", $0) }.joined()
            #expect(try shop.journal("SELECT hash || ' ' || payment FROM agreement") == "\(hash) \(id)")
            #expect(try shop.journal("SELECT count(*) FROM credential") == "0")
            #expect(try audit(shop, "agreement").contains("recurring sha256 \(hash) transaction \(id)"))
            try shop.reader.obey("present visa")
            let stored = try await shop.reach([.approved], id)
            #expect(stored.error == nil)
            let card = try #require(stored.credential)
            #expect(card.state == .active && card.expires == "2031-04" && card.card.token == nil)
            #expect(card.agreements.map(\.hash) == [hash] && card.agreements[0].text == Self.text)
            #expect(card.agreements[0].cycle == .monthly && card.agreements[0].maximum?.value == 2_500)
            #expect(try audit(shop, "credential") == "stored with transaction \(id)")
            let told = try #require(service.body("authorizations")["agreement"] as? [String: Any])
            #expect(told["hash"] as? String == hash && told["kind"] as? String == "recurring")
            #expect(told["text"] == nil && told["id"] as? String == card.agreements[0].id.rawValue)
            // Whoever may charge finds the card by the service's name for it, whatever signs that has.
            let found = try await shop.get("/v1/credentials?token=tok_9f%2F%3D%3F")
            let list = try WireJSON.decode(StoredCardList.self, from: found.body)
            #expect(list.credentials.map(\.id) == [card.id] && list.credentials[0].card.token == "tok_9f/=?")
            // The same card again is the same stored card, with a second agreement.
            try shop.reader.obey("remove")
            let (again, second) = try await store(shop, "unscheduled")
            #expect(again.id == card.id && again.agreements.count == 2 && second.kind == .unscheduled)
        }
    }

    @Test func `S1: a till's consent is an agreement without a regular interval`() async throws {
        try await shop(in: TestFolder()) { shop, _ in
            let stored = try await check(shop, "saveCard", #","consent":"form 12, signed","language":"de""#)
            let agreement = try #require(stored.credential?.agreements.first)
            #expect(agreement.kind == .unscheduled && agreement.text == "form 12, signed" && agreement.language == "de")
            for (more, code) in [
                ("", "request.missing_field"), (#","consent":"""#, "request.missing_field"),
                (#","consent":"a","agreement":\#(try self.agreement())"#, "request.field_conflict"),
            ] {
                let answer = try await shop.post(
                    #"{"type":"verification","currency":"EUR","reason":"saveCard"\#(more)}"#)
                #expect(answer.status == 400)
                #expect(try answer.error().code == code)
            }
        }
    }

    @Test func `S3: without a name for the card nothing is stored, and nothing is pretended`() async throws {
        try await shop(in: TestFolder()) { shop, service in
            for fault in [StoredCardService.Fault.noToken, .cardNumber] {
                service.fail(fault)
                let read = try await check(shop, "saveCard", #","agreement":\#(try agreement())"#)
                #expect(read.state == .approved && read.credential == nil)
                #expect(read.error?.code == "stored_card.not_given")
                let later = try await shop.get("/v1/transactions/\(read.id)").transaction()
                #expect(later.credential == nil && later.error?.code == "stored_card.not_given")
            }
            #expect(try shop.journal("SELECT count(*) FROM credential") == "0")
            #expect(try shop.journal("SELECT group_concat(end) FROM agreement") == "notGiven,notGiven")
        }
    }

    @Test func `An agreement whose card never came is ended`() async throws {
        try await shop(in: TestFolder()) { shop, _ in
            let id = try await shop.post(
                #"{"type":"verification","currency":"EUR","reason":"saveCard","consent":"told"}"#
            ).transaction().id
            _ = try await shop.delete("/v1/transactions/\(id)")
            _ = try await shop.reach([.cancelled], id)
            #expect(try shop.journal("SELECT end FROM agreement") == "notGiven")
        }
    }

    @Test func `S5 to S7: a charge says what the service has to know, is booked like a sale, and is refunded like one`()
        async throws
    {
        let log = KeptLog()
        var wish = Shop.Wish()
        wish.logger = log.logger
        try await shop(in: TestFolder(), wish) { shop, service in
            let (card, agreement) = try await store(shop)
            let answer = try await charge(shop, card.id, agreement.id, more: #","order":"ABO-12""#, key: "abo-12")
            #expect(answer.status == 201)
            let charged = try answer.transaction()
            #expect(charged.state == .approved && charged.type == .charge && charged.lane == "-")
            #expect(charged.history.map(\.state) == [.created, .sent, .approved])
            #expect(charged.details?.charge?.credential == card.id && charged.account?.captured == 1_900)
            let told = service.body("charges")
            #expect(told["id"] as? String == charged.id.text && told["token"] as? String == "tok_9f/=?")
            #expect(told["initiator"] as? String == "merchant" && told["reason"] as? String == "recurring")
            #expect(told["order"] as? String == "ABO-12" && told["networkReference"] as? String == "NET-1")
            #expect((told["agreement"] as? [String: Any])?["hash"] as? String == agreement.hash)
            #expect((told["amount"] as? [String: Any])?["value"] as? Int == 1_900)
            let again = try await charge(shop, card.id, agreement.id, more: #","order":"ABO-12""#, key: "abo-12")
            #expect(again.fields.only("Idempotency-Replayed") == "true")
            #expect(try again.transaction().id == charged.id && service.charged.count == 1)
            let second = try await charge(shop, card.id, agreement.id, more: #","order":"ABO-12""#)
            #expect(try second.error().code == "order.paid")
            #expect(
                try shop.journal(
                    "SELECT entry || ' ' || hold || '/' || money FROM ledger WHERE payment = '\(charged.id)'")
                    == "captured 0/1900")
            let refund = try await shop.post(
                #"{"type":"refund","of":"\#(charged.id)","amount":{"value":900,"currency":"EUR"}}"#, wait: 20)
            #expect(try refund.transaction().state == .approved)
            let tooMuch = try await shop.post(
                #"{"type":"refund","of":"\#(charged.id)","amount":{"value":1001,"currency":"EUR"}}"#, wait: 20)
            #expect(try tooMuch.error().limit?.value == 1_000)
            let list = try await shop.get("/v1/transactions?type=charge")
            #expect(
                try WireJSON.decode(TransactionList.self, from: list.body).transactions.map(\.id) == [charged.id])
            #expect(try await shop.get("/v1/totals?by=type").text.contains(#""type":"charge""#))
            #expect(try await shop.get("/v1/transactions/\(charged.id)/receipt").status == 200)
            // The token is in no event and no line of the log.
            let events = try await shop.get("/v1/transactions/\(charged.id)").transaction().events ?? []
            #expect(!events.isEmpty && events.allSatisfy { $0.card?.token == nil })
            #expect(log.all.allSatisfy { !"\($0)".contains("tok_9f") })
        }
    }

    @Test func `S5 and S6: what no agreement allows is not charged`() async throws {
        try await shop(in: TestFolder()) { shop, service in
            let (card, agreement) = try await store(shop)
            let nobody = StoredCardID()
            let cases: [(StoredCardID, AgreementID, Int64, String, String, Int, String)] = [
                (nobody, agreement.id, 1_900, "recurring", "", 404, "stored_card.unknown"),
                (card.id, AgreementID(), 1_900, "recurring", "", 409, "agreement.missing"),
                (card.id, agreement.id, 1_900, "unscheduled", "", 409, "agreement.missing"),
                (card.id, agreement.id, 2_501, "recurring", "", 422, "agreement.exceeded"),
                (card.id, agreement.id, 0, "recurring", "", 422, "amount.total_not_positive"),
                (card.id, agreement.id, 1, "resubmission", "", 400, "request.missing_field"),
                (
                    card.id, agreement.id, 1, "resubmission", #","of":"\#(TransactionID())""#, 404,
                    "transaction.unknown"
                ),
                (card.id, agreement.id, 1, "recurring", #","lane":"lane-0""#, 400, "request.field_not_applicable"),
                (card.id, agreement.id, 1, "recurring", #","cvv":"123""#, 400, "request.unknown_field"),
            ]
            for (card, agreement, value, reason, more, status, code) in cases {
                let answer = try await charge(shop, card, agreement, value, reason: reason, more: more)
                #expect(answer.status == status)
                #expect(try answer.error().code == code)
                if code == "agreement.exceeded" { #expect(try answer.error().limit?.value == 2_500) }
            }
            let customer = try await shop.post(
                #"{"type":"charge","credential":"\#(card.id)","agreement":"\#(agreement.id)","initiator":"customer","#
                    + #""reason":"recurring","amount":{"value":1,"currency":"EUR"}}"#)
            #expect(try customer.error().code == "charge.not_supported")
            // What follows from something names it, and needs no agreement of its own kind.
            let sale = try await charge(shop, card.id, agreement.id, 100)
            let more = #","of":"\#(try sale.transaction().id)""#
            let follow = try await charge(shop, card.id, agreement.id, 50, reason: "partialShipment", more: more)
            #expect(try follow.transaction().state == .approved)
            #expect(service.charged.values.sorted() == [50, 100])
            // Ended, it allows nothing; what is agreed anew does.
            let ended = try await shop.delete("/v1/agreements/\(agreement.id)")
            #expect(try WireJSON.decode(Agreement.self, from: ended.body).end == .ended)
            #expect(try await charge(shop, card.id, agreement.id).error().code == "agreement.ended")
            let terms = try self.agreement("unscheduled", more: #","until":"2020-01-01T00:00:00.000Z""#)
            for (body, code) in [(terms, "agreement.ended"), (try self.agreement("unscheduled"), "")] {
                let made = try await shop.send(
                    HTTPClientRequest(
                        .post, "/v1/credentials/\(card.id)/agreements",
                        fields: ["Content-Type": "application/json", "Idempotency-Key": UUID().uuidString],
                        body: Array(body.utf8)))
                #expect(made.status == 201)
                let agreed = try WireJSON.decode(Agreement.self, from: made.body)
                let answer = try await charge(shop, card.id, agreed.id, reason: "unscheduled")
                if code.isEmpty {
                    #expect(try answer.transaction().state == .approved)
                } else {
                    #expect(try answer.error().code == code)
                }
            }
        }
    }

    @Test func `Two charges of one order at once: one is carried out`() async throws {
        try await shop(in: TestFolder()) { shop, service in
            let (card, agreement) = try await store(shop)
            let answers = try await withThrowingTaskGroup(of: Answer.self) { group in
                for _ in 0..<8 {
                    group.addTask { try await charge(shop, card.id, agreement.id, more: #","order":"ABO-13""#) }
                }
                return try await group.reduce(into: [Answer]()) { $0.append($1) }
            }
            #expect(answers.count { $0.status == 201 } == 1 && service.charged.count == 1)
            for answer in answers where answer.status != 201 {
                #expect(["order.unresolved", "order.paid"].contains(try answer.error().code))
            }
        }
    }

    @Test func `A lost answer is asked for; one that nobody can give ends as a reversal, like a sale's`() async throws {
        try await shop(in: TestFolder()) { shop, service in
            let (card, agreement) = try await store(shop)
            service.fail(.lostAfter)
            let found = try await charge(shop, card.id, agreement.id, 100).transaction()
            #expect(found.state == .approved && service.reversals == 0 && service.charged[found.id.text] == 100)
            for fault in [StoredCardService.Fault.forgotten, .otherAmount] {
                service.fail(fault)
                let lost = try await charge(shop, card.id, agreement.id, 200).transaction()
                let end = try await shop.reach([.reversed], lost.id)
                #expect(end.account?.captured ?? 0 == 0 && service.charged[lost.id.text] == nil)
            }
            #expect(service.charged.values.sorted() == [100])
        }
    }

    @Test func `S8: a decline that says stop ends the agreement, and one that says later does not`() async throws {
        try await shop(in: TestFolder()) { shop, service in
            let (card, agreement) = try await store(shop)
            service.fail(.decline("51", retry: "later"), .decline("43", retry: "never"))
            for (retry, after) in [(RetryAdvice.later, Agreement.End?.none), (.never, .stopped)] {
                let declined = try await charge(shop, card.id, agreement.id).transaction()
                #expect(declined.state == .declined && declined.result?.retry == retry)
                #expect(try await credential(shop, card.id).agreements.map(\.end) == [after])
            }
            let refused = try await charge(shop, card.id, agreement.id)
            #expect(refused.status == 409)
            #expect(try refused.error().code == "agreement.stopped")
        }
    }

    @Test func `S9: a deletion is told until the service has said so, over a restart, and the token is nowhere then`()
        async throws
    {
        let folder = try TestFolder()
        let service = StoredCardService()
        var id = StoredCardID()
        var agreed = AgreementID()
        try await shop(in: folder, Shop.Wish(), service) { shop, service in
            let (card, agreement) = try await store(shop)
            (id, agreed) = (card.id, agreement.id)
            #expect(try await charge(shop, id, agreed, 100).transaction().state == .approved)
            service.state.withLock { $0.faults = Array(repeating: .unavailable, count: 10_000) }
            let answer = try await shop.delete("/v1/credentials/\(id)")
            #expect(answer.status == 200)
            #expect(try WireJSON.decode(StoredCard.self, from: answer.body).state == .deleting)
            #expect(try await charge(shop, id, agreed).error().code == "stored_card.deleted")
            _ = try await eventually("the service was asked") { service.deletions > 0 ? true : nil }
            #expect(try await credential(shop, id).state == .deleting && !service.tokens.isEmpty)
        }
        // None of these says that it has forgotten the card.
        let before = service.deletions
        service.fail(.later, .otherCard, .noPath)
        try await shop(in: folder, Shop.Wish(), service) { shop, service in
            let gone = try await eventually("the service has said so") { () -> StoredCard? in
                let card = try await credential(shop, id)
                return card.state == .deleted ? card : nil
            }
            #expect(service.deletions == before + 4 && service.tokens.isEmpty)
            #expect(gone.card.token == nil && gone.deletedAt != nil && gone.agreements.map(\.end) == [.deleted])
            #expect(gone.agreements[0].text == Self.text)
            #expect(try await charge(shop, id, agreed).error().code == "stored_card.deleted")
            #expect(try await shop.get("/v1/credentials").text == #"{"credentials":[]}"#)
            let asked = service.deletions
            #expect(try await shop.delete("/v1/credentials/\(id)").status == 200)
            #expect(service.deletions == asked)
        }
        let file = try Data(contentsOf: URL(filePath: folder.path + "/state/journal.sqlite"))
        #expect(file.range(of: Data("tok_9f".utf8)) == nil)
    }

    @Test func `S10: a look-up says what the card did before, from the journal alone`() async throws {
        try await shop(in: TestFolder()) { shop, service in
            let (card, agreement) = try await store(shop)
            let charged = try await charge(shop, card.id, agreement.id, 700, more: #","order":"T-1""#).transaction()
            let found = try await check(shop, "lookUp")
            let earlier = try #require(found.earlier)
            #expect(earlier.map(\.id) == [charged.id, card.transaction] && earlier[0].refundable == 700)
            #expect(earlier[0].order == "T-1" && earlier[0].type == .charge && earlier[1].refundable == nil)
            #expect(service.state.withLock { $0.bodies.count } == 3)
        }
    }

    @Test func `Only administrators and the group of [credentials] charge and see tokens`() throws {
        let access = Access(groups: [.admin: 10, .cashier: 20], owner: 500, chargers: 50)
        for (groups, may) in [([10], true), ([50], true), ([20], false), ([20, 50], true), ([99], false)] {
            let peer = PeerCredentials(
                processID: 1, userID: 1_000, groupID: 1_000, supplementaryGroupIDs: groups.map { UInt32($0) })
            #expect(access.mayCharge(peer) == may)
            #expect(access.roles(of: peer).isEmpty == (groups == [99]))
        }
        #expect(Access(groups: [:], owner: 500).mayCharge(PeerCredentials(processID: 1, userID: 500, groupID: 1)))
    }
}
