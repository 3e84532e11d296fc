// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues

/// One lane as its customer sees it: a machine over the daemon's events. Time is in milliseconds of a clock that nobody sets.
struct LaneDisplay: Sendable {
    private(set) var view: CustomerView
    /// Whose sale is shown; never sent.
    private(set) var transaction: TransactionID?
    /// The card is stored: an approval alone does not say so. Never sent.
    private var isStored = false
    /// What changes by itself, and when.
    private var later: (at: Int64, change: Later)?

    private struct Link {
        let id: TransactionID
        let amount: Money?
        let code: String
        /// Then it is shown no longer, whatever the daemon says.
        let until: Int64
    }

    /// The receipt that the customer may have sent, and whose sale it is of; the till is never told to the display.
    private struct ReceiptOffer {
        let word: String
        let owner: String
        /// How often an address may still be tried.
        var left = LaneDisplay.receiptTries
        var isSending = false
    }

    private var receiptOffer: ReceiptOffer?

    /// The link that is shown, or was when the daemon went away.
    private var link: Link?

    private enum Later {
        case goIdle, wait, callStaff
    }

    /// A card was read: so long the customer is told that it may go.
    static let readTime: Int64 = 2_000
    /// Addresses that the payment service may refuse before the customer is asked for none.
    static let receiptTries = 3
    static let resultTime: Int64 = 60_000
    static let receiptTime: Int64 = 120_000
    static let readerTime: Int64 = 30_000
    static let outageTime: Int64 = 5_000
    /// After a link's time: so long its end may take to come.
    static let linkGrace: Int64 = 20_000

    init(lane: String, mode: Mode? = nil, networks: [String]? = nil) {
        view = CustomerView(lane: lane, networks: networks, test: mode == .test ? true : nil)
    }

    // MARK: - What happens

    /// - Returns: whether the customer sees anything new.
    mutating func happened(_ event: Event, at now: Int64) -> Bool {
        let before = view
        if let id = event.transaction {
            guard id == transaction || mayBegin(event) else { return false }
            if id != transaction { begin(id) }
        } else if view.phase == .link {
            // It needs no reader: only a stranger's sale takes its place.
            guard event.name.asksForCard else { return false }
            goIdle()
        }
        apply(event, at: now)
        return told(event, since: before)
    }

    /// The last word on an earlier sale changes nothing of the one that runs, and one on a link nothing but that link.
    private func mayBegin(_ event: Event) -> Bool {
        guard event.lane != Transaction.noLane else { return false }
        return event.name.beginsSale || view.phase.isResult || transaction == nil
    }

    private mutating func told(_ event: Event, since before: CustomerView) -> Bool {
        if let mode = event.mode { view.test = mode == .test ? true : nil }
        guard view != before else { return false }
        view.cursor = event.id
        return true
    }

    /// A link can be paid: shown unless a sale runs on the lane.
    ///
    /// - Parameter code: its QR code, as `qr` of the view has it.
    mutating func opened(_ event: Event, code: String, at now: Int64) -> Bool {
        guard let id = event.transaction, let open = event.link else { return false }
        let isFree = transaction == nil && (view.phase == .idle || view.phase == .notReady)
        guard isFree || view.phase == .link || view.phase.isResult else { return false }
        let before = view
        let left = max(0, open.expiresAt.milliseconds &- event.at.milliseconds)
        link = Link(id: id, amount: event.amount, code: code, until: now &+ left &+ Self.linkGrace)
        showLink()
        return told(event, since: before)
    }

    /// Nobody knows what has become of a link meanwhile; an open one is told again.
    mutating func missed() -> Bool {
        link = nil
        guard view.phase == .link else { return false }
        goIdle()
        return true
    }

    private mutating func begin(_ id: TransactionID) {
        transaction = id
        (later, link, isStored) = (nil, nil, false)
        clear(.notReady, "notReady")
    }

