// SPDX-License-Identifier: Apache-2.0
import Codes

extension ZVTTerminal {
    mutating func commanded(_ packet: ZVTPacket, at now: Int64, _ effects: inout [TillEffect]) {
        if packet.control == 0x06B0 { return aborted(&effects) }
        // A new command says that the completion was read, though its answer is missing. It is never a repeat: two equal sales one
        // after the other are the same bytes.
        if stage == .ending, awaited?.out.role == .end {
            awaited = nil
            endWasHeard()
            rest()
        }
        guard stage == .idle, awaited == nil, outbox.isEmpty else {
            // While nothing but the first answer has been sent, the till can only have missed that one.
            let isRepeat = packet == command && isFresh
            return reply(isRepeat ? .positive : .negative(ZVTCommand.Refusal.busy.rawValue), &effects)
        }
        isFresh = true
        strayAnswers = 0
        do throws(ZVTCommand.Refusal) {
            let wish = try ZVTCommand(packet)
            command = packet
            try carryOut(wish, at: now, &effects)
        } catch {
            command = nil
            reply(.negative(error.rawValue), &effects)
        }
        if stage == .idle { command = nil }
    }

    private mutating func carryOut(
        _ command: ZVTCommand, at now: Int64, _ effects: inout [TillEffect]
    ) throws(ZVTCommand.Refusal) {
        switch command {
        case .register(let password, let configuration, let code, let container):
            try check(password, at: now, &effects)
            try check(code)
            session = ZVTSession(configuration: configuration, currency: code, container: container)
            accept(answers.registered(session), &effects)
        case .logOff:
            session = ZVTSession()
            reply(.positive, &effects)
        case .sale(let sale): try begin(.sale, sale, at: now, &effects)
        case .refund(let password, let sale):
            try check(password, at: now, &effects)
            guard settings.refunds else { throw .forbidden }
            try begin(.refund, sale, at: now, &effects)
        case .reservation(let sale):
            guard settings.reservations else { throw .unknown }
            try begin(.reservation, sale, at: now, &effects)
        case .readCard(let seconds): try readCard(seconds, &effects)
        case .book(let receipt, let trace, let booking, let currency):
            guard settings.reservations else { throw .unknown }
            try check(currency)
            try book(receipt, trace, booking, at: now, &effects)
        case .status: accept(ZVTAnswer.status(isBusy: !desk.isFree), &effects)
        case .abort: reply(.positive, &effects)
        case .lastReceipt(let password, let parts):
            if let password { try check(password, at: now, &effects) }
            try repeatLast(parts, &effects)
        case .reversal(let password, let receipt, let amount):
            try check(password, at: now, &effects)
            try reverse(receipt, amount, at: now, &effects)
        case .totals(let password):
            try check(password, at: now, &effects)
            reply(.positive, &effects)
            stage = .ending
            outbox = [
                Outgoing(packet: answers.totals(desk.turnover), role: .notice),
                Outgoing(packet: ZVTAnswer.completion, role: .end),
            ]
        case .endOfDay(let password):
            try check(password, at: now, &effects)
            guard desk.isFree, !desk.isFollowing else { throw .busy }
            dropRead(&effects)
            reply(.positive, &effects)
            stage = .closingBatch
            let turnover = desk.turnover
            outbox = [Outgoing(packet: answers.totals(turnover), role: .totals)]
            // A day without a payment needs no paper.
            if turnover.first != nil {
                outbox += paper([paper(of: turnover)], session).map { Outgoing(packet: $0, role: .notice) }
            }
        case .identity:
            guard let device = settings.device else { throw .unknown }
            endsReadsAtResult = true
            accept(answers.identity(of: device), &effects)
        case .setTerminal(let password, let terminal):
            try check(password, at: now, &effects)
            guard terminal == settings.terminal else { throw .forbidden }
            accept(ZVTAnswer.completion, &effects)
        case .openPreauthorisations: accept(ZVTAnswer.reservation(desk.held.first?.receipt), &effects)
        case .nothingToDo(let password):
            if let password { try check(password, at: now, &effects) }
            accept(ZVTAnswer.completion, &effects)
        }
    }

    // MARK: - Checks

