// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PSPAPI
import PaymentValues
import TestSupport
import Testing
import Transactions

@testable import Journal

@Suite("Stored cards in the journal")
struct StoredCardJournalTests {
    private let service = AskedService(serviceName: "service", socket: "/run/psp.sock")

    private func check(_ books: BookedJournal, _ terms: AgreementTerms) throws -> NewTransaction {
        var new = try books.new(.verification, 0)
        new.service = service
        new.agreement = Agreement(
            AgreementID(), terms, hash: Journal.hash(of: terms.text), agreedAt: books.now)
        _ = try books.journal.create(new)
        return new
    }

    private func approve(_ books: BookedJournal, _ id: TransactionID, token: String?) throws {
        let states: [TransactionState] = [.armed, .reading, .sealed, .sent]
        for state in states { try books.journal.append([StateChange(state, at: books.now)], to: id) }
        var approved = StateChange(.approved, at: books.now)
        approved.card = MaskedCard(scheme: "Visa", last4: "0010", masked: "************0010", token: token)
        try books.journal.append([approved], to: id)
    }

    private func stored(
        _ books: BookedJournal, kind: AgreementTerms.Kind = .recurring, token: String = "tok"
    ) throws -> StoredCard {
        let new = try check(books, AgreementTerms(kind, text: "I agree", language: "en"))
        try approve(books, new.id, token: token)
        return try #require(try books.journal.storedCard(with: new.id))
    }

    private func charge(
        _ books: BookedJournal, _ card: StoredCard, _ reason: ChargeOptions.Reason = .recurring
    ) throws -> NewTransaction {
        var new = try books.new(.charge, 1_900)
        let agreement = try #require(card.agreements.last)
        var request = TransactionRequest(type: .charge, amount: new.amount)
        request.charge = ChargeOptions(card.id, under: agreement.id, .merchant, reason)
        new.details = TransactionDetails(request)
        return new
    }

    @Test func `What has ended is proof for its time and erased then; what lives, and a card that has proof, stay`()
        throws
    {
        let books = try BookedJournal()
        let card = try stored(books)
        let agreement = try #require(card.agreements.last)
        let owner = try books.new(.charge, 1).owner
        let ended = books.now
        let later = ended.advanced(bySeconds: 1)
        #expect(try books.journal.eraseProofs(endedBefore: later, at: later) == 0)
        _ = try books.journal.endAgreement(agreement.id, by: owner, at: ended)
        #expect(try books.journal.eraseProofs(endedBefore: ended, at: later) == 0)
        #expect(try books.journal.eraseProofs(endedBefore: later, at: later) == 1)
        #expect(try books.journal.agreement(agreement.id) == nil)
        // The card is not deleted: it can be charged under what is agreed to next.
        #expect(try books.journal.storedCard(card.id)?.state == .active)
        let deleted = books.now
        _ = try books.journal.beginDeletion(of: card.id, mode: .test, by: owner, at: deleted)
        try books.journal.endDeletion(of: card.id, at: deleted)
        let afterwards = deleted.advanced(bySeconds: 1)
        _ = try books.journal.eraseProofs(endedBefore: deleted, at: afterwards)
        #expect(try books.journal.storedCard(card.id)?.state == .deleted)
        _ = try books.journal.eraseProofs(endedBefore: afterwards, at: afterwards)
        #expect(try books.journal.storedCard(card.id) == nil)
    }

    @Test(
        "Row 30 of the guidance: of a tab one charge stands at most, whatever has become of the one before",
        arguments: [
            ([], false), ([.sent], false), ([.sent, .unknown], false), ([.sent, .approved], false),
            ([.sent, .reversing], false), ([.sent, .reversing, .reversed], true), ([.sent, .declined], true),
            ([.failed], true), ([.cancelled], true),
        ] as [([TransactionState], Bool)])
    func tab(states: [TransactionState], mayAgain: Bool) throws {
        let books = try BookedJournal()
        let euro = try #require(Currency("EUR"))
        let terms = AgreementTerms(
            .unscheduled, text: "I pay what I order", language: "en", maximum: Money(value: 20_000, currency: euro),
            until: books.now.advanced(bySeconds: 36_000), once: true)
        let check = try check(books, terms)
        try approve(books, check.id, token: "tok")
        let card = try #require(try books.journal.storedCard(with: check.id))
        let first = try charge(books, card, .unscheduled)
        guard case .created = try books.journal.createCharge(first) else { throw JournalError.damaged }
        for state in states {
            if state == .sent {
                #expect(try books.journal.beginCharge(first.id, StateChange(.sent, at: books.now)) == nil)
            } else {
                try books.journal.append([StateChange(state, at: books.now)], to: first.id)
            }
        }
        let second = try books.journal.createCharge(try charge(books, card, .unscheduled))
        switch second {
        case .created: #expect(mayAgain, "\(states)")
        case .refused(let refusal):
            // A charge that may yet move money is named; whoever let the customer agree again would charge twice.
            let isOpen = states.last?.blocksOrder ?? true
            #expect(!mayAgain && refusal.code == (isOpen ? .orderUnresolved : .storedCardDeleted), "\(refusal)")
            #expect(refusal.transaction == (isOpen ? first.id : nil))
        case .known: Issue.record("\(second)")
        }
        let known = try #require(try books.journal.storedCard(card.id))
        #expect(known.agreements.map(\.end) == [states.last == .approved ? .ended : nil])
        #expect(known.state == (states.last == .approved ? .deleting : .active))
        // Whoever opened it charges it; what was agreed otherwise, and by others, is not his.
        #expect(try books.journal.hasOpened(try #require(card.agreements.first).id, check.owner))
        #expect(try !books.journal.hasOpened(try #require(card.agreements.first).id, Principal(uid: 4_711)))
        let recurring = try stored(books, token: "other")
        #expect(try !books.journal.hasOpened(try #require(recurring.agreements.first).id, check.owner))
    }

