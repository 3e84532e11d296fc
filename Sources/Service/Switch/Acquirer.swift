// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Envelope
import ISO8583
import Linux
import Logging
import PSPAPI
import PaymentValues
import PostgreSQL

/// What is asked for, as it stands in the books before it is sent.
enum Intent: Sendable {
    case payment(PaymentIntent)
    case operation(OperationIntent)
    case day(DayTotals)

    var id: ExchangeID {
        switch self {
        case .payment(let intent): ExchangeID(intent.request.id.text)
        case .operation(let intent): ExchangeID(intent.id.text)
        case .day(let day): ExchangeID(day.id)
        }
    }

    var isAdvice: Bool {
        switch self {
        case .payment(let intent): intent.request.offline
        case .operation(let intent): intent.kind != .refund
        case .day: true
        }
    }

    func input(_ message: ISOMessage) -> LinkInput {
        if case .day = self { return .reconcile(id, message) }
        return isAdvice ? .advise(id, message) : .authorize(id, message)
    }
}

/// What becomes of what was asked for.
enum Reply: Sendable {
    /// The answer, as it is in the books.
    case answer(String)
    /// Begun, and not decided yet.
    case pending
    case knownPayment(KnownPayment)
    case knownOperation(KnownOperation)
    case replayed
    /// It is or was spoken of here: the books say what became of it.
    case inUse
    case moved
    case unknownPayment
    /// It was not begun, with what can be said of it.
    case notSent(HostDecision)
    /// Nobody knows: neither that it was carried out nor that it was not.
    case failed
}

