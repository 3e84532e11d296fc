// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PSPAPI
import PaymentValues
import Testing

@testable import Transactions

@Suite("The machine of a stored card's charge")
struct ChargeMachineTests {
    private let agreement = Agreement(
        AgreementID(), AgreementTerms(.recurring, text: "I agree", language: "en"), hash: "00",
        agreedAt: Timestamp(milliseconds: 0))

    private func machine() throws -> TransactionMachine {
        let euro = try #require(Currency("EUR"))
        let transaction = Transaction(
            id: TransactionID(), type: .charge, mode: .test, lane: "-", amount: Money(value: 1_900, currency: euro),
            order: "ABO-12", createdAt: now.wall)
        let card = try #require(
            MaskedCard(scheme: "Visa", last4: "0010", masked: "************0010", token: "tok"))
        var demand = TransactionParameters(kind: .sale, owner: Principal(uid: 1))
        demand.charge = StoredCharge(
            ChargeRequest(
                id: transaction.id, mode: .test, amount: transaction.amount, terminal: "1", token: "tok",
                under: agreement,
                ChargeOptions(StoredCardID(), under: agreement.id, .merchant, .recurring)), of: card)
        return TransactionMachine(transaction, demand, at: now)
    }

    private let now = Moment(monotonic: 1_000, wall: Timestamp(milliseconds: 1_700_000_000_000))

    private func write(_ effects: [Effect]) -> Write? {
        for case .write(let write) in effects { return write }
        return nil
    }

    private func words(_ effects: [Effect]) -> [String] {
        effects.map { effect in
            switch effect {
            case .write(let write): "write \(write.changes.map(\.state.rawValue))"
            case .local(.connect): "connect"
            case .local(.disarm): "disarm"
            case .local(let local): "\(local)"
            case .outward(.publish(let event), _): event.name.rawValue
            case .outward(.charge(_, let question, let isAgain, _), _): "charge \(question) \(isAgain)"
            case .outward(.query(_, let question, _), _): "query \(question)"
            case .outward(.reverse(_, let question), _): "reverse \(question)"
            case .outward(let outward, _): "\(outward)".prefix { $0 != "(" }.description
            }
        }
    }

    @Test func `It goes from created to sent to its end, and no event has the token`() throws {
        var machine = try machine()
        let begun = machine.take(.begin, at: now)
        #expect(words(begun) == ["connect"])
        let sending = machine.take(.connected, at: now)
        let sent = try #require(write(sending))
        #expect(words(sending) == [#"write ["sent"]"#] && sent.form == .charge)
        #expect(sent.changes.first?.card?.token == "tok")
        let out = machine.take(.written(sent.number), at: now)
        #expect(words(out) == ["payment.authorizing", "charge 1 false"])
        let answered = machine.take(
            .replied(.answered(AuthorizationAnswer(outcome: .approved, responseCode: "00")), question: 1), at: now)
        let approved = try #require(write(answered))
        #expect(approved.changes.map(\.state) == [.approved])
        let told = machine.take(.written(approved.number), at: now)
        #expect(words(told).first == "payment.approved" && machine.isOver)
        for case .outward(.publish(let event), _) in out + told { #expect(event.card?.token == nil) }
    }

    @Test func `What allows it has ended before it was sent: it fails, and nothing goes out`() throws {
        var machine = try machine()
        _ = machine.take(.begin, at: now)
        let sent = try #require(write(machine.take(.connected, at: now)))
        let refused = machine.take(.notWritten(sent.number, .notAllowed(.agreementEnded)), at: now)
        let failed = try #require(write(refused))
        #expect(failed.changes.map(\.state) == [.failed])
        #expect(failed.changes.first?.error?.code == "agreement.ended")
        _ = machine.take(.written(failed.number), at: now)
        #expect(machine.isOver && machine.transaction.state == .failed)
    }

    @Test func `Where nobody is reached it fails; a connection that comes late changes nothing`() throws {
        var machine = try machine()
        _ = machine.take(.begin, at: now)
        let failed = try #require(write(machine.take(.notConnected, at: now)))
        #expect(failed.changes.first?.error?.code == "psp.unreachable")
        _ = machine.take(.written(failed.number), at: now)
        let late = machine.take(.connected, at: now)
        #expect(late.isEmpty)
    }

    @Test func `A service that has never seen it is asked again with the same key, and a doubt ends as a reversal`()
        throws
    {
        var machine = try machine()
        _ = machine.take(.begin, at: now)
        let sent = try #require(write(machine.take(.connected, at: now)))
        _ = machine.take(.written(sent.number), at: now)
        let unknown = try #require(write(machine.take(.replied(.unusable, question: 1), at: now)))
        #expect(unknown.changes.map(\.state) == [.unknown])
        _ = machine.take(.written(unknown.number), at: now)
        var later = now
        later.monotonic += 1_000
        let asked = machine.take(.due, at: later)
        #expect(words(asked) == ["query 2"])
        let resent = machine.take(.replied(.neverSeen, question: 2), at: later)
        #expect(words(resent) == ["charge 3 true"])
        let refused = machine.take(
            .replied(.answered(AuthorizationAnswer(outcome: .declined, responseCode: "05")), question: 3), at: later)
        let reversed = try #require(write(refused))
        #expect(reversed.changes.map(\.state) == [.reversing])
    }

    @Test func `A restart takes back what was sent, and ends what was not`() throws {
        for (state, end) in [(TransactionState.created, TransactionState.failed), (.sent, .reversing)] {
            var transaction = try machine().transaction
            transaction.state = state
            transaction.history.append(Transaction.Step(state: state, at: now.wall))
            var machine = TransactionMachine(
                recorded: transaction, TransactionParameters(kind: .sale, owner: Principal(uid: 1)), at: now)
            let recovered = try #require(write(machine.take(.recover(), at: now)))
            #expect(recovered.changes.map(\.state) == [end])
        }
    }
}