    @Test func `An agreement that ends between created and sent: the charge is not sent, and nothing is written`()
        throws
    {
        let books = try BookedJournal()
        let card = try stored(books)
        let new = try charge(books, card)
        guard case .created = try books.journal.createCharge(new) else {
            Issue.record("not created")
            return
        }
        let agreement = try #require(card.agreements.last)
        _ = try books.journal.endAgreement(agreement.id, by: new.owner, at: books.now)
        #expect(try books.journal.beginCharge(new.id, StateChange(.sent, at: books.now)) == .agreementEnded)
        #expect(try books.journal.record(new.id)?.transaction.state == .created)
    }

    @Test func `A card that is deleted between created and sent is not charged`() throws {
        let books = try BookedJournal()
        let card = try stored(books)
        let new = try charge(books, card)
        _ = try books.journal.createCharge(new)
        _ = try books.journal.beginDeletion(of: card.id, mode: .test, by: new.owner, at: books.now)
        #expect(try books.journal.beginCharge(new.id, StateChange(.sent, at: books.now)) == .storedCardDeleted)
        // A restart in between finds the deletion and goes on with it.
        try books.reopen()
        #expect(try books.journal.openDeletions().map(\.request.id) == [card.id])
        #expect(try books.journal.openDeletions().first?.service == service)
        try books.journal.endDeletion(of: card.id, at: books.now)
        #expect(try books.journal.openDeletions().isEmpty)
        #expect(try books.sqlite("SELECT count(*) FROM payment WHERE card_token IS NOT NULL") == "0")
        try books.reopen()
        #expect(try books.journal.damagedPayments().isEmpty)
    }

    @Test func `While a card is being deleted it is not stored again under the same name`() throws {
        let books = try BookedJournal()
        let card = try stored(books)
        _ = try books.journal.beginDeletion(of: card.id, mode: .test, by: Principal(uid: 1), at: books.now)
        let again = try check(books, AgreementTerms(.unscheduled, text: "Again", language: "en"))
        try approve(books, again.id, token: "tok")
        #expect(try books.journal.storedCard(with: again.id) == nil)
        #expect(try books.journal.record(again.id)?.transaction.error?.code == "stored_card.not_given")
        try books.journal.endDeletion(of: card.id, at: books.now)
        #expect(try stored(books).id != card.id)
    }

    @Test func `Nobody alters an agreement, ends it twice, or brings a deleted card back`() throws {
        let books = try BookedJournal()
        let card = try stored(books)
        let agreement = try #require(card.agreements.last)
        for sql in [
            "UPDATE agreement SET terms = '{}'", "UPDATE agreement SET hash = 'x'",
            "UPDATE agreement SET agreed_at = 0",
            "UPDATE agreement SET credential = NULL", "DELETE FROM agreement",
            "UPDATE credential SET state = 'deleted'",
        ] {
            #expect(throws: JournalError.self, "\(sql)") { try books.tamper(sql) }
        }
        let first = try books.journal.endAgreement(agreement.id, by: Principal(uid: 1), at: books.now)
        #expect(try books.journal.endAgreement(agreement.id, by: Principal(uid: 2), at: books.now) == first)
        _ = try books.journal.beginDeletion(of: card.id, mode: .test, by: Principal(uid: 1), at: books.now)
        #expect(throws: JournalError.self) { try books.tamper("UPDATE credential SET state = 'active'") }
    }

    @Test func `A token of another service, or of the other mode, is another card's`() throws {
        let books = try BookedJournal()
        let card = try stored(books)
        #expect(try books.journal.storedCards(mode: .live, token: "tok").isEmpty)
        #expect(try books.journal.beginDeletion(of: card.id, mode: .live, by: Principal(uid: 1), at: books.now) == nil)
        var new = try books.new(.verification, 0)
        new.service = AskedService(serviceName: "other", socket: "/run/other.sock")
        new.agreement = Agreement(
            AgreementID(), AgreementTerms(.recurring, text: "I agree", language: "en"),
            hash: Journal.hash(of: "I agree"), agreedAt: books.now)
        _ = try books.journal.create(new)
        try approve(books, new.id, token: "tok")
        #expect(try books.journal.storedCard(with: new.id)?.id != card.id)
    }
}
