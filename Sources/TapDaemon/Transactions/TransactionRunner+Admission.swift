// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Configuration
import Journal
import Logging
import Loyalty
import Profile
import Transactions
import Wire

/// Which requests become transactions.
extension TransactionRunner {
    /// Takes a key for one request until it has been answered.
    ///
    /// - Returns: `nil`, or what to answer instead.
    func claim(_ key: UserKey) -> ErrorBody? { keys.claim(key) }

    func release(_ key: UserKey) { keys.release(key) }

    /// Accepts a request, reserves the lane and writes the transaction down. Refused, it leaves nothing behind.
    func admit(_ demand: TransactionDemand) async -> Admission {
        do throws(JournalError) {
            let earlier = try await journal.earlier(
                uid: demand.key.uid, idempotencyKey: demand.key.key, requestHash: demand.requestHash)
            switch earlier {
            case .repeated(let id):
                guard let transaction = try await transaction(id) else { return .refused(.storageFailed) }
                return .repeated(transaction)
            case .keyReused(let id): return .refused(.idempotencyKeyReused, by: id)
            case .erased: return .refused(.transactionErased)
            case .created, nil: break
            }
        } catch {
            return .refused(ErrorCode(error))
        }
        guard let services else { return .refused(.daemonUnavailable) }
        // One configuration for all of it, from here to the transaction's end.
        let configuration = settings.snapshot
        var facts = AdmissionFacts(mode: configuration.mode)
        let loyalty: LoyaltyRequest?
        do throws(ErrorBody) { loyalty = try configuration.offer.request(demand.request) } catch {
            facts.passesRefusal = error
            loyalty = nil
        }
        facts.isStopping = isStopping
        facts.paymentRefusal = refusal(of: demand.request)
        facts.unresolved = unresolved(demand.request.order)
        switch lanes.admit(demand.request, facts) {
        case .failure(let refusal): return .refused(refusal)
        case .success(let names):
            guard let lane = names.first else { return .refused(.internalFault) }
            if demand.request.dryRun == true {
                return .acceptable(DryRunAnswer(mode: configuration.mode, type: demand.request.type, lane: lane))
            }
            var terms = RunTerms(
                terminal: profiles.currentTerminal(), adapter: configuration.adapter,
                offline: services.stored.settings())
            terms.loyalty = loyalty
            terms.preferredApplications = (demand.request.preferredApplications ?? []).compactMap { try? Hex.bytes($0) }
            let running = begin(demand, names, lane, configuration, terms)
            return await writeDown(demand, running)
        }
    }

    /// A payment of the order whose outcome is not known.
    private func unresolved(_ order: String?) -> TransactionID? {
        guard let order else { return nil }
        return live.values.first {
            $0.transaction.order == order && $0.transaction.state.blocksOrder && $0.transaction.type != .loyalty
        }?.transaction.id
    }

    /// What terms, profile and mode have against a payment.
    private func refusal(of request: TransactionRequest) -> ErrorBody? {
        if let refusal = profiles.refusal() { return ErrorBody(error: refusal) }
        return profiles.refusal(of: request.amount.currency).map { ErrorBody($0, field: "amount.currency") }
    }

    /// Takes the lanes in the same step in which they were found: no other request gets in between.
    private func begin(
        _ demand: TransactionDemand, _ names: [String], _ lane: String, _ configuration: ConfigurationSnapshot,
        _ terms: RunTerms
    ) -> Running {
        let (id, now, request) = (TransactionID(), Moment.now, demand.request)
        lanes.take(names, for: LaneStatus.Holder(transaction: id, uid: demand.key.uid, since: now.wall))
        var transaction = Transaction(
            id: id, type: request.type, mode: configuration.mode, lane: lane, amount: request.amount,
            order: request.order, createdAt: now.wall)
        if request.type != .loyalty {
            transaction.details = TransactionDetails(
                request, merchant: profiles.current.map { Merchant($0.merchant) } ?? configuration.shop,
                terminal: configuration.terminal.id)
        }
        var laidDown = Demand(kind: AuthorizationRequest.Kind(request), uid: demand.key.uid)
        laidDown.deadline = request.deadline ?? Limits.defaultDeadlineSeconds
        laidDown.isDetached = request.detached ?? false
        laidDown.confirmWithin = request.confirmWithin
        laidDown.language = request.language
        laidDown.wantsPasses = terms.loyalty != nil
        laidDown.lanes = names
        laidDown.times = terms.adapter.times.ofMachine
        if request.type != .loyalty {
            laidDown.maximumReads = terms.terminal.maxTapRetries
            laidDown.earlierFailedReads = failedReads.count(of: request.order)
        }
        let running = Running(TransactionMachine(transaction, laidDown, at: now), terms)
        live[id] = running
        keys.bind(demand.key, to: id)
        return running
    }

    private func writeDown(_ demand: TransactionDemand, _ running: Running) async -> Admission {
        let transaction = running.transaction
        let new = NewTransaction(
            id: transaction.id, uid: demand.key.uid, idempotencyKey: demand.key.key, requestHash: demand.requestHash,
            type: transaction.type, mode: transaction.mode, lane: transaction.lane, amount: transaction.amount,
            order: transaction.order, at: transaction.createdAt, details: transaction.details)
        do throws(JournalError) {
            if case .created(let number) = try await journal.create(new) {
                live[transaction.id]?.sequence = UInt32(truncatingIfNeeded: number % 100_000_000)
                return .created(transaction)
            }
            // Impossible while the key is claimed; another process wrote it.
            drop(transaction.id)
            return .refused(.idempotencyInProgress)
        } catch {
            logger.error("transaction not written", metadata: ["error": "\(error)"])
            drop(transaction.id)
            return .refused(ErrorCode(error))
        }
    }

    /// It is in nobody's books.
    private func drop(_ id: TransactionID) {
        live[id] = nil
        lanes.release(by: id)
    }

    /// Runs a transaction that was admitted, and returns when a stop does not have to wait for it any more.
    func run(_ id: TransactionID) async {
        guard let isDone = live[id]?.isDone else { return }
        take(.begin, id)
        await isDone.wait()
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
        }
    }
}
