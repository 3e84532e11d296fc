// SPDX-License-Identifier: Apache-2.0
import PINDeviceAPI
import POSAPI
import PSPAPI
import PaymentValues

@testable import Transactions

extension Stage {
    mutating func fault(_ what: String) { faults.append(what) }

    /// An end after something was sent needs a proof that says so.
    mutating func checkEnd(_ write: Write) {
        guard let state = write.changes.last?.state,
            sends > 0 || books.transaction.history.contains(where: { $0.state == .sent })
        else { return }
        let history = books.transaction.history
        if case .settle(let settlement) = write.form {
            // What a person has settled may be given back for another reason; a service that refuses it leaves it open.
            reversal = nil
            if (state == .approved) != (settlement.outcome == .charged) { fault("settled as \(state)") }
            return
        }
        switch state {
        case .approved where !heard.contains(.approved): fault("approved without an approval")
        case .approved where mustNotStay: fault("approved, though somebody was told that it will be taken back")
        case .approved where history.last?.state == .reversing: fault("approved, though it was being taken back")
        // R1: what was in doubt ends in an approval or is taken back. What the customer has cannot be: it may be declined
        // by a service that has never said that it did not know it.
        case .declined where history.contains { $0.state == .unknown } && !history.contains { $0.state == .stored }:
            fault("declined after a doubt")
        case .declined where isResent: fault("declined, though it was sent again to who had forgotten it")
        case .declined where heard.contains(.declined): break
        case .declined where heard.isDisjoint(with: [.declined, .refused, .notDelivered]):
            fault("declined without an answer")
        // R1: only who says that it is taken back ends it. That it was never seen is a lie, forgotten, or too early.
        case .reversed where heard.contains(.acknowledged): break
        case .reversed: fault("reversed without an acknowledgement")
        case .stored where heard.isDisjoint(with: [.refused, .notDelivered]) && sends > 0:
            fault("stored after it was sent, though nobody has said that it was not carried out")
        case .stored where heard.contains(.doubt) && sends > 0: fault("stored again after a doubt")
        case .failed, .cancelled, .completed: fault("\(state) after it was sent")
        default: break
        }
        if state == .stored {
            sends = 0
            heard = []
            isResent = false
        }
    }

    /// What holds after every step.
    mutating func checkState() {
        let state = machine.transaction.state
        if endedUnwritten {
            if state != .failed { fault("told an end and went on to \(state)") }
        } else if !isStale, state != books.transaction.state {
            fault("\(state) for others, \(books.transaction.state) in the journal")
        } else if !isStale, machine.transaction.history != books.transaction.history {
            fault("another history than the journal's")
        } else if !isStale, machine.transaction.result != books.transaction.result {
            fault("another result than the journal's")
        }
        checkApproval(books.transaction, "the journal")
        checkApproval(machine.transaction, "memory")
        if (asked != nil) != (machine.writing != nil && machine.writing?.retryAt == nil) {
            fault("a write is neither under way nor answered")
        }
        guard asked == nil else { return }
        guard let due = machine.due else {
            if !isAtRest { fault("no timer in \(machine.phase.name)") }
            return
        }
        let longest = machine.writing == nil ? longest(in: machine.phase) : 1_000
        if due - now.monotonic > longest { fault("\(due - now.monotonic) ms in \(machine.phase.name)") }
    }

    /// What is approved says nothing that would have somebody pay again: no error, no reason, no other way to pay.
    private mutating func checkApproval(_ transaction: Transaction, _ place: String) {
        guard transaction.state == .approved else { return }
        if let error = transaction.error, error.code != ErrorCode.storedCardNotGiven.rawValue {
            fault("approved with \(error.code) in \(place)")
        }
        if let result = transaction.result, result.reason != nil || result.next != nil || result.reversal != nil {
            fault("approved with a reason, a next step or a reversal in \(place)")
        }
        if transaction.settlement != nil, transaction.confirmation != nil {
            fault("settled as charged, and still to be confirmed, in \(place)")
        }
    }

