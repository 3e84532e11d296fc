// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Configuration
import Journal
import Loyalty
import POSAPI
import PSPAPI
import PaymentValues
import Profile
import Transactions

/// A request that may become a transaction, with the configuration and the profile that hold for all of it.
struct TransactionDraft: Sendable {
    /// What becomes of a draft that nothing speaks against.
    enum Entry: Sendable {
        /// A dry run: nothing was entered.
        case tried(DryRunAnswer)
        case entered(LiveTransaction)
    }

    let demand: AdmissionRequest
    let kind: AdmissionKind
    let configuration: ConfigurationSnapshot
    let profiles: ProfileStore
    /// Says what the payment service can do, and how long it keeps keys.
    let health: AdapterHealthCheck
    let services: PaymentServices
    private let displays: LaneDisplays
    /// What the journal has paid its order with.
    private let paid: TransactionID?
    private let loyalty: Result<LoyaltyRequest?, ErrorBody>

    var request: TransactionRequest { demand.request }
    /// Most that backends may ask for within 24 hours, in minor units; `nil` where no such limit holds.
    var dayLimit: Int64? {
        demand.origin == nil ? nil : configuration.remote?.dayLimits[request.amount.currency]
    }
    private var isPayment: Bool { request.type != .loyalty }

    init(
        _ demand: AdmissionRequest, _ kind: AdmissionKind, paid: TransactionID?,
        _ configuration: ConfigurationSnapshot, _ profiles: ProfileStore, _ health: AdapterHealthCheck,
        _ displays: LaneDisplays
    ) {
        self.displays = displays
        (self.demand, self.kind, self.paid) = (demand, kind, paid)
        (self.configuration, self.profiles, self.health) = (configuration, profiles, health)
        services = PaymentServices(configuration, profiles.current)
        loyalty = Result { () throws(ErrorBody) in try configuration.offer.request(demand.request) }
    }

    /// Enters it, in the same step in which its order and its lanes are found free.
    ///
    /// - Returns: what speaks against it, where it was not entered.
    func enter(_ books: inout TransactionTable) -> Result<Entry, ErrorBody> {
        Result { () throws(ErrorBody) in
            let (table, facts) = (books.lanes.table, facts(books))
            let lanes = try seen(kind.lanes(self) { () throws(ErrorBody) in try table.admit(request, facts).get() })
            guard let lane = request.asksForCard ? lanes.first : Transaction.noLane else {
                throw ErrorBody(.internalFault)
            }
            if request.dryRun == true {
                return .tried(DryRunAnswer(mode: configuration.mode, type: request.type, lane: lane))
            }
            guard books.pace.take(demand.key.owner, bytes: demand.bytes, at: .now) else {
                throw ErrorBody(.requestTooOften)
            }
            books.reads.expire(at: .now)
            let running = running(
                on: lanes, lane, failedReads: books.failedReads.count(of: request.order),
                read: request.retryOf.flatMap { books.reads[$0] })
            books.enter(running, demand.key)
            return .entered(running)
        }
    }

    /// Lanes on which a backend may ask for money: nobody of the shop stands there and says how much it is.
    private func seen(_ lanes: [String]) throws(ErrorBody) -> [String] {
        guard demand.origin != nil, configuration.remote?.isUnseen == false, request.amount.value > 0 else {
            return lanes
        }
        let seen = lanes.filter { displays.shows($0, at: .now) }
        guard !seen.isEmpty else { throw ErrorBody(.remoteUnseen, field: "lane") }
        return seen
    }

    /// What there is to say about it before the lanes are looked at.
    private func facts(_ books: TransactionTable) -> AdmissionFacts {
        var facts = AdmissionFacts(mode: configuration.mode)
        if case .failure(let refusal) = loyalty { facts.passesRefusal = refusal }
        facts.isStopping = books.isStopping
        facts.lanes = demand.lanes
        // What terms, profile and mode have against a payment.
        facts.paymentRefusal =
            profiles.refusal().map { ErrorBody(error: $0) }
            ?? profiles.refusal(of: request.amount.currency).map { ErrorBody($0, field: "amount.currency") }
        facts.unresolved = books.unresolved(request.order)
        facts.paid = books.sales.payment(of: request.order, in: configuration.mode) ?? paid
        return facts
    }

    /// What the payment service cannot do of what is wished for after the approval. Said before the tap: what nobody can capture
    /// is not to be held.
    ///
    /// - Parameter supports: `nil` where nothing has been heard of the service since the start.
    func refusal(by supports: Set<String>?) -> ErrorBody? {
        guard let wish = request.capture, wish.mode == .manual, let supports else { return nil }
        guard supports.contains(AdapterFeature.capture.rawValue) else {
            return ErrorBody(.captureNotSupported, field: "capture")
        }
        guard wish.incremental != true || supports.contains(AdapterFeature.adjust.rawValue) else {
            return ErrorBody(.adjustmentNotSupported, field: "capture.incremental")
        }
        return nil
    }

