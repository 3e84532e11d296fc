// SPDX-License-Identifier: Apache-2.0

extension ZVTTerminal {
    // MARK: - While it runs

    mutating func showed(_ key: AttemptKey, _ progress: TillProgress, _ effects: inout [TillEffect]) {
        if read?.key == key { return noteCard(progress.step) }
        guard case .running(key, let sale) = stage, session.wantsProgress else { return }
        let withText = session.widened(by: sale).takesContainers && settings.device == nil
        // One that has not left yet is out of date.
        outbox.removeAll { $0.role == .progress }
        outbox.append(Outgoing(packet: ZVTAnswer.progress(progress, withText: withText), role: .progress))
        shown = progress
        effects.append(.arm(.keepWaiting, milliseconds: Self.waitingTime))
    }

    mutating func settled(
        _ key: AttemptKey, _ outcome: TillOutcome, at now: Int64, _ effects: inout [TillEffect]
    ) {
        let attempt = desk.settle(key, outcome, at: now, &effects)
        if case .clearing(let kind, let sale) = stage, desk.open == nil { beginCleared(kind, sale, &effects) }
        guard let attempt else { return }
        if read?.key == key { return readSettled(attempt, &effects) }
        switch stage {
        case .running(key, let sale):
            guard attempt.phase == .approved else {
                ended = key
                return stop(
                    answers.code(of: attempt.refusal ?? TillRefusal(.failed)), withResult: true,
                    text: attempt.refusal?.text)
            }
            stage = .telling(key, sale, tries: sale.tries)
            tell(at: now, &effects)
        // The daemon has taken it back while the till was told.
        case .telling(key, _, _), .printing(key, _): stop(0x6C, withResult: false)
        case .idle, .running, .reading, .clearing, .telling, .printing, .reversing, .booking, .closingBatch, .ending:
            // One with a name is asked for again when its line is back.
            if attempt.order.identity == nil { desk.giveUp(key, &effects) }
        }
    }

    mutating func lostPatience(_ key: AttemptKey, _ effects: inout [TillEffect]) {
        switch stage {
        // An approval that still comes is taken back: by what the till is told, it is not paid.
        case .running(key, _):
            desk.giveUp(key, &effects)
            stop(0xA1, withResult: true)
        case .reversing(key), .booking(key): stop(0xA1, withResult: false)
        case .clearing: stop(0xA1, withResult: true)
        case .idle, .running, .reading, .telling, .printing, .reversing, .booking, .closingBatch, .ending: break
        }
    }

    // MARK: - Telling

    mutating func tell(at now: Int64, _ effects: inout [TillEffect]) {
        guard case .telling(let key, let sale, _) = stage else { return }
        guard desk.beginTelling(key, at: now, confirmWithin: confirmWithin(key, sale), &effects),
            let attempt = desk.attempt(key), let approval = attempt.approval
        else { return stop(0x6C, withResult: true) }
        outbox.removeAll { $0.role == .progress }
        let packet = answers.paid(attempt, approval, session.widened(by: sale))
        outbox.append(Outgoing(packet: packet, role: .result(key)))
    }

    mutating func tellAgain(at now: Int64, _ effects: inout [TillEffect]) {
        if case .telling = stage, awaited == nil { tell(at: now, &effects) }
    }

    mutating func answered(_ packet: ZVTPacket, at now: Int64, _ effects: inout [TillEffect]) {
        guard let (_, out) = awaited else {
            strayAnswers += 1
            if strayAnswers >= Self.strays { leave(isGone: false, &effects) }
            return
        }
        awaited = nil
        strayAnswers = 0
        switch out.role {
        case .progress, .notice: break
        case .end:
            endWasHeard()
            rest()
        case .card(let key, let isLast):
            if read?.key == key { read?.isTold = true }
            if isLast { rest() }
        case .result(let key): answeredResult(key, packet, at: now, &effects)
        case .print(let key, let isLast):
            guard case .printing(key, let sale) = stage else { return }
            if !packet.isPositive {
                desk.takeBack(key, .refusedByTill, &effects)
                stop(0x6C, withResult: false)
            } else if isLast {
                finish(key, sale, at: now, &effects)
            }
        case .totals:
            guard packet.isPositive else { return stop(0x6C, withResult: false) }
            desk.closeBatch(&effects)
            stage = .ending
            outbox.append(Outgoing(packet: ZVTAnswer.completion, role: .end))
        }
    }