    /// Milliseconds until a state goes on by itself: transactions have an end whatever card, lanes and service do.
    private func longest(in phase: Phase) -> Int64 {
        let demand = machine.demand
        return switch phase {
        case .created: 10_000
        case .preparing: 120_000
        case .armed: Int64(demand.deadline) * 1_000 + 15_000
        case .reading: 60_000
        case .sealed: 10_000
        case .offered: 55_000
        case .awaitingPIN, .challenged: demand.isAccessible ? 57_000 : 32_000
        case .sent, .unknown: 35_000
        // Asked about again and again, until the service has an end.
        case .linked: 60_000
        // After a restart the journal's time is all there is, and a clock that was put back makes it at most a day.
        case .approved: 86_400_001
        case .reversing: 600_000
        case .leaving: 2_000
        case .unwritten: 1_000
        case .settled: 35_000
        case .stored, .ended: 0
        }
    }

    // MARK: - What it says

    mutating func hear(_ effect: Effect, _ wasOver: Bool) {
        switch effect {
        case .write(let write):
            if asked != nil || wasOver { fault("a write while another is under way, or after the end") }
            if !isStale, !books.isLegal(write), write.form != .forward {
                fault("asks to write \(books.transaction.state) to \(write.changes.map(\.state))")
            }
            asked = write
        case .outward(let outward, let written):
            if asked != nil { fault("says \(outward) before its write is taken") }
            if written.number != lastWritten { fault("\(outward) rests on write \(written.number)") }
            checkDisk(outward)
            hear(outward, wasOver)
        case .local(.connect):
            guard case .sealed = machine.phase else { return fault("connects in \(machine.phase.name)") }
        case .local(.draft(let request)): drafted = request
        case .local(.failedReads(let count)): hasReadFailed = count > 0
        case .local: break
        }
    }

    /// docs/internals/architecture.md, "What is on the disk before a step outward".
    private mutating func checkDisk(_ outward: Outward) {
        var needed: TransactionState?
        switch outward {
        case .send, .charge, .proceed: needed = .sent
        case .show(.approved): needed = .approved
        case .publish(let event):
            switch event.name {
            case .paymentApproved: needed = .approved
            case .paymentStored: needed = .stored
            case .queueForwarded: needed = event.result?.outcome == .declined ? .declined : .approved
            default: break
            }
        default: break
        }
        guard let needed else { return }
        if [.approved, .stored].contains(needed) { told.insert(needed) }
        if !disk.transaction.history.contains(where: { $0.state == needed }) {
            fault("\(outward) before \(needed) is on the disk")
        }
    }

