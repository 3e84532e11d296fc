// SPDX-License-Identifier: Apache-2.0
import Configuration
import Journal
import LocalHTTP
import Logging
import POSAPI
import PaymentValues
import Profile

/// The POS socket's API: which call does what, and who may make it.
///
/// It has a stored property for each part of the daemon that a call reaches.
struct PointOfSaleAPI: Sendable {
    let store: TransactionRunner
    let engine: OperationEngine
    let reconciler: Reconciler
    let deleter: TokenDeleter
    let profiles: ProfileStore
    let events: EventHub
    let settings: CurrentSettings
    let health: AdapterHealthCheck
    let preparer: LanePreparer
    let payments: PaymentQueue
    let standing: StandingLanes
    let trail: AuditTrail
    let journal: JournalHealth
    let clock: ClockWatch
    let connections: ConnectionCount
    let support: String
    let version: String
    /// Runs a transaction that was accepted; `false` where nothing is run any more.
    let start: @Sendable (TransactionID) -> Bool
    /// For what outlives a request.
    let queue: WorkQueue
    let replays = ReplayLimiter()
    let refusalPaces = RefusalPaces()

    func answer(_ request: HTTPRequest) async -> HTTPResponse {
        await RequestContext.$audience.withValue(await audience(of: request)) { await answered(request) }
    }

    private func answered(_ request: HTTPRequest) async -> HTTPResponse {
        do throws(ErrorBody) {
            let caller = try settings.snapshot.access.caller(of: request)
            guard caller.kind == .remote else { return await answered(request, caller) }
            let response = await answered(request, caller)
            count(response, of: request)
            return response
        } catch {
            return .refusal(error)
        }
    }

    private func answered(_ request: HTTPRequest, _ caller: Caller) async -> HTTPResponse {
        do throws(ErrorBody) {
            guard caller.mayCall(request) else { throw ErrorBody(.authRoleMissing) }
            return try await route(request, caller)
        } catch {
            return .refusal(error)
        }
    }

