// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Linux
import Logging
import POSAPI
import PSPAPI
import PaymentValues
import ReaderCore
import Transactions

/// What the machines want done.
extension TransactionRunner {
    func carryOut(_ effect: Effect, _ id: TransactionID) {
        guard let running = books.live[id] else { return }
        let run = EffectRun(running: running, runner: self)
        switch effect {
        case .write(let write): follow(id) { await run.write(write) }
        case .local(let local): carryOut(local, id, run)
        case .outward(let outward, _): carryOut(outward, id, run)
        }
    }

    /// Does `work` and lets happen what comes of it.
    private func follow(_ id: TransactionID, _ work: @escaping @Sendable () async -> Input) {
        services.work.add { await self.take(await work(), id) }
    }

    // MARK: - What stays in the process

    private func carryOut(_ local: Local, _ id: TransactionID, _ run: EffectRun) {
        let running = run.running
        switch local {
        case .prepare: follow(id) { await run.prepare() }
        case .disarm:
            running.isUnwanted.fire()
            running.tap?.disarm()
        case .connectEarly: running.terms.early?.open()
        case .connect: follow(id) { await run.connect() }
        case .draft(let request):
            let adapter = running.terms.adapter
            books.live[id]?.draft = Task { adapter?.message(request) }
        case .failedReads(let count): books.failedReads.set(count, of: running.transaction.order)
        case .log(let contradiction):
            logger.error(
                "input that the state does not know",
                metadata: [
                    "transaction": "\(id)", "state": "\(contradiction.state.rawValue)",
                    "input": "\(contradiction.what)",
                ])
        }
    }

    // MARK: - What others see

    private func carryOut(_ outward: Outward, _ id: TransactionID, _ run: EffectRun) {
        switch outward {
        case .publish(let event):
            publish(run.running.numbered(event))
            if let word = run.running.wordToMachine(of: event) { publish(word) }
        case .arm(let names): arm(names, id, run)
        case .send(let request, let question, let isAgain, let time):
            if !isAgain { books.live[id]?.forgetDraft() }
            follow(id) {
                .replied(await run.send(request, isAgain: isAgain, within: time), question: question)
            }
        case .charge(let request, let question, let isAgain, let time):
            if !isAgain { books.live[id]?.forgetDraft() }
            follow(id) {
                .replied(await run.charge(request, isAgain: isAgain, within: time), question: question)
            }
        case .askPIN(let demand, let time):
            follow(id) { await PINConversation(running: run.running).ask(demand, within: time) }
        case .withdrawPIN(let attempt):
            // The customer stands before a device that asks: a stop waits until it has heard that it need not.
            services.lasting.add { await PINConversation(running: run.running).withdraw(attempt) }
        case .passRefundRead(let request):
            services.work.add { await run.passRefundRead(request) }
        case .query(let continuation, let question, let time):
            follow(id) { .replied(await run.query(continuation, within: time), question: question) }
        case .proceed(let request, let question, let isAgain, let time):
            follow(id) {
                .replied(await run.proceed(request, isAgain: isAgain, within: time), question: question)
            }
        case .link(let asked, let question, let time):
            if case .open(let request) = asked {
                books.live[id]?.forgetDraft()
                // The service has it now.
                if request.read != nil, let earlier = request.retryOf { books.reads.forget(earlier) }
            }
            follow(id) { .linked(await run.link(asked, within: time), question: question) }
        case .reverse(let request, let question):
            follow(id) { .acknowledged(await run.reverse(request), question: question) }
        case .keepRead(let read, let end): books.reads.keep(read, of: id, until: end)
        case .settleReader: run.running.tap?.handover.signal()
        case .show(let lamp):
            let lane = run.running.tap?.lanes.first { $0.name == run.running.transaction.lane }
            // A reader that was let go before the answer is the next customer's.
            if let lane, run.running.machine.demand.kept == nil {
                services.work.add { await lane.show(ReaderFeedback(lamp)) }
            }
        case .answer(let wish, let answer): wishes.answer(wish, answer)
        case .scrub: journal.scrubSoon()
        }
    }

    private func arm(_ names: [String], _ id: TransactionID, _ run: EffectRun) {
        // The journal may have taken long.
        guard run.running.machine.demand.cardTime(at: .now) > 0 else {
            return take(.ended(.requestTooLate, withoutApplication: false), id)
        }
        guard let tap = ArmedTap(books.lanes.table.taken(by: id, of: names).map(\.lane)) else {
            return take(.ended(.internalFault, withoutApplication: false), id)
        }
        books.live[id]?.tap = tap
        let tapRun = TapRun(id: id, tap: tap, running: run.running, runner: self)
        services.work.add { await tapRun.run() }
    }
}

extension ReaderFeedback {
    init(_ lamp: Lamp) {
        switch lamp {
        case .read: self = .read
        case .approved: self = .approved
        case .declined: self = .declined
        case .error: self = .error
        }
    }
}

extension LiveTransaction {
    /// Passes that were read on a lane that stands alone, with the number of their tap.
    fileprivate func numbered(_ event: Event) -> Event {
        guard event.name == .loyaltyResult else { return event }
        var event = event
        event.tap = terms.tap
        return event
    }

    /// An approval on a lane that stands alone: for its machine to claim, or what it has claimed.
    fileprivate func wordToMachine(of event: Event) -> Event? {
        guard event.name == .paymentApproved else { return nil }
        guard let kept = machine.demand.kept else {
            return terms.tap.map { event.offered(tap: $0, transaction.amount) }
        }
        return machine.claimant.map { event.claimed(tap: kept.tap, as: $0, transaction.amount) }
    }
}
