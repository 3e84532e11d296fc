// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PSPAPI
import PaymentValues

/// Taking a payment back until the adapter acknowledges it, however often that has to be tried, also over restarts.
extension TransactionMachine {
    /// Begins to take back what may have been charged. For the shop it has not taken place from here on.
    ///
    /// - Parameter approval: where the service has given one.
    mutating func reverse(
        _ reason: DeclineReason, _ cause: PSPAPI.ReversalRequest.Reason, _ error: ErrorCode?,
        after approval: AuthorizationAnswer? = nil
    ) {
        var change = reversing(reason, cause, error)
        if let reference = approval?.pspReference { change.result?.pspReference = reference }
        if let amount = approval?.amountApproved { change.result?.amountApproved = amount }
        var event = event(.paymentDeclined)
        (event.result, event.error) = (change.result, change.error)
        let reversal = asking(change, amount: approval?.amountApproved ?? transaction.amount)
        write(
            [change], .forCertain, next: .reversing(reversal),
            then: [.publish(event), .show(.error), request(reversal, change.result?.pspReference), .scrub],
            // The reference of an approval is known from nowhere else.
            durable: approval == nil ? nil : true)
    }

    /// A service that has forgotten the key can carry it out by amount and reference.
    private func request(_ reversal: Reversal, _ reference: String?) -> Outward {
        .reverse(
            PSPAPI.ReversalRequest(reason: reversal.plan.reason, amount: reversal.amount, pspReference: reference),
            question: reversal.number)
    }

    private func reversing(
        _ reason: DeclineReason, _ cause: PSPAPI.ReversalRequest.Reason, _ error: ErrorCode?
    ) -> StateChange {
        var change = change(.reversing)
        change.result = .reversed(reason, mode: transaction.mode)
        change.result?.pspReference = transaction.result?.pspReference
        change.result?.amountApproved = transaction.result?.amountApproved
        change.error = error.map { ErrorDetail($0, transaction: id) }
        change.reversal = ReversalPlan(reason: cause, due: change.at)
        return change
    }

    private func asking(_ change: StateChange, amount: Money?) -> Reversal {
        let plan = change.reversal ?? ReversalPlan(reason: .timeout, due: now.wall)
        return Reversal(
            plan: plan, amount: amount, number: 1, isAsking: true,
            due: now.after(demand.times.query + Self.answerMargin))
    }

    /// An approval that nobody has confirmed in time.
    mutating func reverseUnconfirmed() {
        reverseApproval(.notConfirmed, .timeout, unconfirmedOnly: true, answering: nil)
    }

    private mutating func reverseApproval(
        _ reason: DeclineReason, _ cause: PSPAPI.ReversalRequest.Reason, unconfirmedOnly: Bool,
        answering wish: RequestID?
    ) {
        let change = reversing(reason, cause, nil)
        var event = event(.paymentDeclined)
        event.result = change.result
        let reversal = asking(change, amount: transaction.result?.amountApproved ?? transaction.amount)
        var then: [Outward] = [.publish(event), request(reversal, change.result?.pspReference)]
        if let wish { then.append(.answer(wish, .done)) }
        // It may have been confirmed since: what the journal has in the moment of the change counts.
        write(
            [change], as: .reversal(unconfirmedOnly: unconfirmedOnly), .forCertain,
            next: .reversing(reversal), then: then)
    }

    /// Takes a payment back on the wish of the shop; the same wish again changes nothing.
    mutating func reverse(_ reason: POSAPI.ReversalRequest.Reason, _ wish: RequestID) {
        switch (transaction.state.reversalRule, phase) {
        case (.begins, .approved):
            reverseApproval(.reversed, reason.forAdapter, unconfirmedOnly: false, answering: wish)
        case (.follows, .sent(var question)), (.follows, .unknown(var question)):
            guard !question.isOwed else { return outward(.answer(wish, .refused(.queueStored))) }
            question.mustBeReversed = true
            keep(question)
            outward(.answer(wish, .done))
        case (.follows, .linked(let watch)): reverseLink(watch, wish)
        // It ends as declined, and whoever asked looks again.
        case (.follows, .challenged(let challenge)): endWithoutPIN(challenge, .answer(wish, .superseded))
        case (.begins, _), (.follows, _): outward(.answer(wish, .superseded))
        case (.repeats, _): outward(.answer(wish, .done))
        case (.refused(let code), _): outward(.answer(wish, .refused(code)))
        }
    }

    mutating func reversalDue(_ reversal: Reversal) {
        var reversal = reversal
        guard !reversal.isAsking else { return acknowledged(.none, reversal.number) }
        reversal.number += 1
        reversal.isAsking = true
        reversal.due = now.after(demand.times.query + Self.answerMargin)
        phase = .reversing(reversal)
        outward(request(reversal, transaction.result?.pspReference))
    }

    /// So many attempts in vain, about an hour of them, are a person's business, too.
    public static let attemptsUnseen = 10