    private func route(_ request: HTTPRequest, _ caller: Caller) async throws(ErrorBody) -> HTTPResponse {
        if request.path == ["metrics"] {
            try request.only(.get, parameters: [])
            return try await metrics(request, caller)
        }
        guard request.path.first == "v1" else { throw ErrorBody(.requestUnknownPath) }
        let path = Array(request.path.dropFirst())
        switch path.count {
        case 1 where path[0] == "status":
            try request.only(.get, parameters: [])
            return .message(200, await status(for: caller))
        case 1 where path[0] == "lanes":
            try request.only(.get, parameters: [])
            return .message(200, LaneList(lanes: await laneStatuses(for: caller)))
        case 2 where path[0] == "lanes":
            try request.only(.get, parameters: [])
            let lane = await laneStatuses(for: caller).first { $0.name == path[1] }
            guard let lane else { throw ErrorBody(.laneUnknown) }
            return .message(200, lane)
        case 3 where path[0] == "lanes" && path[2] == "prepare":
            try request.only(.post, parameters: [])
            try caller.roles.require(.cashier, or: .loyalty)
            return try await prepare(path[1], request, caller)
        case 3 where path[0] == "lanes" && path[2] == "standing":
            return try await answerAboutStanding(path[1], request, caller)
        case _ where path.first == "sessions":
            return try await answerAboutSessions(path.dropFirst(), request, caller)
        case 3 where path[0] == "lanes" && path[2] == "card-commands":
            try request.only(.post, parameters: [])
            return try await sendCardCommands(path[1], request, caller)
        case 3 where path[0] == "lanes" && path[2] == "last":
            try request.only(.get, parameters: ["type", "settled", "uid"])
            try caller.roles.require(.cashier)
            return try await last(path[1], request, caller)
        case 1 where path[0] == "totals":
            try request.only(.get, parameters: ["day", "from", "to", "by"])
            try caller.roles.require(.cashier)
            return try await totals(request, caller)
        case _ where path.first == "days":
            try caller.roles.require(.cashier)
            return try await answerAboutDays(path.dropFirst(), request, caller)
        case 1 where path[0] == "openapi.yaml":
            try request.only(.get, parameters: [])
            return contract
        case 1...2 where path[0] == "help":
            try request.only(.get, parameters: [])
            return try await help(path.dropFirst().first, request)
        case 1 where path[0] == "terms":
            try request.only(.get, parameters: [])
            return terms()
        case 2 where path == ["terms", "acceptance"]:
            try request.only(.post, parameters: [])
            return try await acceptTerms(request, caller)
        case _ where path.first == "credentials":
            return try await answerAboutStoredCards(path.dropFirst(), request, caller)
        case 2 where path[0] == "agreements":
            return try await endAgreement(path[1], request, caller)
        case _ where path.first == "queue":
            return try await answerAboutQueue(path.dropFirst(), request, caller)
        case _ where path.first == "open-items":
            return try await answerAboutOpenItems(path.dropFirst(), request, caller)
        case 1 where path[0] == "refusals":
            return try await takeRefusals(request, caller)
        case 1 where path[0] == "displays":
            return try takeDisplays(request, caller)
        case 1 where path[0] == "events":
            try request.only(.get, parameters: ["vocabulary"])
            let vocabulary = try request.vocabulary()
            if try request.cursor() != nil { await replays.wait(caller.principal) }
            return .events(
                events.subscribe(
                    after: try request.cursor(),
                    caller.view(
                        in: vocabulary, for: RequestContext.audience,
                        standing: Set(settings.snapshot.lanes.filter { $0.standing != nil }.map(\.name)))))
        case 1 where path[0] == "transactions":
            try request.only(
                .get, .post, .delete,
                parameters: request.method == .get
                    ? HTTPRequest.listParameters.union(["key"]) : request.method == .delete ? ["key"] : [],
                repeatable: ["state"])
            if request.method == .delete {
                try caller.roles.require(.cashier, or: .loyalty)
                return try await cancel(key: request.query.first?.value ?? "", caller)
            }
            guard request.method == .get else { return try await create(request, caller) }
            if let key = request.query.first(where: { $0.name == "key" }) {
                try caller.roles.require(.cashier, or: .loyalty)
                return try await find(key.value, request, caller)
            }
            try caller.roles.require(.cashier)
            return try await list(request, caller)
        case 2 where path[0] == "transactions":
            try request.only(.get, .delete, parameters: request.method == .get ? ["wait"] : [])
            guard let id = TransactionID(path[1]) else { throw ErrorBody(.transactionUnknown) }
            try caller.roles.require(.cashier, or: try await isLoyalty(id) ? .loyalty : nil)
            return request.method == .get
                ? try await get(id, request, caller) : try await cancel(id, request, caller)
        case 3 where path[0] == "transactions" && path[2] == "receipt":
            let parameters: Set = ["code", "copy", "language", "width"]
            try request.only(.get, .post, parameters: request.method == .get ? parameters : [])
            guard let id = TransactionID(path[1]) else { throw ErrorBody(.transactionUnknown) }
            try caller.roles.require(.cashier)
            return request.method == .get
                ? try await receipt(id, request, caller) : try await sendReceipt(id, request, caller)
        case 3 where path[0] == "transactions" && Self.operationCalls.contains(path[2]):
            guard let id = TransactionID(path[1]) else { throw ErrorBody(.transactionUnknown) }
            return try await answerAboutOperations(of: id, path[2], request, caller)
        case _ where path.first == "operations":
            return try await answerAboutOperations(path.dropFirst(), request, caller)
        case 3 where path[0] == "transactions":
            guard let id = TransactionID(path[1]) else { throw ErrorBody(.transactionUnknown) }
            return try await close(id, path[2], request, caller)
        default:
            throw ErrorBody(.requestUnknownPath, field: FormerPath.remedy(path.first))
        }
    }

    private func close(
        _ id: TransactionID, _ call: String, _ request: HTTPRequest, _ caller: Caller
    ) async throws(ErrorBody) -> HTTPResponse {
        guard ["confirmation", "reversal", "decline"].contains(call) else { throw ErrorBody(.requestUnknownPath) }
        try request.only(.post, parameters: [])
        try caller.roles.require(.cashier)
        if call == "decline" { return try await decline(id, request, caller) }
        return call == "confirmation"
            ? try await confirm(id, request, caller) : try await reverse(id, request, caller)
    }

    /// What the caller may see of the lanes: of another's transaction a till sees only that the lane is busy.
    func laneStatuses(for caller: Caller) async -> [LaneStatus] {
        let profile = profiles.current
        return await store.laneStatuses().map { status in
            var status = status
            if let reader = status.reader, let needed = profile?.neededFirmware(reader.model, reader.firmware) {
                status.reader?.minimumFirmware = needed.description
                status.notice = ErrorDetail(.readerFirmwareTooOld)
            }
            if let holder = status.holder, !caller.mayKnow(holder.owner, on: status.name) { status.holder = nil }
            return status
        }
    }