    private mutating func check(
        _ password: [UInt8], at now: Int64, _ effects: inout [TillEffect]
    ) throws(ZVTCommand.Refusal) {
        guard let right = settings.password, right != password else { return }
        if misuse.wrongPassword(at: now) { leave(isGone: false, &effects) }
        throw .password
    }

    private func check(_ code: UInt64?) throws(ZVTCommand.Refusal) {
        // Without a currency the euro is meant.
        guard code ?? 978 == UInt64(settings.currency.numeric) else { throw .currency }
    }

    private mutating func accept(_ packet: ZVTPacket, _ effects: inout [TillEffect]) {
        reply(.positive, &effects)
        stage = .ending
        outbox = [Outgoing(packet: packet, role: .end)]
    }

    // MARK: - Payments

    private mutating func begin(
        _ kind: TillOrder.Kind, _ sale: ZVTSale, at now: Int64, _ effects: inout [TillEffect]
    ) throws(ZVTCommand.Refusal) {
        // A registration may have named the currency before.
        if sale.currency != nil || !session.namesCurrency { try check(sale.currency) }
        let order = order(kind, sale)
        guard !sale.wantsEarlierCard else { return try refuse(order, 0x65, withResult: true, &effects) }
        guard order.amount > 0 else { return try refuse(order, 0xC8, withResult: false, &effects) }
        if try goesOn(order, sale, at: now, &effects) { return }
        var begun: [TillEffect] = []
        guard
            case .started(let key) = desk.ask(
                order, peer: guest?.peer ?? "", confirmWithin: sale.confirmWithin, &begun)
        else { throw .busy }
        // On disk first: a till that was answered asks for the last payment if it hears nothing more, and must not be shown the
        // one before. Everything slower comes after the answer, for which the till waits five seconds.
        effects += begun.filter(\.isRecord)
        reply(.positive, &effects)
        effects += begun.filter { !$0.isRecord }
        run(key, sale, &effects)
    }

    mutating func run(_ key: AttemptKey, _ sale: ZVTSale, _ effects: inout [TillEffect]) {
        stage = .running(key, sale)
        let patience = session.wantsProgress ? Self.longPatience : Self.patience
        effects.append(.arm(.patience(key), milliseconds: patience))
    }

    /// Taken, and not done: it is the last payment all the same.
    private mutating func refuse(
        _ order: TillOrder, _ code: UInt8, withResult: Bool, _ effects: inout [TillEffect]
    ) throws(ZVTCommand.Refusal) {
        guard desk.isFree else { throw .busy }
        desk.refuse(order, peer: guest?.peer ?? "", TillRefusal(.failed), &effects)
        refuseAtOnce(code, withResult: withResult, &effects)
    }

    mutating func refuseAtOnce(_ code: UInt8, withResult: Bool, _ effects: inout [TillEffect]) {
        reply(.positive, &effects)
        stop(code, withResult: withResult)
    }

    /// The till wants no payment any more. Whether it still can be stopped is the daemon's word; the result tells the till.
    private mutating func aborted(_ effects: inout [TillEffect]) {
        reply(.positive, &effects)
        switch stage {
        case .running(let key, _): effects.append(.cancel(key))
        case .reading: endRead(isAborted: true, &effects)
        case .clearing: stop(0x6C, withResult: true)
        case .idle, .telling, .printing, .reversing, .booking, .closingBatch, .ending: break
        }
    }

    // MARK: - The last payment

