// SPDX-License-Identifier: Apache-2.0
import Digits

/// A card that is read before its till has asked for a reservation, and what came of it.
struct ZVTRead: Equatable, Sendable {
    enum Found: Equatable, Sendable {
        /// A payment card; the sum is held, and is taken back unless a reservation asks for it.
        case held(aid: [UInt8])
        /// A payment card that pays nothing. The till hears of it when it asks for a reservation.
        case refused(TillRefusal, aid: [UInt8])
        /// What was presented has no payment application.
        case member(uid: [UInt8])
        /// No card that could be told.
        case nothing(UInt8)
    }

    let key: AttemptKey
    var found: Found?
    /// There is one on the reader.
    var isCardThere = false
    /// This question has had its second more.
    var hasMoreTime = false
    /// The till has acknowledged what was found: one card is told once.
    var isTold = false
}

extension ZVTTerminal.Role {
    /// The till is master once it has answered.
    var isEnd: Bool {
        switch self {
        case .end, .card(_, isLast: true): true
        case .progress, .result, .print, .totals, .notice, .card(_, isLast: false): false
        }
    }
}

/// 06 C0: a card is read, and the configured sum of it held. A 06 22 of that sum has the hold without a second presentation; whatever
/// nobody asks for is taken back.
///
/// The daemon waits for a card longer than one question does: a client asks every few seconds, and a transaction for each of them
/// would write all day. A card that comes between two questions is told to the next one.
extension ZVTTerminal {
    /// Seconds for which the daemon waits for a card.
    static let readDeadline = 600
    /// Where a till names none.
    static let readSeconds: UInt8 = 30
    /// Milliseconds for which a card is kept after it was read.
    static let keptTime: Int64 = 60_000
    /// Milliseconds for which a card is waited for without a question.
    static let unaskedTime: Int64 = 30_000
    /// Milliseconds beyond a till's time for a card that lies there. The till waits for two seconds more.
    static let moreTime: Int64 = 1_000
    /// Seconds: the time in which a card is kept, and two minutes to tell its till.
    static let confirmReadWithin = 180
    /// Applications by which a known client takes a payment card for none, hexadecimal: it finds no card then, and fails.
    private static let deniedApplications = ["A00000083", "A00000066"]

    // MARK: - The question

    mutating func readCard(
        _ seconds: UInt8?, _ effects: inout [TillEffect]
    ) throws(ZVTCommand.Refusal) {
        guard settings.reservations, let amount = settings.readAmount else { throw .unknown }
        reply(.positive, &effects)
        stage = .reading
        readNumber += 1
        read?.hasMoreTime = false
        effects.append(.arm(.card(readNumber), milliseconds: Int64(seconds ?? Self.readSeconds) * 1_000))
        if let read, read.found != nil, !read.isTold { return tellCard(&effects) }
        guard desk.open == nil, read == nil else { return }
        let order = TillOrder(kind: .read, amount: amount, currency: settings.currency)
        let admission = desk.ask(
            order, peer: guest?.peer ?? "", confirmWithin: Self.confirmReadWithin, deadline: Self.readDeadline, &effects
        )
        if case .started(let key) = admission { read = ZVTRead(key: key) }
    }

    /// The till's time is over, or the till wants no card any more.
    mutating func endRead(isAborted: Bool = false, _ effects: inout [TillEffect]) {
        guard stage == .reading else { return }
        if !isAborted, let read, read.found == nil, read.isCardThere, !read.hasMoreTime {
            self.read?.hasMoreTime = true
            effects.append(.arm(.card(readNumber), milliseconds: Self.moreTime))
            return
        }
        if let read, read.found == nil { effects.append(.arm(.kept(read.key), milliseconds: Self.unaskedTime)) }
        stop(0x6C, withResult: false)
    }

    mutating func noteCard(_ step: TillProgress.Step) {
        switch step {
        case .cardDetected, .authorising: read?.isCardThere = true
        case .cardAwaited, .cardNotReadable, .removeCard, .unlockPhone, .declined, .cancelled, .unknown, .reversed,
            .other:
            read?.isCardThere = false
        }
    }

    // MARK: - The card

    mutating func identified(_ key: AttemptKey, _ uid: [UInt8]) {
        if read?.key == key, read?.found == nil, (4...10).contains(uid.count) { read?.found = .member(uid: uid) }
    }

