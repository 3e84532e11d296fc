// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PSPAPI
import PaymentValues
import Testing

@testable import Transactions

@Suite("Row 27 of the guidance: a read whose card wanted a PIN, in the machine")
struct KeptReadMachineTests {
    private static let toReading: [Move] = [.begin, .prepared, .written, .cardDetected, .written]

    /// A card that declines for want of a PIN, and what is done in the two steps after it.
    private func declined(_ type: TransactionType = .purchase, keeps: Bool = true) throws -> (Stage, [Effect]) {
        var demand = Scenario.payment.demand
        demand.keepsRead = keeps
        let transaction = Sample.transaction(type)
        var stage = Stage(transaction, demand)
        for move in Self.toReading { stage.play(move) }
        #expect(stage.faults.isEmpty && stage.books.transaction.state == .reading)
        let read = KeptRead(try #require(Sample.request(transaction)))
        var effects = stage.machine.take(.declinedOffline(Sample.card, nil, .cardDeclined, read: read), at: stage.now)
        for case .write(let write) in effects {
            effects += stage.machine.take(.written(write.number), at: stage.now)
        }
        return (stage, effects)
    }

    private func kept(_ effects: [Effect]) -> [(KeptRead, Int64)] {
        effects.compactMap { if case .outward(.keepRead(let read, let end), _) = $0 { (read, end) } else { nil } }
    }

    @Test func `what the card gave is kept for four minutes, and the result says so and names the other ways first`()
        throws
    {
        let (stage, effects) = try declined()
        let result = try #require(stage.machine.transaction.result)
        #expect(result.outcome == .declined && result.reason == .otherInterfaceNeeded)
        #expect(result.action == .useOtherTerminal)
        #expect(result.next == [.otherInterface, .paymentLink, .otherCard, .otherMethod])
        #expect(result.readKeptUntil == stage.now.wall.advanced(bySeconds: 240))
        let all = kept(effects)
        #expect(all.count == 1 && all.first?.0.envelope == "sealed")
        #expect(all.first?.1 == stage.now.monotonic + 240_000)
    }

    @Test func `it is written into no journal`() throws {
        let (_, effects) = try declined()
        for case .write(let write) in effects {
            #expect(write.changes.allSatisfy { $0.authorization == nil } && write.form == .append)
        }
    }

    @Test func `where nobody goes on with it nothing is kept, and the card's no is the end as before`() throws {
        let (stage, effects) = try declined(keeps: false)
        let result = try #require(stage.machine.transaction.result)
        #expect(kept(effects).isEmpty && result.readKeptUntil == nil)
        #expect(result.reason == .cardDeclined && result.next == [.otherCard, .otherMethod, .paymentLink])
    }

    @Test(
        "An issuer's wish keeps the read where the payment service says until when; an approval never does",
        arguments: [AuthorizationAnswer.Action.pinRequired, .useContact, .tryAgain, .callIssuer, .none])
    func issuer(action: AuthorizationAnswer.Action) throws {
        var answer = AuthorizationAnswer(outcome: .declined, responseCode: "70")
        (answer.action, answer.readKeptUntil) = (action, Sample.start.wall)
        let result = PaymentResult(answer, mode: .test)
        let isKept = action == .pinRequired || action == .useContact
        #expect(result.readKeptUntil == (isKept ? Sample.start.wall : nil))
        #expect(result.next?.contains(.paymentLink) == (action != .tryAgain))
        if isKept { #expect(result.next?.first == .otherInterface) }
        answer.outcome = .approved
        #expect(PaymentResult(answer, mode: .test).readKeptUntil == nil)
        // Silent about it, a service goes on as it did.
        answer.outcome = .declined
        answer.readKeptUntil = nil
        let former = PaymentResult(answer, mode: .test)
        #expect(former.readKeptUntil == nil && (!isKept || former.next?.contains(.paymentLink) == false))
    }

    @Test func `the shelf forgets a read when its time is over, and the end of its sale does not prolong that`() {
        var shelf = MemoryShelf<String>()
        let now = Sample.start
        shelf.keep("read", of: Sample.id, until: now.monotonic + 240_000)
        shelf.expire(at: Moment(monotonic: now.monotonic + 239_999, wall: now.wall))
        #expect(shelf[Sample.id] == "read" && shelf.due == now.monotonic + 240_000)
        shelf.expire(at: Moment(monotonic: now.monotonic + 240_000, wall: now.wall))
        #expect(shelf[Sample.id] == nil && shelf.due == nil)
    }
}