    private mutating func repeatLast(_ parts: UInt8, _ effects: inout [TillEffect]) throws(ZVTCommand.Refusal) {
        // Not settled yet: the till asks again.
        guard desk.isFree else { throw .busy }
        let withResult = parts & 0x01 != 0
        if let followed = desk.lastFollowed {
            let isReversal = followed.reversal == followed.highest
            guard followed.phase != .reversing, followed.booking?.phase != .asked else { throw .busy }
            reply(.positive, &effects)
            stage = .ending
            let result = isReversal ? answers.reversed(followed, session) : answers.booked(followed, session)
            outbox = withResult ? [Outgoing(packet: result, role: .notice)] : []
            if parts & 0x02 == 0 { outbox += followedPaper(followed.key) }
            outbox.append(Outgoing(packet: ZVTAnswer.completion, role: .end))
            return
        }
        reply(.positive, &effects)
        guard let last = desk.last else { return stop(ZVTCommand.Refusal.unknown.rawValue, withResult: false) }
        stage = .ending
        outbox = []
        if last.phase.isPaid, let approval = last.approval {
            if withResult {
                outbox.append(Outgoing(packet: answers.paid(last, approval, session), role: .notice))
            }
            if parts & 0x02 == 0 {
                outbox += paper(approval.receipts, number: last.receipt, session).map {
                    Outgoing(packet: $0, role: .notice)
                }
            }
        } else if withResult {
            let code = last.phase == .reversed ? 0xB4 : answers.code(of: last.refusal ?? TillRefusal(.failed))
            outbox.append(Outgoing(packet: answers.notPaid(code, text: last.refusal?.text), role: .notice))
        }
        outbox.append(Outgoing(packet: ZVTAnswer.completion, role: .end))
    }

    // MARK: - Reversals

    private mutating func reverse(
        _ receipt: UInt64, _ amount: Int64?, at now: Int64, _ effects: inout [TillEffect]
    ) throws(ZVTCommand.Refusal) {
        guard desk.isFree else { throw .busy }
        let found = desk.batch.last {
            $0.receipt == receipt && $0.approval != nil && $0.peer == guest?.peer && $0.order.kind != .reservation
        }
        guard let found, !misuse.isBarred(at: now), isRecent(found, at: now) else {
            return refuseGuess(at: now, &effects)
        }
        switch found.phase {
        case .told, .confirmed:
            guard amount == nil || amount == found.order.amount else {
                return refuseAtOnce(0xB7, withResult: true, &effects)
            }
            misuse.rightReceipt()
            reply(.positive, &effects)
            desk.reverse(found.key, &effects)
            stage = .reversing(found.key)
            effects.append(.arm(.patience(found.key), milliseconds: Self.patience))
        case .reversing: throw .busy
        case .reversed, .takingBack, .takenBack: refuseAtOnce(0xB4, withResult: true, &effects)
        case .running, .givenUp, .approved, .telling, .notPaid: refuseAtOnce(0xB5, withResult: true, &effects)
        }
    }

    private mutating func refuseGuess(at now: Int64, _ effects: inout [TillEffect]) {
        if !misuse.isBarred(at: now), misuse.wrongReceipt(at: now) { effects.append(.alarm(.reversalsBarred)) }
        refuseAtOnce(0xB5, withResult: true, &effects)
    }

    // MARK: - Reservations

    /// A reservation has as much time as it needs, and its till may have another address by then.
    private mutating func book(
        _ receipt: UInt64, _ trace: UInt64?, _ wish: ZVTBooking, at now: Int64, _ effects: inout [TillEffect]
    ) throws(ZVTCommand.Refusal) {
        guard desk.isFree else { throw .busy }
        guard let found = desk.reservation(receipt: receipt), !misuse.isBarred(at: now),
            trace ?? found.trace == found.trace
        else { return refuseGuess(at: now, &effects) }
        misuse.rightReceipt()
        guard let amount = wish.amount(of: found.order.amount) else {
            return refuseAtOnce(0xB7, withResult: true, &effects)
        }
        switch found.booking?.phase {
        case .asked: throw .busy
        // Its till has lost the answer, or wants what cannot be any more.
        case .done where found.booking?.amount == amount:
            reply(.positive, &effects)
            tellBooked(found)
        case .done: refuseAtOnce(0xB4, withResult: true, &effects)
        case .refused, nil:
            reply(.positive, &effects)
            desk.book(found.key, amount: amount, &effects)
            stage = .booking(found.key)
            effects.append(.arm(.patience(found.key), milliseconds: Self.patience))
        }
    }

    private func isRecent(_ attempt: Attempt, at now: Int64) -> Bool {
        isRecent(attempt, at: now, within: settings.reversalTime)
    }

    /// Settled in this run of the program, at most so many milliseconds ago.
    func isRecent(_ attempt: Attempt, at now: Int64, within time: Int64) -> Bool {
        guard let settledAt = attempt.settledAt else { return false }
        let (elapsed, overflow) = now.subtractingReportingOverflow(settledAt)
        return !overflow && elapsed <= time
    }
}