    mutating func readSettled(_ attempt: Attempt, _ effects: inout [TillEffect]) {
        guard attempt.phase == .approved else { return readRefused(attempt, &effects) }
        guard let aid = Self.told(attempt.approval?.aid) else {
            desk.giveUp(attempt.key, &effects)
            return found(.nothing(0x65), &effects)
        }
        found(.held(aid: aid), &effects)
    }

    private mutating func readRefused(_ attempt: Attempt, _ effects: inout [TillEffect]) {
        if case .member? = read?.found { return foundSomething(&effects) }
        // The daemon has taken back what nobody asked for.
        guard read?.found == nil else {
            read = nil
            return
        }
        let refusal = attempt.refusal ?? TillRefusal(.failed)
        if let aid = Self.told(refusal.aid) { return found(.refused(refusal, aid: aid), &effects) }
        // Nobody came: the till's next question waits anew.
        if refusal.reason == .deadline {
            read = nil
            return
        }
        found(.nothing(refusal.aid == nil ? answers.code(of: refusal) : 0x65), &effects)
    }

    /// - Returns: `nil` for an application that the client would not take for one of a payment card.
    private static func told(_ aid: String?) -> [UInt8]? {
        guard let aid, let bytes = ZVTText.hexadecimal(aid), (5...16).contains(bytes.count),
            !deniedApplications.contains(where: Hex.string(bytes).uppercased().hasPrefix)
        else { return nil }
        return bytes
    }

    private mutating func found(_ found: ZVTRead.Found, _ effects: inout [TillEffect]) {
        read?.found = found
        foundSomething(&effects)
    }

    private mutating func foundSomething(_ effects: inout [TillEffect]) {
        guard let read else { return }
        effects.append(.arm(.kept(read.key), milliseconds: Self.keptTime))
        if stage == .reading { tellCard(&effects) }
    }

    private mutating func tellCard(_ effects: inout [TillEffect]) {
        guard let read, let found = read.found else { return }
        let packet: ZVTPacket
        switch found {
        case .held(let aid), .refused(_, let aid): packet = ZVTAnswer.card(aid: aid)
        case .member(let uid): packet = ZVTAnswer.card(uid: uid)
        case .nothing(let code):
            self.read = nil
            return stop(code, withResult: false)
        }
        stage = .ending
        outbox = [Outgoing(packet: packet, role: .card(read.key, isLast: endsReadsAtResult))]
        if !endsReadsAtResult { outbox.append(Outgoing(packet: ZVTAnswer.completion, role: .end)) }
    }

    // MARK: - The reservation

    /// A charger's reservation has the charger's own name for it.
    func order(_ kind: TillOrder.Kind, _ sale: ZVTSale) -> TillOrder {
        TillOrder(
            kind: kind, amount: sale.amount ?? 0, currency: settings.currency,
            identity: kind == .reservation && settings.device != nil ? sale.token : nil)
    }

    /// - Returns: whether what was asked for has begun already, or goes on from a card that was read.
    mutating func goesOn(
        _ order: TillOrder, _ sale: ZVTSale, at now: Int64, _ effects: inout [TillEffect]
    ) throws(ZVTCommand.Refusal) -> Bool {
        if try asksAgain(order, sale, at: now, &effects) { return true }
        if let read, let found = read.found, order.kind == .reservation, order.amount == settings.readAmount {
            self.read = nil
            switch found {
            case .held:
                guard desk.claim(read.key, as: order, &effects) != nil else { break }
                claimed = read.key
                reply(.positive, &effects)
                tell(read.key, sale, at: now, &effects)
                return true
            case .refused(let refusal, _):
                desk.refuse(order, peer: guest?.peer ?? "", refusal, &effects)
                ended = desk.finished.last?.key
                reply(.positive, &effects)
                stop(answers.code(of: refusal), withResult: true, text: refusal.text)
                return true
            case .member, .nothing: break
            }
        }
        dropRead(&effects)
        guard let open = desk.open, open.order.kind == .read else { return false }
        // Given up, and not at its end yet.
        reply(.positive, &effects)
        stage = .clearing(order.kind, sale)
        effects.append(.arm(.patience(open.key), milliseconds: Self.patience))
        return true
    }

    mutating func beginCleared(_ kind: TillOrder.Kind, _ sale: ZVTSale, _ effects: inout [TillEffect]) {
        let admission = desk.ask(
            order(kind, sale), peer: guest?.peer ?? "", confirmWithin: sale.confirmWithin, &effects)
        guard case .started(let key) = admission else {
            return stop(ZVTCommand.Refusal.busy.rawValue, withResult: true)
        }
        run(key, sale, &effects)
    }