    private mutating func hear(_ outward: Outward, _ wasOver: Bool) {
        let state = books.transaction.state
        if wasOver {
            guard case .answer = outward else { return fault("says \(outward) after the end") }
        }
        switch outward {
        case .arm(let lanes):
            arms += 1
            if state != .armed || lanes.isEmpty || arms > 1 { fault("arms \(lanes) in \(state), time \(arms)") }
        case .charge: fault("charges a stored card")
        case .passRefundRead: fault("hands over what is its own")
        case .link: fault("asks about a link")
        case .send(let request, let number, let isAgain, _):
            // What was stored is forwarded without what held for the read only.
            var lasting = request
            if history(has: .stored) {
                if request.features != nil { fault("a stored read says that it can be gone on with") }
                lasting.features = sent?.features
            }
            if let sent, sent != lasting { fault("another request") }
            if let drafted, drafted != lasting { fault("another request than was written out") }
            sent = lasting
            how = isAgain ? .resend : .send
            if isAgain, heard.contains(.neverSeen) {
                isResent = true
                // R1: what makes a later refusal worthless is on the disk before it.
                if books.isQueued, books.open != .neverSeen { fault("sent again without a note of it") }
            }
            if !isAgain { sends += 1 }
            if (request.pin != nil) != (pins > 0) {
                fault("sent with a PIN: \(request.pin != nil), asked \(pins) times")
            }
            if machine.demand.kept != nil, !isClaimed { fault("sent, and no machine has claimed it") }
            if sends != 1 { fault("sent \(sends) times for the first time") }
            if state != .sent, !(isAgain && state == .unknown) { fault("sent in \(state)") }
            ask(number)
        case .askPIN:
            pins += 1
            hasPIN = false
            // An issuer's wish is a decline without a doubt: nothing stands while the customer is asked.
            let isRight = state == .sealed ? pins == 1 : state == .sent && wasDeclinedForCertain && pins <= 2
            if !isRight { fault("asks for a PIN in \(state), time \(pins)") }
        case .withdrawPIN:
            withdrawals += 1
            if ![.sealed, .sent].contains(state) || pins == 0 { fault("withdraws a PIN in \(state)") }
        case .proceed(let request, let number, let isAgain, _): proceed(request, number, isAgain, state)
        case .query(_, let number, _):
            if state != .sent, state != .unknown { fault("asks in \(state)") }
            if sends == 0 { fault("asks about what was never sent") }
            how = .query
            ask(number)
        case .reverse(let request, let number):
            if let reversal, reversal != request { fault("another reversal under the same key") }
            reversal = request
            if state != .reversing { fault("reverses in \(state)") }
            if number <= reversalQuestion { fault("reversal question \(number) after \(reversalQuestion)") }
            reversalQuestion = number
        case .settleReader:
            let isRead: Set<TransactionState> = [.sealed, .sent, .unknown, .stored, .declined, .completed]
            if !isRead.contains(state) { fault("lets the reader go in \(state)") }
        case .show(let lamp): check(lamp, state)
        case .publish(let event): check(event, state)
        case .answer(let wish, let answer): check(answer, to: wish, state)
        case .keepRead:
            // What the adapter has been given is never kept here.
            if state != .declined || sends > 0 { fault("keeps a read in \(state)") }
        case .scrub: break
        }
    }

    /// Two authorisations never stand: what goes on was declined for certain, and from then on only the continuation counts.
    private mutating func proceed(
        _ request: ContinuationRequest, _ number: Int, _ isAgain: Bool, _ state: TransactionState
    ) {
        if request.authorization.pin != nil || request.pin.attempt != request.id { fault("another PIN") }
        if request.authorization.features != [.singleTap] { fault("goes on without saying that it can once more") }
        if isAgain {
            if heard.contains(.neverSeen) { isResent = true }
            if continuation != request.id { fault("another continuation") }
        } else {
            if !wasDeclinedForCertain || continuation == request.id { fault("goes on from what was not declined") }
            (heard, isResent, continuation) = ([], false, request.id)
        }
        how = isAgain ? .resend : .send
        if state != .sent, !(isAgain && state == .unknown) { fault("goes on in \(state)") }
        ask(number)
    }

    /// A word about a reversal that nobody has asked for says nothing.
    private var wasDeclinedForCertain: Bool { heard.subtracting(.acknowledged) == [.declined] }

    private func history(has state: TransactionState) -> Bool {
        books.transaction.history.contains { $0.state == state }
    }

    private mutating func ask(_ number: Int) {
        if number <= question, question != 0 { fault("question \(number) after \(question)") }
        question = number
    }

    private mutating func check(_ lamp: Lamp, _ state: TransactionState) {
        let right: Set<TransactionState> =
            switch lamp {
            case .read: [.stored]
            case .approved: [.approved]
            case .declined: [.declined]
            case .error: [.declined, .reversing, .cancelled, .failed]
            }
        if !right.contains(state), !isStale { fault("shows \(lamp) in \(state)") }
    }