    private func status(for caller: Caller) async -> Status {
        let lanes = await laneStatuses(for: caller)
        let known = profiles.status
        let journal = await journal.status()
        var status = Status(
            mode: settings.snapshot.mode, version: version,
            ready: journal.writable && lanes.contains { $0.state == .ready },
            accepting: await !store.books.isStopping, terms: known.terms, lanes: lanes,
            queue: await queueStatus(), psp: health.state,
            support: support)
        status.journal = journal
        status.configuration = settings.status
        status.clock = clock.status
        status.profile = known.profile
        status.profileError = known.error
        status.networks = profiles.networks
        let terminals = health.terminals
        status.terminals = terminals.isEmpty ? nil : terminals
        status.sendsReceipts = sendsReceipts ? true : nil
        let refused = profiles.refusedKeys
        status.refusedKeys = refused.isEmpty ? nil : refused
        status.blocked = profiles.refusal()
        status.openItems = await payments.openItems()
        status.remote = settings.snapshot.remote == nil ? nil : store.measures.remote
        return status
    }
}

extension PointOfSaleAPI {
    private func queueStatus() async -> Status.Queue {
        let outline = await payments.outline()
        var queue = Status.Queue(stored: outline.extent?.count, reversals: await store.books.unfinishedReversals.count)
        queue.oldest = outline.extent?.oldest
        queue.overdue = outline.isOverdue
        queue.error = outline.failure.map { ErrorDetail(ErrorCode($0)) }
        return queue
    }
}

extension Set<Role> {
    func require(_ role: Role, or other: Role? = nil) throws(ErrorBody) {
        guard contains(role) || other.map({ contains($0) }) ?? false else { throw ErrorBody(.authRoleMissing) }
    }
}

extension HTTPRequest {
    /// Refuses other methods than these, and parameters that the call does not have.
    ///
    /// - Parameter repeatable: may stand several times.
    func only(
        _ methods: HTTPMethod..., parameters: Set<String>, repeatable: Set<String> = []
    ) throws(ErrorBody) {
        guard methods.contains(method) else {
            var refusal = ErrorBody(.requestMethodNotAllowed)
            refusal.allowedMethods = methods.map(\.rawValue)
            throw refusal
        }
        if let unknown = query.first(where: { !parameters.contains($0.name) }) {
            throw ErrorBody(.requestInvalidParameter, field: unknown.name.printable)
        }
        let single = query.map(\.name).filter { !repeatable.contains($0) }
        guard Set(single).count == single.count else { throw ErrorBody(.requestInvalidParameter) }
    }

    /// Of the events that the client knows: without it, those of version 0.1.0.
    fileprivate func vocabulary() throws(ErrorBody) -> Int {
        guard let item = query.first(where: { $0.name == "vocabulary" }) else { return 1 }
        guard let number = Int(item.value), (1...EventName.newestVocabulary).contains(number) else {
            throw ErrorBody(.requestInvalidParameter, field: "vocabulary")
        }
        return number
    }

    /// The last event that the client has.
    fileprivate func cursor() throws(ErrorBody) -> UInt64? {
        guard fields.contains("Last-Event-ID") else { return nil }
        guard let text = fields.only("Last-Event-ID"), let cursor = UInt64(text), cursor <= UInt64(Int64.max) else {
            throw ErrorBody(.requestInvalidParameter, field: "Last-Event-ID")
        }
        return cursor
    }
}

extension String {
    /// What a client sent, fit for an answer.
    fileprivate var printable: String {
        String(decoding: utf8.prefix(64).map { (0x20...0x7E).contains($0) ? $0 : 0x3F }, as: UTF8.self)
    }
}

extension HTTPResponse {
    static func refusal(_ body: ErrorBody) -> HTTPResponse {
        let status = ErrorCode(rawValue: body.error.code)?.entry.status ?? 500
        var fields = HTTPFields()
        if !body.allowedMethods.isEmpty { fields.set("Allow", body.allowedMethods.joined(separator: ", ")) }
        return .json(status, (try? WireJSON.encode(body, for: RequestContext.audience)) ?? [], fields: fields)
    }

    static func message(
        _ status: Int, _ message: some Encodable, fields: HTTPFields = HTTPFields()
    ) -> HTTPResponse {
        do { return .json(status, try WireJSON.encode(message, for: RequestContext.audience), fields: fields) } catch {
            return .refusal(ErrorBody(error))
        }
    }
}
