import CardBytes
import Configuration
import Journal
import Logging
import Loyalty
import Profile
import Wire

/// An idempotency key belongs to the user who sends it.
struct UserKey: Hashable, Sendable {
    let uid: UInt32
    let key: String
}

/// A request for a transaction, with who asks.
struct TransactionDemand: Sendable {
    let request: TransactionRequest
    let key: UserKey
    /// Digest of the request.
    let requestHash: String
}

/// What comes of a request for a transaction.
enum Admission: Equatable, Sendable {
    case created(Transaction)
    /// The answer to the first request with this key, as things are now.
    case repeated(Transaction)
    case refused(ErrorBody)
    /// A dry run: nothing was written down.
    case acceptable(DryRunAnswer)

    static func refused(_ code: ErrorCode, field: String? = nil, by id: TransactionID? = nil) -> Admission {
        .refused(ErrorBody(code, field: field, transaction: id))
    }
}

extension TransactionStore {
    /// Takes a key for one request until it has been answered.
    ///
    /// - Returns: `nil`, or what to answer instead.
    func claim(_ key: UserKey) -> ErrorBody? {
        if let running = keysInUse[key] { return ErrorBody(.idempotencyInProgress, transaction: running) }
        keysInUse[key] = .some(nil)
        return nil
    }

    func release(_ key: UserKey) { keysInUse[key] = nil }

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
            case .created, nil: break
            }
        } catch {
            return .refused(ErrorCode(error))
        }
        if demand.request.dryRun == true { return check(demand) }
        let id = TransactionID()
        switch reserve(demand, id) {
        case .failure(let refusal): return .refused(refusal)
        case .success(let lane): return await writeDown(demand, id, lane: lane)
        }
    }

    /// What would become of the request just now.
    private func check(_ demand: TransactionDemand) -> Admission {
        switch decide(demand) {
        case .failure(let refusal): .refused(refusal)
        case .success(let place):
            .acceptable(DryRunAnswer(mode: mode, type: demand.request.type, lane: lanes[place.lane].lane.name))
        }
    }

    /// Where a transaction is to take place, and the passes wanted there.
    private struct Place {
        /// The first of `lanes`.
        let lane: Int
        /// Each of which may get the card.
        let lanes: [Int]
        let loyalty: LoyaltyRequest?
    }

    /// Everything that decides, without doing anything.
    private func decide(_ demand: TransactionDemand) -> Result<Place, ErrorBody> {
        let request = demand.request
        guard !isStopping else { return .failure(ErrorBody(.daemonUnavailable)) }
        let loyalty: LoyaltyRequest?
        do throws(ErrorBody) { loyalty = try offer.request(request) } catch { return .failure(error) }
        if request.type != .loyalty, let refusal = refusal(of: request) { return .failure(refusal) }
        let free: [Int]
        switch freeLanes(for: request) {
        case .failure(let refusal): return .failure(refusal)
        case .success(let found): free = found
        }
        // A read of passes charges nobody, so that it neither waits for a payment nor keeps one waiting.
        if request.type != .loyalty, let order = request.order,
            let other = live.values.first(where: {
                $0.transaction.order == order && $0.transaction.state.blocksOrder && $0.transaction.type != .loyalty
            })
        {
            return .failure(ErrorBody(.orderUnresolved, transaction: other.transaction.id))
        }
        guard let index = free.first else { return .failure(ErrorBody(.internalFault)) }
        if mode == .live, request.type != .loyalty, free.contains(where: { lanes[$0].isVirtual }) {
            return .failure(ErrorBody(.liveVirtualReader, field: "lane"))
        }
        return .success(Place(lane: index, lanes: free, loyalty: loyalty))
    }

    /// Decides and takes the lane in one step: no other request gets in between.
    private func reserve(_ demand: TransactionDemand, _ id: TransactionID) -> Result<String, ErrorBody> {
        let request = demand.request
        let place: Place
        switch decide(demand) {
        case .failure(let refusal): return .failure(refusal)
        case .success(let found): place = found
        }
        let index = place.lane
        let holder = LaneStatus.Holder(transaction: id, uid: demand.key.uid, since: .now)
        for index in place.lanes { lanes[index].holder = holder }
        let lane = lanes[index].lane.name
        var transaction = Transaction(
            id: id, type: request.type, mode: mode, lane: lane, amount: request.amount, order: request.order,
            createdAt: .now)
        if request.type != .loyalty {
            transaction.details = TransactionDetails(
                request, merchant: profiles.current.map { Merchant($0.merchant) } ?? merchant, terminal: terminal)
        }
        var new = LiveTransaction(transaction: transaction, uid: demand.key.uid)
        new.deadline = request.deadline ?? Limits.defaultDeadlineSeconds
        new.isDetached = request.detached ?? false
        new.confirmWithin = request.confirmWithin
        new.kind = AuthorizationRequest.Kind(request)
        new.lanes = place.lanes.map { lanes[$0].lane.name }
        new.loyalty = place.loyalty
        new.language = request.language
        new.preferredApplications = (request.preferredApplications ?? []).compactMap { try? Hex.bytes($0) }
        new.terminal = profiles.currentTerminal()
        live[id] = new
        keysInUse[demand.key] = id
        return .success(lane)
    }

    /// What terms, profile and mode have against a payment.
    private func refusal(of request: TransactionRequest) -> ErrorBody? {
        if let refusal = profiles.refusal() { return ErrorBody(error: refusal) }
        return profiles.refusal(of: request.amount.currency).map { ErrorBody($0, field: "amount.currency") }
    }

    private func writeDown(_ demand: TransactionDemand, _ id: TransactionID, lane: String) async -> Admission {
        guard let transaction = live[id]?.transaction else { return .refused(.internalFault) }
        let new = NewTransaction(
            id: id, uid: demand.key.uid, idempotencyKey: demand.key.key, requestHash: demand.requestHash,
            type: transaction.type, mode: mode, lane: lane, amount: transaction.amount, order: transaction.order,
            at: transaction.createdAt, details: transaction.details)
        do throws(JournalError) {
            if case .created(let number) = try await journal.create(new) {
                live[id]?.sequence = UInt32(truncatingIfNeeded: number % 100_000_000)
                return .created(transaction)
            }
            // Impossible while the key is claimed; another process wrote it.
            drop(id)
            return .refused(.idempotencyInProgress)
        } catch {
            logger.error("transaction not written", metadata: ["error": "\(error)"])
            drop(id)
            return .refused(ErrorCode(error))
        }
    }

    private func drop(_ id: TransactionID) {
        freeLane(of: id)
        live[id] = nil
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