    private mutating func answeredResult(
        _ key: AttemptKey, _ packet: ZVTPacket, at now: Int64, _ effects: inout [TillEffect]
    ) {
        guard case .telling(key, let sale, let tries) = stage else { return }
        if packet.isPositive {
            let attempt = desk.attempt(key)
            let prints = paper(
                attempt?.approval?.receipts ?? [], number: attempt?.receipt ?? 0, session.widened(by: sale))
            guard !prints.isEmpty else { return finish(key, sale, at: now, &effects) }
            stage = .printing(key, sale)
            outbox += prints.enumerated().map { index, packet in
                Outgoing(packet: packet, role: .print(key, isLast: index == prints.count - 1))
            }
            return
        }
        switch packet.control {
        case 0x849C where tries > 1:
            stage = .telling(key, sale, tries: tries - 1)
            effects.append(.arm(.again(number), milliseconds: Self.againTime))
        case 0x849C:
            desk.takeBack(key, .refusedByTill, &effects)
            stop(0x6C, withResult: true)
        // Part of the goods: only the whole sum can be taken back.
        case 0x849D:
            desk.takeBack(key, .refusedByTill, &effects)
            stop(0xB5, withResult: true)
        default:
            desk.takeBack(key, .refusedByTill, &effects)
            stop(0x6C, withResult: false)
        }
    }

    /// The till knows of the approval, and has printed it.
    private mutating func finish(
        _ key: AttemptKey, _ sale: ZVTSale, at now: Int64, _ effects: inout [TillEffect]
    ) {
        guard desk.beginTelling(key, at: now, confirmWithin: confirmWithin(key, sale), &effects) else {
            return stop(0x6C, withResult: true)
        }
        desk.told(key, at: now, &effects)
        stage = .ending
        ended = key
        outbox = [Outgoing(packet: ZVTAnswer.completion, role: .end)]
    }

    // MARK: - The end

    /// Not paid, or not done: the result if the till has to hear one, then the abort.
    mutating func stop(_ code: UInt8, withResult: Bool, text: String? = nil) {
        stage = .ending
        outbox = withResult ? [Outgoing(packet: answers.notPaid(code, text: text), role: .notice)] : []
        outbox.append(Outgoing(packet: ZVTAnswer.abort(code), role: .end))
    }

    /// T3 is over. The till has the result before a completion, so that nothing hangs on an answer to that.
    mutating func unanswered(_ effects: inout [TillEffect]) {
        let isLast = awaited?.out.role.isEnd ?? false
        awaited = nil
        if isLast { rest() } else { leave(isGone: false, &effects) }
    }

    mutating func reversed(
        _ key: AttemptKey, _ answer: TillInput.Answer, _ effects: inout [TillEffect]
    ) {
        guard stage == .reversing(key) else { return }
        switch answer {
        case .done:
            guard let attempt = desk.attempt(key) else { return stop(0xB5, withResult: true) }
            stage = .ending
            outbox = [
                Outgoing(packet: answers.reversed(attempt, session), role: .notice)
            ]
            outbox += followedPaper(key)
            outbox.append(Outgoing(packet: ZVTAnswer.completion, role: .end))
        case .already: stop(0xB4, withResult: true)
        case .refused: stop(0xB5, withResult: true)
        case .unknown: stop(0xA1, withResult: false)
        }
    }

    mutating func booked(_ key: AttemptKey, _ answer: TillInput.Answer) {
        guard stage == .booking(key) else { return }
        switch answer {
        case .done, .already: if let attempt = desk.attempt(key) { tellBooked(attempt) }
        case .refused: stop(0xB5, withResult: true)
        case .unknown: stop(0xA1, withResult: false)
        }
    }

    /// An answer that is lost costs nothing: the same booking, asked for again, has the same answer.
    mutating func tellBooked(_ attempt: Attempt) {
        stage = .ending
        outbox = [
            Outgoing(packet: answers.booked(attempt, session), role: .notice)
        ]
        outbox += followedPaper(attempt.key)
        outbox.append(Outgoing(packet: ZVTAnswer.completion, role: .end))
    }
}
