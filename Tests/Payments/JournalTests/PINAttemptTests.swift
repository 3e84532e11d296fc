// SPDX-License-Identifier: Apache-2.0
import Foundation
import Journal
import PINDeviceAPI
import POSAPI
import PSPAPI
import PaymentValues
import TestSupport
import Testing
import Transactions

@Suite("Entries of a PIN in the journal")
struct PINAttemptTests {
    private let attempt = PINAttempt(id: PINAttemptID(), device: "pad-1", format: 4, keySet: "tmk-7")

    private func asked(_ body: (Journal, TransactionID, BookedJournal) throws -> Void) throws {
        let books = try BookedJournal()
        let new = try books.new(.purchase, 5)
        _ = try books.journal.create(new)
        var sealed = StateChange(.sealed)
        sealed.pin = attempt
        sealed.authorization = try request(new.id)
        try books.journal.append([StateChange(.armed), StateChange(.reading), sealed], to: new.id)
        try body(try books.journal, new.id, books)
    }

    /// With a PIN in it, which nothing ever hands over.
    private func request(_ id: TransactionID) throws -> AuthorizationRequest {
        var request = AuthorizationRequest(
            id: id, mode: .test, type: .sale, amount: Money(value: 5, currency: Currency("EUR") ?? .none),
            entryMode: .contactlessEMV, cvm: .onlinePIN, emv: "",
            card: try #require(MaskedCard(scheme: "Visa", last4: "0010", masked: "************0010")),
            envelope: "sealed", terminal: .init(id: "1", merchant: "m", capabilities: []))
        request.pin = OnlinePIN(
            attempt: attempt.id, format: 4, keySet: "tmk-7", algorithm: "AES-128", ksn: "KSN-IN-CLEAR",
            block: "BLOCK-ON-DISK", device: .init(serial: "1"))
        return request
    }

    private func end(_ state: TransactionState, _ pin: PINAttempt.State?) -> StateChange {
        var change = StateChange(state)
        if let pin {
            change.pin = attempt
            change.pin?.state = pin
        }
        return change
    }

    private func rows(_ books: BookedJournal) throws -> String {
        try books.sqlite("SELECT device, format, key_set, state, ended_at IS NULL FROM pin_attempt")
    }

    @Test("An issuer's wish is noted beside a payment that stays sent, and beside no other")
    func asked() throws {
        try asked { journal, id, path in
            var second = PINAttempt(id: PINAttemptID(), device: "pad-1", format: 4, keySet: "tmk-7")
            #expect(try journal.note(second, whileSent: id, at: .now) == false)
            try journal.append([end(.sent, .sent)], to: id)
            #expect(try journal.note(second, whileSent: id, at: .now))
            #expect(try journal.awaitedPINs().map(\.id) == [second.id])
            #expect(try rows(path) == "pad-1|4|tmk-7|sent|0\npad-1|4|tmk-7|asked|1")
            second.state = .sent
            #expect(try journal.note(second, whileSent: id, at: .now))
            #expect(try journal.awaitedPINs().isEmpty && journal.record(id)?.transaction.state == .sent)
            var third = PINAttempt(id: PINAttemptID(), device: "pad-1", format: 4, keySet: "tmk-7")
            #expect(try journal.note(third, whileSent: id, at: .now))
            // What ends the payment ends what waits.
            try journal.append([StateChange(.declined)], to: id)
            #expect(try journal.awaitedPINs().isEmpty)
            third.state = .sent
            #expect(try journal.note(third, whileSent: id, at: .now) == false)
        }
    }

    @Test("One that waits is known, and it ends as it is told")
    func told() throws {
        for (state, pin) in [
            (TransactionState.sent, PINAttempt.State.sent), (.cancelled, .cancelled), (.failed, .timedOut),
        ] {
            try asked { journal, id, books in
                #expect(try journal.awaitedPINs().map(\.id) == [attempt.id])
                #expect(try rows(books) == "pad-1|4|tmk-7|asked|1")
                try journal.append([end(state, pin)], to: id)
                #expect(try journal.awaitedPINs().isEmpty)
                #expect(try rows(books) == "pad-1|4|tmk-7|\(pin.rawValue)|0")
            }
        }
    }

    @Test("One of which nobody says more ends with its payment, and an end is for good")
    func untold() throws {
        try asked { journal, id, books in
            try journal.append([end(.failed, nil)], to: id)
            #expect(try rows(books) == "pad-1|4|tmk-7|failed|0")
            #expect(try journal.awaitedPINs().isEmpty)
        }
        try asked { journal, id, books in
            try journal.append([end(.sent, .sent)], to: id)
            #expect(throws: JournalError.self) { try journal.append([end(.declined, .cancelled)], to: id) }
            #expect(try rows(books) == "pad-1|4|tmk-7|sent|0")
            #expect(try journal.record(id)?.transaction.state == .sent, "all of a write or nothing")
        }
    }

    @Test("It is erased with its payment")
    func erased() throws {
        try asked { journal, id, books in
            try journal.append([end(.cancelled, .cancelled)], to: id)
            let later = Timestamp(milliseconds: Timestamp.now.milliseconds + 1_000)
            #expect(try journal.eraseTransactions(endedBefore: later, at: later) == 1)
            #expect(try rows(books) == "")
        }
    }

    @Test("Whoever hands over a PIN block, it is in no file of the journal")
    func neverWritten() throws {
        try asked { journal, id, books in
            #expect(try journal.record(id)?.authorization?.envelope == "sealed")
            #expect(try journal.record(id)?.authorization?.pin == nil)
            for (_, data) in try filesOnDisk(in: books.path) {
                #expect(data.range(of: Data("BLOCK-ON-DISK".utf8)) == nil)
                #expect(data.range(of: Data("KSN-IN-CLEAR".utf8)) == nil)
            }
        }
    }
}