/// The link to the acquirer with its clock, its books and whoever waits. What the link wants recorded is committed before anything
/// after it happens; records of one exchange follow each other, those of different ones go side by side.
///
/// More than fifteen stored properties: what it works with, what is under way, and the line.
actor Acquirer {
    let packager: Packager
    let store: SwitchStore
    let keys: any EnvelopeOpener
    let seat: Seat
    let logger: Logger
    let measures: SwitchMeasures
    let pace = LogPace()
    var link: AcquirerLink
    var waiters: [ExchangeID: CheckedContinuation<Reply, Never>] = [:]
    var intents: [ExchangeID: Intent] = [:]
    /// Payments that were begun here and have no answer yet.
    var asked: [ExchangeID: AskedPayment] = [:]
    /// What is being written of an exchange, and how much more.
    var writing: [ExchangeID: (last: Task<Void, Never>, count: Int)] = [:]
    /// Not begun, or another replica's: what is still queued of them is left out.
    var dropped: Set<ExchangeID> = []
    /// Exchanges at an end, oldest first: late answers to them are known for a while.
    var ended: [(id: ExchangeID, at: UInt64)] = []
    /// Sends bytes; closes without any.
    var line: (@Sendable ([UInt8]?) -> Void)?
    /// Whether the line takes more: a host that does not read fills no memory here.
    var lineTakes: @Sendable () -> Bool = { true }
    var isLost = false
    /// `nil` where messages carry no code.
    let codes: LineCodes?
    /// Told the number of a transaction before a till is told what it committed.
    let heard: @Sendable (Int64) -> Void

    init(
        packager: Packager, rules: LinkRules, store: SwitchStore, keys: any EnvelopeOpener, seat: Seat, start: HostTime,
        logger: Logger, measures: SwitchMeasures, macs: (any MessageAuthenticator)? = nil,
        heard: @escaping @Sendable (Int64) -> Void = { _ in }
    ) {
        codes = packager.mac == nil ? nil : macs.map { LineCodes(packager, $0, logger, measures) }
        self.heard = heard
        self.measures = measures
        self.packager = packager
        self.store = store
        self.keys = keys
        self.seat = seat
        self.logger = logger
        // Without books the link has nothing that the time would matter to.
        link = AcquirerLink(
            packager, rules: rules, stan: seat.trace, stans: seat.traces,
            at: LinkMoment(milliseconds: 0, time: start))
    }

    var isSignedOn: Bool { link.isSignedOn }

    /// Whether the host can be reached: it has taken the sign-on, and answers payments, not echoes alone.
    var isReached: Bool { link.isSignedOn && link.isAnswering }
    var unanswered: Int { link.unanswered }

    /// A trace number that is not reached before the seat is kept again.
    var reserved: Int {
        let ahead = link.stan + 5_000
        return seat.traces.contains(ahead) ? ahead : seat.traces.lowerBound + 5_000
    }

    /// Milliseconds since the machine was started, and what time it is; `nil` where the clock shows another century.
    private static var moment: LinkMoment? {
        HostTime(Timestamp.now).map { LinkMoment(milliseconds: MachineClock.all / 1_000_000, time: $0) }
    }

    // MARK: - Asking

    /// Asks the acquirer for what was intended, once: whoever comes second learns what there is.
    @discardableResult func submit(_ intent: Intent, _ message: ISOMessage) async -> Reply {
        let id = intent.id
        // Nothing of it would leave. What is repeated anyway is written down first.
        guard intent.isAdvice || lineTakes() else { return .notSent(HostDecision(.declined, "91")) }
        // A replica that declines at once because its link is only just coming would draw all sales of a proxy that counts connections.
        for _ in 0..<60 where !link.isSignedOn && !intent.isAdvice && !isLost {
            // A cancelled sleep ends early, which does no harm.
            try? await Task.sleep(for: .milliseconds(50))
        }
        guard !isLost, waiters[id] == nil, intents[id] == nil else { return isLost ? .failed : .inUse }
        return await withCheckedContinuation { continuation in
            waiters[id] = continuation
            intents[id] = intent
            if !put(intent.input(message)) { resume(id, .failed) }
        }
    }

    /// Lets the link know of something, and does what follows from it.
    ///
    /// - Returns: whether it could: messages show the time, and a clock that is wrong by decades has none to show.
    @discardableResult func put(_ input: LinkInput) -> Bool {
        guard let moment = Self.moment else {
            logger.critical("the machine's clock is wrong: set it")
            return false
        }
        // Apart, so that what became due does not wait for what has come.
        perform(link.handle(.tick, at: moment))
        if input != .tick { perform(link.handle(input, at: moment)) }
        return true
    }

    /// What became due, and what need not be known any more.
    func tick() {
        put(.tick)
        let now = MachineClock.all / 1_000_000
        while let first = ended.first, first.at + link.rules.lateWithin < now {
            ended.removeFirst()
            if link.exchange(first.id)?.wouldBeHeard == true {
                write(first.id) { (store, id) throws(DatabaseError) in try await store.closeUnapproved(id) }
            }
            put(.forget(first.id))
        }
    }

    func resume(_ id: ExchangeID, _ reply: Reply) {
        intents[id] = nil
        waiters.removeValue(forKey: id)?.resume(returning: reply)
    }

    /// An advice is answered by the acquirer in its own time.
    func answerPending(_ id: ExchangeID) { waiters.removeValue(forKey: id)?.resume(returning: .pending) }

    /// Another one holds the seat: nothing that is known here counts any more.
    func lose() {
        isLost = true
        line?(nil)
        for id in Array(waiters.keys) { resume(id, .failed) }
    }

    // MARK: - Taking up

    /// An open exchange from the books.
    func take(_ row: Row) async {
        let id = ExchangeID(row.text("id"))
        guard writing[id] == nil, intents[id] == nil else { return }
        if let known = link.exchange(id), known.isOpen, row["wanted"] == nil { return }
        let content: SecretBytes?
        do throws(OpeningRefusal) {
            content =
                if let sealed = row.bytes("sealed") { try await keys.unseal(sealed, for: id.description) } else { nil }
        } catch .unavailable, .busy {
            // The books' own round brings it again.
            return pace.log(logger, .error, "an open exchange waits for the keys", ["id": "\(id)"])
        } catch .unknownKey {
            measures.count(.unknownKey)
            return pace.log(
                logger, .critical, "an open exchange is sealed with a key that is not here: bring it back",
                ["id": "\(id)"])
        } catch {
            content = nil
        }
        guard let content, let exchange = StoredExchange.exchange(row, content, packager) else {
            measures.count(.unreadable)
            return pace.log(
                logger, .critical, "an exchange cannot be read: a person has to look at it", ["id": "\(id)"])
        }
        dropped.remove(id)
        let (age, within) = (UInt64(clamping: row.number("age") ?? 0), link.rules.answerWithin)
        put(.adopt(exchange, rest: within - min(within, age * 1_000)))
        if let wanted = row["wanted"] { put(.reverse(id, ReversalReason(rawValue: wanted) ?? .timeout)) }
    }
}