    private mutating func apply(_ event: Event, at now: Int64) {
        switch event.name {
        case .prepareProgress:
            // The last one has no step.
            if event.step == nil { ready() } else if view.phase == .idle { show(.notReady, "notReady") }
        case .readReadyForTap:
            if event.transaction == nil { goIdle() }
            view.amount = event.amount
            // Whose sale it is decides what is known of it: of a stranger's there is no amount, and it is no pass for that.
            show(.ready, event.amount == nil && event.transaction != nil ? "pass" : "hold")
        case .readCardDetected:
            // A phone that lies there is looked at again and again: what its holder has to do stays until it is done.
            if view.phase != .again || view.key != "phone" { show(.reading, "hold") }
        case .readRetry: show(.again, Self.key(for: event))
        case .readRemoveCard, .readCompleted:
            show(.processing, "read")
            // A stranger's sale has no end that is told here.
            later = (now + Self.readTime, event.transaction == nil ? .goIdle : .wait)
        case .pinRequested:
            later = nil
            show(.processing, "pin")
        case .pinCompleted:
            if view.key == "pin" { show(.processing, "wait") }
        case .paymentAuthorizing:
            if view.phase != .processing { show(.processing, "wait") }
        case .paymentApproved:
            let whole = view.amount
            if event.result?.outcome == .partiallyApproved, let paid = event.result?.amountApproved {
                end(.partial, "partial", now)
                view.paid = paid
                view.open = whole.flatMap {
                    $0.currency == paid.currency ? Money(value: $0.value &- paid.value, currency: paid.currency) : nil
                }
            } else {
                end(.approved, event.message == .approvedPleaseSign ? "sign" : "approved", now)
                view.amount = event.result?.amountApproved ?? whole
                nameAct()
            }
        case .paymentDeclined where view.phase == .link:
            let isTakenBack = event.result?.reversal != nil
            end(isTakenBack ? .reversing : .cancelled, isTakenBack ? "reversing" : "cancelled", now)
        case .paymentDeclined: end(.declined, event.result?.action == .useOtherTerminal ? "chip" : "other", now)
        case .paymentUnknown: end(.unknown, "unknown", now)
        case .paymentReversed: end(.reversing, "reversing", now)
        case .paymentStored:
            let whole = view.amount
            end(.stored, "stored", now)
            view.amount = whole
        case .readCancelled: end(.cancelled, "cancelled", now)
        case .readNotCompleted: end(.failed, "failed", now)
        case .loyaltyResult:
            // Passes alone have no other end; with a payment its own follows.
            if view.amount == nil {
                show(.processing, "read")
                later = (now + Self.readTime, .goIdle)
            }
        case .readerDetached, .readerNotReady: unready(at: now)
        case .readerAttached: ready()
        case .queueForwarded, .queueFailed, .openItemContradicted, .termsChanged, .profileApplied, .profileRefused,
            .clockUnbelievable, .clockBelieved, .operationDone, .operationRefused, .operationUnknown, .paymentRefunded,
            .paymentExpiring, .paymentExpired, .cardStored, .cardDeleted, .dayClosed, .dayDiffers, .booksAttention,
            .eventsMissed, .linkOpened, .tapOffered, .tapRefused, .sessionClaimed, .sessionCommitted,
            .sessionReleased, .sessionExpiring:
            break
        }
    }

    /// What the daemon knows of the sale that is shown.
    mutating func learn(_ known: Transaction, at now: Int64) -> Bool {
        guard known.id == transaction, let details = known.details else { return false }
        let before = view
        let isHeld = details.isPreauthorization || details.capture?.mode == .manual
        (view.type, view.held) = (known.type, isHeld ? true : nil)
        isStored = known.credential != nil
        guard !view.phase.isResult else {
            nameAct()
            return view != before
        }
        view.items = details.items?.map {
            CustomerView.Line(
                label: $0.label, amount: $0.amount, kind: $0.kind, frequency: $0.frequency, begins: $0.begins)
        }
        let isOpen = details.amountStatus == .pending || details.isPreauthorization
        view.pending = isOpen ? true : nil
        view.payee = details.merchant.map { $0.onBehalfOf ?? $0.displayName }
        view.through = details.merchant.flatMap { $0.onBehalfOf == nil ? nil : $0.displayName }
        view.language = details.language
        return view != before
    }

    mutating func learn(qr: String, of id: TransactionID) -> Bool {
        guard id == transaction, view.phase == .approved || view.phase == .partial, view.qr == nil else { return false }
        view.qr = qr
        return true
    }

    // MARK: - A receipt to an address

    /// The payment service sends receipts: whoever stands here may ask for one.
    ///
    /// - Parameters:
    ///   - word: that nobody can guess; it holds for one receipt of this sale, as long as its end is shown.
    ///   - owner: the till whose sale it is.
    mutating func offer(word: String, of id: TransactionID, _ owner: String, at now: Int64) -> Bool {
        guard id == transaction, view.phase == .approved || view.phase == .partial, receiptOffer == nil else {
            return false
        }
        receiptOffer = ReceiptOffer(word: word, owner: owner)
        view.receiptWord = word
        // An address takes longer to type than a result to read.
        later = (now + Self.receiptTime, .goIdle)
        return true
    }

    /// A display asks for the receipt by its word. Until `answered` nobody else does.
    ///
    /// - Returns: of which sale, and whose it is; `nil` for a word that is not, or no longer, of the sale that is shown.
    mutating func ask(by word: String) -> (id: TransactionID, owner: String)? {
        guard let id = transaction, let offer = receiptOffer, offer.word == word, view.receiptWord == word,
            !offer.isSending
        else { return nil }
        receiptOffer?.isSending = true
        return (id, offer.owner)
    }

    /// The daemon has answered.
    ///
    /// - Parameter isTaken: the payment service sends it. The word is used up then, as it is after too many refusals.
    mutating func answered(_ word: String, isTaken: Bool) -> Bool {
        guard receiptOffer?.word == word, receiptOffer?.isSending == true else { return false }
        receiptOffer?.isSending = false
        receiptOffer?.left -= 1
        guard isTaken || receiptOffer?.left == 0 else { return false }
        view.receiptWord = nil
        return true
    }