    /// A client that has lost its line asks again in the same words, and has the hold that it asked for. A name whose completion was
    /// heard belongs to that hold: there is no second one, and no other customer gets it.
    private mutating func asksAgain(
        _ order: TillOrder, _ sale: ZVTSale, at now: Int64, _ effects: inout [TillEffect]
    ) throws(ZVTCommand.Refusal) -> Bool {
        guard let identity = order.identity else { return false }
        if let open = desk.open, order.isRepeat(of: open.order) {
            switch open.phase {
            case .running:
                reply(.positive, &effects)
                run(open.key, sale, &effects)
            case .approved, .telling:
                reply(.positive, &effects)
                tell(open.key, sale, at: now, &effects)
            case .givenUp, .told, .confirmed, .takingBack, .takenBack, .notPaid, .reversing, .reversed: throw .busy
            }
            return true
        }
        if let held = desk.held.last(where: { $0.order.identity == identity }) {
            guard read?.found == nil, order.isRepeat(of: held.order), !heard.contains(held.key),
                isRecent(held, at: now, within: Int64(Self.confirmReadWithin) * 1_000), let approval = held.approval
            else {
                dropRead(&effects)
                refuseAtOnce(ZVTCommand.Refusal.busy.rawValue, withResult: false, &effects)
                return true
            }
            reply(.positive, &effects)
            stage = .ending
            ended = held.key
            let session = session.widened(by: sale)
            outbox = [Outgoing(packet: answers.paid(held, approval, session), role: .notice)]
            outbox += paper(approval.receipts, number: held.receipt, session).map {
                Outgoing(packet: $0, role: .notice)
            }
            outbox.append(Outgoing(packet: ZVTAnswer.completion, role: .end))
            return true
        }
        guard read?.found == nil, let last = desk.last, order.isRepeat(of: last.order), last.phase == .notPaid,
            !heard.contains(last.key), let refusal = last.refusal
        else { return false }
        ended = last.key
        reply(.positive, &effects)
        stop(answers.code(of: refusal), withResult: true, text: refusal.text)
        return true
    }

    private mutating func tell(_ key: AttemptKey, _ sale: ZVTSale, at now: Int64, _ effects: inout [TillEffect]) {
        stage = .telling(key, sale, tries: sale.tries)
        tell(at: now, &effects)
    }

    func confirmWithin(_ key: AttemptKey, _ sale: ZVTSale) -> Int {
        key == claimed ? Self.confirmReadWithin : sale.confirmWithin
    }

    mutating func endWasHeard() {
        guard let key = ended else { return }
        ended = nil
        heard.formIntersection(desk.finished.map(\.key))
        heard.insert(key)
    }

    // MARK: - Giving up

    /// Nobody wants the card any more: what is held of it is taken back.
    mutating func dropRead(_ effects: inout [TillEffect]) {
        guard let read else { return }
        self.read = nil
        desk.giveUp(read.key, &effects)
    }

    mutating func keptEnough(_ key: AttemptKey, _ effects: inout [TillEffect]) {
        if read?.key == key {
            if stage == .reading, read?.found == nil { return }
            return dropRead(&effects)
        }
        switch stage {
        case .running(key, _), .telling(key, _, _), .printing(key, _): break
        case .idle, .running, .reading, .clearing, .telling, .printing, .reversing, .booking, .closingBatch, .ending:
            desk.giveUp(key, &effects)
        }
    }

    /// A client whose line is lost comes back, and asks for the same.
    var canGoOnLater: Bool {
        switch stage {
        case .reading: true
        case .running(let key, _), .telling(let key, _, _), .printing(let key, _):
            desk.attempt(key)?.order.identity != nil
        case .idle, .clearing, .reversing, .booking, .closingBatch, .ending: false
        }
    }

    mutating func keepForLater(_ effects: inout [TillEffect]) {
        switch stage {
        case .reading:
            if let read, read.found == nil { effects.append(.arm(.kept(read.key), milliseconds: Self.unaskedTime)) }
        case .running(let key, _), .telling(let key, _, _), .printing(let key, _):
            desk.notTold(key, &effects)
            effects.append(.arm(.kept(key), milliseconds: Self.keptTime))
        case .idle, .clearing, .reversing, .booking, .closingBatch, .ending: break
        }
    }
}
