// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Logging
import Loyalty
import POSAPI
import PaymentValues
import ReaderCore
import TapSession
import Transactions

/// One transaction's wait for its card, on all of its lanes: brings what happens there to its machine.
struct TapRun: Sendable {
    let id: TransactionID
    let tap: ArmedTap
    let running: LiveTransaction
    let runner: TransactionRunner

    func run() async {
        let armed = ArmedLanes(id, tap.lanes, tap.race, runner)
        let deadline = running.machine.demand.deadline
        let latest = running.machine.demand.latest(from: .now)
        async let threads: Void = armed.occupy(deadline: deadline, work(deadline, latest))
        var translation = TapTranslation(running, first: tap.lanes.first?.name ?? running.transaction.lane)
        for await _ in tap.race.news {
            for step in tap.race.takeProgress() { await bring(step, &translation) }
        }
        await runner.take(.tapFinished, id)
        // Whatever still waits for a card does so in vain.
        tap.disarm()
        await threads
    }

    private func bring(_ step: TapProgress, _ translation: inout TapTranslation) async {
        switch step {
        case .left(let lane, let error): await note(error, on: lane)
        case .ended(let error): await note(error, on: translation.lane)
        // The other lanes are free before anything is charged.
        case .result(let result): await note(result, on: translation.lane)
        case .waiting, .won, .cardLeft, .signal, .loyaltySignal, .passes, .endedWithPasses: break
        }
        if let found = translation.passes(in: step) {
            let statuses = await runner.change { [id] in $0.keep(found, of: id) }
            if let statuses { await runner.take(translation.input(found, statuses), id) }
        }
        for input in translation.inputs(of: step) {
            guard case .read(var read) = input, case .result(let result) = step else {
                await runner.take(input, id)
                continue
            }
            let (mark, lane) = (result.read?.mark, translation.lane)
            read.repeats = await runner.change { [id] in $0.noteSale(id, mark: mark, on: lane, at: .now) }
            await runner.take(.read(read), id)
        }
    }

    private func note(_ error: PaymentTapError, on lane: String) async {
        if case .missingHostData = error {
            runner.logger.error("card data not sent", metadata: ["transaction": "\(id)", "reason": "\(error)"])
        }
        await runner.change { $0.lanes.noteTapFailure(lane, ErrorCode(error)) }
    }

    private func note(_ result: PaymentTapResult, on lane: String) async {
        // The AID is the reader's own, and the reason says nothing that a card could fill in.
        runner.logger.info(
            "application chosen",
            metadata: [
                "transaction": "\(id)", "aid": "\(Hex.string(result.aid))", "reason": "\(result.choice.reason)",
            ])
        for (phase, seconds) in result.phases.seconds { runner.measures.took(phase, seconds: seconds) }
        await runner.change { [id] in $0.tapped(result.phases, of: id, on: lane, at: .now) }
        await tap.race.othersAreFree.wait(atMost: .seconds(1))
    }

    private func work(_ deadline: Int, _ latest: TapInstant?) -> @Sendable (Lane, RaceEntry) async -> Void {
        let (terms, transaction) = (running.terms, running.transaction)
        if transaction.type == .loyalty, let request = terms.loyalty {
            let order = LoyaltyOrder(
                request: request, deadline: deadline, latest: latest, takesPresentCard: terms.tap != nil)
            return { await $0.readPasses(order, $1) }
        }
        let order = TapOrder(
            id: id, type: transaction.type, amount: transaction.amount, terminal: terms.terminal,
            sequence: running.sequence, deadline: deadline, latest: latest, loyalty: terms.loyalty,
            preferredApplications: terms.preferredApplications, marker: terms.marker,
            pinAccounts: running.pinPlaces.mapValues(\.account), delivered: tap.handover,
            takesPresentCard: terms.tap != nil)
        return { await $0.tap(order, $1) }
    }
}

extension TransactionParameters {
    /// When the wait for a card that begins now ends at the latest, on the reader's clock; `nil` for no such time.
    fileprivate func latest(from now: Moment) -> TapInstant? {
        guard notAfter != nil else { return nil }
        let end = now.monotonic &+ cardTime(at: now)
        return TapInstant(nanoseconds: 0).advanced(byMilliseconds: UInt64(clamping: end))
    }
}