    /// Networks whose cards the daemon takes, as it says now.
    mutating func taking(_ networks: [String]?) -> Bool {
        let before = view
        view.networks = networks
        return view != before
    }

    /// The lane as the daemon says it is, after a time without events.
    mutating func found(_ state: LaneStatus.State, _ mode: Mode, at now: Int64) -> Bool {
        let before = view
        view.test = mode == .test ? true : nil
        if state == .busy, view.phase != .link { link = nil }
        if view.phase == .offline, let link, now < link.until { showLink() }
        if view.phase == .link { return view != before }
        switch state {
        case .detached, .faulty: unready(at: now)
        case .preparing: if transaction == nil { show(.notReady, "notReady") }
        case .ready:
            // A sale whose end was missed is not shown: nobody knows it here.
            if !view.phase.isResult { goIdle() }
        case .busy: if view.phase == .offline { show(.notReady, "notReady") }
        }
        return view != before
    }

    /// The daemon does not answer.
    mutating func lost(at now: Int64) -> Bool {
        guard view.phase != .offline else { return false }
        transaction = nil
        clear(.offline, "notReady")
        later = (now + Self.outageTime, .callStaff)
        return true
    }

    /// When it changes by itself; `nil` where it does not.
    var due: Int64? { later?.at }

    /// Time goes by.
    mutating func tick(at now: Int64) -> Bool {
        guard let due = later, now >= due.at else { return false }
        later = nil
        switch due.change {
        case .wait: view.key = "wait"
        case .callStaff: view.key = "staff"
        case .goIdle: goIdle()
        }
        return true
    }

    // MARK: - What is shown

    /// An approval by the name of what was approved: a refund, a sum that is only held, a check or the storing of a card is
    /// no payment. A signature that is asked for goes before.
    private mutating func nameAct() {
        guard view.phase == .approved, view.key == "approved" || view.key == "checked" else { return }
        switch view.type {
        case .refund: view.key = "refunded"
        case .verification: view.key = isStored ? "cardSaved" : "checked"
        case .purchase, .charge, .link, .handover, .loyalty, nil: if view.held == true { view.key = "held" }
        }
    }

    private mutating func show(_ phase: CustomerView.Phase, _ key: String) {
        view.phase = phase
        view.key = key
        view.receiptWord = nil
        later = nil
    }

    /// Nothing of the sale stays but what was done, and with an approval its sum: where nothing was charged no amount stays.
    private mutating func end(_ phase: CustomerView.Phase, _ key: String, _ now: Int64) {
        (view.amount, view.items, view.pending, view.qr) = (nil, nil, nil, nil)
        (link, receiptOffer) = (nil, nil)
        show(phase, key)
        later = (now + Self.resultTime, .goIdle)
    }

    private mutating func showLink() {
        guard let link else { return }
        transaction = link.id
        clear(.link, "link")
        (view.amount, view.qr) = (link.amount, link.code)
        later = (link.until, .goIdle)
    }

    private mutating func goIdle() {
        transaction = nil
        (later, link, isStored) = (nil, nil, false)
        clear(.idle, "welcome")
    }

    /// Nothing of a sale stays; whether money moves, and whose cards are taken, is always said.
    private mutating func clear(_ phase: CustomerView.Phase, _ key: String) {
        receiptOffer = nil
        view = CustomerView(
            cursor: view.cursor, lane: view.lane, phase: phase, key: key, networks: view.networks, test: view.test)
    }

    private mutating func unready(at now: Int64) {
        guard !view.phase.isResult, view.phase != .notReady || later == nil else { return }
        view.amount = nil
        show(.notReady, "notReady")
        later = (now + Self.readerTime, .callStaff)
    }

    private mutating func ready() { if transaction == nil, view.phase == .notReady { goIdle() } }

    private static func key(for event: Event) -> String {
        switch event.customerAction {
        case .unlockPhone, .choosePass, .followSignUp: return "phone"
        case .presentOneCardOnly: return "one"
        case .askStaff: return "staff"
        case .presentAgain, .nothing, nil: break
        }
        if event.error?.code == ErrorCode.readCardUnsupported.rawValue { return "other" }
        return switch event.message {
        case .presentOneCardOnly: "one"
        case .seePhone: "phone"
        case .insertCard, .insertOrSwipe, .insertSwipeOrTryAnotherCard: "chip"
        default: "again"
        }
    }
}

extension EventName {
    /// It belongs to a sale that goes on, not to the end of an earlier one.
    fileprivate var beginsSale: Bool {
        switch self {
        case .prepareProgress, .readReadyForTap, .readCardDetected, .readRetry, .readRemoveCard, .readCompleted: true
        default: false
        }
    }

    /// A customer is to hold a card there.
    fileprivate var asksForCard: Bool { self == .readReadyForTap || self == .readCardDetected || self == .readRetry }
}