    mutating func acknowledged(_ acknowledgement: Acknowledgement, _ number: Int) {
        if case .settled(let asked, _) = phase, asked == number, acknowledgement == .acknowledged {
            return answerAfterSettlement(taken: true)
        }
        guard case .reversing(var reversal) = phase, reversal.isAsking, reversal.number == number else { return }
        var reason: OpenReason?
        switch acknowledgement {
        case .acknowledged: return end(reversal)
        case .neverSeen:
            // Forgotten, lost by a proxy, or still on its way: whatever it means, nobody says that nothing is charged. The
            // first time the request may still be in the adapter's socket.
            reversal.unseen += 1
            if reversal.unseen > 1 { reason = .neverSeen }
        case .none:
            if reversal.plan.attempts + 1 >= Self.attemptsUnseen || open == .otherService { reason = .unacknowledged }
            if open == .neverSeen { reason = nil }
        case .notAsked: return waitForService(reversal)
        }
        let attempts = reversal.plan.attempts + 1
        let pause = demand.times.attempts.pause(after: attempts)
        reversal.isAsking = false
        reversal.due = now.after(pause)
        let (due, isTooLate) = now.wall.milliseconds.addingReportingOverflow(pause.milliseconds)
        reversal.plan = ReversalPlan(
            reason: reversal.plan.reason, attempts: attempts,
            due: Timestamp(milliseconds: isTooLate ? .max : due))
        let form = reason.flatMap { $0 == open ? nil : Write.Form.open($0, reversal.plan) } ?? .plan(reversal.plan)
        write([], as: form, .ifPossible, next: .reversing(reversal))
    }

    /// Nobody was asked: that is no attempt.
    private mutating func waitForService(_ reversal: Reversal) {
        var reversal = reversal
        reversal.isAsking = false
        reversal.due = now.after(demand.times.attempts.longest)
        guard open != .otherService else {
            phase = .reversing(reversal)
            return
        }
        write([], as: .open(.otherService, nil), .ifPossible, next: .reversing(reversal))
    }

    /// The service that it belongs to can be asked again.
    mutating func hasten() {
        guard case .reversing(var reversal) = phase, !reversal.isAsking else { return }
        reversal.due = now.monotonic
        reversalDue(reversal)
    }

    private mutating func end(_ reversal: Reversal) {
        var change = change(.reversed)
        change.result = transaction.result
        change.result?.reversal = .done
        var event = event(.paymentReversed)
        event.result = change.result
        write([change], .forCertain, next: .ended, then: [.publish(event)])
    }

    // MARK: - After a restart

    /// The monotonic time of a moment that another run laid down on the wall clock. One that is further away than it can
    /// be is due now: the clock was put back since, and says nothing of how long ago that was (rule R2).
    func monotonic(of moment: Timestamp, atMost limit: Duration) -> Int64 {
        let (wait, isFar) = moment.milliseconds.subtractingReportingOverflow(now.wall.milliseconds)
        guard !isFar, wait > 0, wait <= limit.milliseconds else { return now.monotonic }
        return now.after(.milliseconds(wait))
    }

    func monotonic(of moment: Timestamp, since begin: Timestamp) -> Int64 {
        let (whole, isFar) = moment.milliseconds.subtractingReportingOverflow(begin.milliseconds)
        return monotonic(of: moment, atMost: .milliseconds(isFar ? 0 : max(0, whole)))
    }

    var approvedAt: Timestamp {
        transaction.history.last { $0.state == .approved }?.at ?? transaction.updatedAt
    }

    /// Whether a confirmation that comes now comes in time; `nil` where none is waited for.
    public func isConfirmable(at now: Moment) -> Bool? {
        guard !isWriting else { return transaction.confirmation == nil ? nil : false }
        guard case .approved(let last?) = phase else { return nil }
        return now.monotonic < last
    }

    /// When an approval has to be confirmed; `nil` where it has been, or has not to be. What a person has settled as charged
    /// waits for no till any more.
    var unconfirmedDue: Timestamp? {
        guard let confirmation = transaction.confirmation, confirmation.confirmedAt == nil,
            transaction.settlement == nil
        else { return nil }
        return confirmation.due
    }

    /// Brings what an earlier run of the daemon left open to a definite state: nothing sent ends, what may have been
    /// charged is taken back.
    mutating func recover(isPINAwaited: Bool) {
        // What runs already has more to go by than the journal.
        guard case .stored = phase else { return contradiction("recover") }
        switch transaction.state {
        case .created, .preparing, .armed, .reading, .sealed:
            var failed = change(.failed)
            failed.error = ErrorDetail(.interrupted, transaction: id)
            var event = event(.readNotCompleted)
            event.error = failed.error
            write([failed], .forCertain, next: .ended, then: [.publish(event)])
        case .sent, .unknown:
            if transaction.type.isPaidElsewhere {
                phase = .linked(watchAfterRestart())
            } else if isPINAwaited, transaction.state == .sent {
                // Asked for only after a decline without a doubt; the PIN is noted before it goes out, and none is.
                decline(.interrupted)
            } else {
                reverse(.hostTimeout, .timeout, .interrupted)
            }
        case .reversing:
            let plan = reversalPlan ?? ReversalPlan(reason: .timeout, due: now.wall)
            let longest = demand.times.attempts.longest
            // The same request as that of the earlier run: a service refuses another one under the same key.
            // An attempt of the earlier run is no longer in the adapter's socket: "never seen" is no question of time any more.
            phase = .reversing(
                Reversal(
                    plan: plan, amount: transaction.result?.amountApproved ?? transaction.amount,
                    unseen: plan.attempts > 0 ? 1 : 0,
                    due: monotonic(of: plan.due, atMost: longest)))
        case .approved, .stored, .declined, .delivered, .cancelled, .failed, .reversed, .completed: break
        }
    }
}

extension POSAPI.ReversalRequest.Reason {
    /// The same for the adapter.
    var forAdapter: PSPAPI.ReversalRequest.Reason {
        switch self {
        case .customerCancel: .customerCancel
        case .malfunction: .malfunction
        case .suspectedFraud: .suspectedFraud
        }
    }
}