    /// Another way to pay goes on with what a card gave that wanted a PIN.
    private var goesOnWithReads: Bool { health.supports?.contains(AdapterFeature.pinFallback.rawValue) == true }

    /// - Parameters:
    ///   - failedReads: of the same order, before.
    ///   - read: what the card of the sale before gave.
    private func running(on names: [String], _ lane: String, failedReads: Int, read: KeptRead?) -> LiveTransaction {
        let now = Moment.now
        let route = services.route(kind.service ?? services.current)
        var terms = TransactionContext(
            terminal: profiles.currentTerminal(), route: route,
            offline: OfflineSettings(configuration.configuration, profiles.current))
        terms.loyalty = try? loyalty.get()
        terms.marker = configuration.surroundings.marker
        terms.preferredApplications = (request.preferredApplications ?? []).compactMap { try? Hex.bytes($0) }
        var transaction = Transaction(
            id: TransactionID(), type: request.type, mode: configuration.mode, lane: lane, amount: request.amount,
            order: request.order, createdAt: now.wall)
        transaction.till = demand.key.owner.till
        transaction.retryOf = request.retryOf
        transaction.of = request.of
        if isPayment {
            transaction.details = TransactionDetails(
                request, merchant: profiles.current.map { Merchant($0.merchant) } ?? configuration.shop,
                terminal: configuration.terminal.id)
            // A service of before captures keeps working, and nobody waits for a capture in vain.
            if request.type == .purchase, request.isPreauthorization, let supports = health.supports,
                !supports.contains(AdapterFeature.capture.rawValue)
            {
                transaction.details?.capturable = false
            }
        }
        var laidDown = TransactionParameters(kind: AuthorizationRequest.Kind(request), owner: demand.key.owner)
        laidDown.deadline = request.deadline ?? Limits.defaultDeadlineSeconds
        laidDown.notAfter = request.notAfter.map { now.moment(of: $0) }
        // Where nobody stands there with a card, the client's going away changes nothing.
        laidDown.isDetached = request.asksForCard ? request.detached ?? false : true
        laidDown.confirmWithin = request.confirmWithin
        laidDown.confirmRepeatWithin = request.confirmRepeatWithin
        laidDown.language = request.language
        laidDown.isAccessible = request.accessible == true
        laidDown.storing = request.terms.map { terms in
            Agreement(AgreementID(), terms, hash: Journal.hash(of: terms.text), agreedAt: now.wall)
        }
        if health.supports?.contains(AdapterFeature.charge.rawValue) == true {
            terms.agreement = laidDown.storing.map(AgreementProof.init)
        }
        if request.type == .purchase, health.supports?.contains(AdapterFeature.pin.rawValue) == true {
            let takesSingleTap = health.supports?.contains(AdapterFeature.singleTap.rawValue) == true
            terms.pinPlaces = PINDeviceSlots(configuration, takesSingleTap: takesSingleTap)
        }
        laidDown.wantsPasses = terms.loyalty != nil
        laidDown.lanes = names
        laidDown.times = configuration.adapter.times
        laidDown.keyLife = route.service.flatMap { health.keyLife(at: $0.socket) } ?? .zero
        if isPayment, request.asksForCard {
            laidDown.maximumReads = terms.terminal.maxTapRetries
            laidDown.earlierFailedReads = failedReads
        }
        // A link or a terminal takes all at once: what is to be held has no other way.
        laidDown.keepsRead = request.type == .purchase && !request.isPreauthorization && goesOnWithReads
        kind.layDown(&laidDown, &terms, of: transaction, self)
        if goesOnWithReads { laidDown.link?.read = read }
        var running = LiveTransaction(TransactionMachine(transaction, laidDown, at: now), terms)
        running.begunAt = now.monotonic
        return running
    }
}

extension TransactionDraft {
    /// What the journal is to have of it.
    func written(_ running: LiveTransaction) -> NewTransaction {
        let (key, transaction) = (demand.key, running.transaction)
        var new = NewTransaction(
            id: transaction.id, owner: key.owner, idempotencyKey: key.key, requestHash: demand.requestHash,
            type: transaction.type, mode: transaction.mode, lane: transaction.lane, amount: transaction.amount,
            order: transaction.order, at: transaction.createdAt, details: transaction.details,
            service: running.terms.route.service)
        new.retryOf = transaction.retryOf
        if let origin = demand.origin {
            new.remote = NewTransaction.Remote(
                signer: origin.signer, key: origin.key,
                dayLimit: dayLimit)
        }
        new.agreement = running.machine.demand.storing
        return new
    }
}

extension TransactionRequest {
    fileprivate var isPreauthorization: Bool {
        amountStatus == .preauthorized || description?.isPreauthorization ?? false
    }
}

extension AuthorizationRequest.Kind {
    init(_ request: TransactionRequest) {
        switch request.type {
        case .purchase: self = request.isPreauthorization ? .preauth : .sale
        case .refund: self = .refund
        case .verification, .loyalty: self = .verify
        // Not asked for with an authorisation.
        case .charge, .link, .handover: self = .sale
        }
    }
}
