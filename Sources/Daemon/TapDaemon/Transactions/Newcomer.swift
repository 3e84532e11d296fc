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
struct Newcomer {
    let demand: TransactionDemand
    let configuration: ConfigurationSnapshot
    let profiles: ProfileStore
    private let loyalty: Result<LoyaltyRequest?, ErrorBody>

    var request: TransactionRequest { demand.request }
    private var isPayment: Bool { request.type != .loyalty }

    init(_ demand: TransactionDemand, _ configuration: ConfigurationSnapshot, _ profiles: ProfileStore) {
        (self.demand, self.configuration, self.profiles) = (demand, configuration, profiles)
        loyalty = Result { () throws(ErrorBody) in try configuration.offer.request(demand.request) }
    }

    /// What there is to say about it before the lanes are looked at.
    ///
    /// - Parameter paid: what the journal has paid its order with.
    func facts(_ books: Books, paid: TransactionID?) -> AdmissionFacts {
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

    func dryRun(_ lane: String) -> DryRunAnswer {
        DryRunAnswer(mode: configuration.mode, type: request.type, lane: lane)
    }

    /// - Parameter failedReads: of the same order, before.
    /// - Parameter health: says how long the payment service keeps keys.
    func running(
        on names: [String], _ lane: String, _ offline: OfflineSettings, failedReads: Int, health: AdapterHealthCheck
    ) -> Running {
        let now = Moment.now
        let services = PaymentServices(configuration, profiles.current)
        var terms = RunTerms(
            terminal: profiles.currentTerminal(), addressee: services.addressee, offline: offline)
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
        var laidDown = Demand(kind: AuthorizationRequest.Kind(request), owner: demand.key.owner)
        laidDown.deadline = request.deadline ?? Limits.defaultDeadlineSeconds
        laidDown.isDetached = request.detached ?? false
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
            terms.pinPlaces = PINPlaces(configuration, takesSingleTap: takesSingleTap)
        }
        laidDown.isHandedOver = request.of != nil
        laidDown.wantsPasses = terms.loyalty != nil
        laidDown.lanes = names
        laidDown.times = configuration.adapter.times.ofMachine
        laidDown.times.keyLife = health.keyLife(at: services.current.socket) ?? .zero
        if isPayment {
            laidDown.maximumReads = terms.terminal.maxTapRetries
            laidDown.earlierFailedReads = failedReads
        }
        var running = Running(TransactionMachine(transaction, laidDown, at: now), terms)
        running.begunAt = now.monotonic
        return running
    }
}

extension Running {
    /// What the journal has of a transaction, made a machine again so that something can happen to it.
    init(_ record: JournalRecord, _ terms: RunTerms, _ times: AdapterTimes) {
        var demand = Demand(kind: .sale, owner: record.owner)
        demand.times = times.ofMachine
        self.init(
            TransactionMachine(
                recorded: record.transaction, demand, reversal: record.reversal, open: record.open, at: .now),
            terms)
    }
}

extension NewTransaction {
    init(_ demand: TransactionDemand, _ transaction: Transaction, _ service: AskedService?) {
        self.init(
            id: transaction.id, owner: demand.key.owner, idempotencyKey: demand.key.key,
            requestHash: demand.requestHash, type: transaction.type, mode: transaction.mode, lane: transaction.lane,
            amount: transaction.amount,
            order: transaction.order, at: transaction.createdAt, details: transaction.details, service: service)
        retryOf = transaction.retryOf
    }
}

extension AdapterTimes {
    /// What the machine has to know of them.
    var ofMachine: Demand.Times {
        var times = Demand.Times()
        times.answer = answer
        times.handover = handover
        times.readLife = readLife
        times.query = query
        times.pause = pause
        times.reversal = reversal
        return times
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