    private mutating func check(_ event: Event, _ state: TransactionState) {
        if event.transaction != machine.id { fault("an event about nothing") }
        if event.lane == nil { fault("an event from nowhere") }
        if event.name == .readNotCompleted, machine.transaction.state == .failed, state != .failed {
            endedUnwritten = true
            return
        }
        let right: Set<TransactionState>? =
            switch event.name {
            case .readReadyForTap, .readRetry: [.armed, .reading]
            case .readCardDetected: [.reading]
            case .readCompleted: [.sealed, .sent, .unknown, .stored, .declined, .completed]
            case .readNotCompleted: [.failed]
            case .readCancelled: [.cancelled]
            case .tapOffered: [.sealed]
            case .sessionReleased: [.failed, .cancelled]
            case .paymentAuthorizing: [.sent, .unknown]
            case .paymentApproved: [.approved]
            case .paymentDeclined: [.declined, .reversing]
            case .paymentUnknown: [.unknown]
            case .paymentStored: [.stored]
            case .paymentReversed: [.reversed]
            case .queueForwarded: [.approved, .declined]
            case .openItemContradicted: [.approved, .declined, .reversed]
            case .pinRequested: [.sealed, .sent]
            case .pinCompleted: [.sealed, .sent, .declined, .cancelled, .failed]
            case .readRemoveCard: [.armed, .reading, .sealed, .sent, .unknown, .stored, .declined, .completed]
            case .loyaltyResult: [.armed, .reading]
            case .linkOpened: [.sent]
            default: nil
            }
        // The till may have declined a stored payment before the reader has let the card go.
        if right?.contains(state) != true, !isStale { fault("\(event.name.rawValue) in \(state)") }
        if event.name == .pinRequested || event.name == .pinCompleted, event.pin == nil || pins == 0 {
            fault("\(event.name.rawValue) that nobody was asked for")
        }
        let wantsText: Set<EventName> = [.pinRequested, .readReadyForTap, .readRetry, .readRemoveCard, .linkOpened]
        if wantsText.contains(event.name), event.customerText == nil { fault("\(event.name.rawValue) without a word") }
    }

    /// Written from docs/integrating/errors.md, for what the journal has and for what everybody sees.
    private var refusalsToSettle: [ErrorCode] {
        if books.transaction.settlement != nil { return [.openItemAlreadySettled] }
        return [machine.transaction.state, books.transaction.state].map {
            $0 == .approved || $0.successors.isEmpty ? .openItemEnded : .openItemNotOpen
        }
    }

    private mutating func check(_ answer: RequestAnswer, to wish: RequestID, _ state: TransactionState) {
        guard let kind = openWishes.removeValue(forKey: wish.number) else {
            return fault("answers \(wish.number) again: \(answer)")
        }
        let isOwed = books.isQueued
        let isRight: Bool =
            switch (kind, answer) {
            case (_, .superseded): kind != .cancel
            case (.cancel, .cancelled): state == .cancelled
            // The lie would be to say that it is on its way when nothing is.
            case (.claim, .done): state == .sealed && machine.demand.kept != nil
            case (.cancel, .nothingToCancel): state.isSettled || machine.transaction.state == .failed || isUntouched
            case (.cancel, .tooLate(let told, let becomesReversal)):
                told == state && becomesReversal == ([.sent, .unknown].contains(state) && !isOwed)
            case (.reverse, .done):
                [.reversing, .reversed].contains(state) || [.sent, .unknown].contains(state) && !isOwed
            case (.reverse, .refused(let code)):
                machine.transaction.state.reversalRule == .refused(code) || isOwed && code == .queueStored
            case (.forward, .done): [.approved, .declined].contains(state)
            case (.forward, .notForwarded): [.stored, .unknown].contains(state) || isStale || machine.isWriting
            case (.settle, .done): books.transaction.settlement != nil
            case (.settle, .refused(let code)):
                [.storageFull, .storageFailed].contains(code) || books.open == nil && refusalsToSettle.contains(code)
            default: false
            }
        if !isRight { fault("answers a wish to \(kind) in \(state) with \(answer)") }
        if kind == .claim, answer == .done { isClaimed = true }
        switch answer {
        case .tooLate(_, becomesReversal: true): mustNotStay = true
        case .done where kind == .reverse && [.sent, .unknown].contains(state): mustNotStay = true
        default: break
        }
    }
}
