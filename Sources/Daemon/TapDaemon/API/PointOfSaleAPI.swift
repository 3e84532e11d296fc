// SPDX-License-Identifier: Apache-2.0
import Configuration
import Journal
import LocalHTTP
import Logging
import POSAPI
import PaymentValues
import Profile

/// The POS socket's API: what its calls do. `Route` says which they are, and who may make them.
///
/// It has a stored property for each part of the daemon that a call reaches.
struct PointOfSaleAPI: Sendable {
    let runner: TransactionRunner
    let engine: OperationEngine
    let reconciler: Reconciler
    let deleter: TokenDeleter
    let profiles: ProfileStore
    let events: EventHub
    let settings: CurrentSettings
    let health: AdapterHealthCheck
    let preparer: LanePreparer
    let queue: PaymentQueue
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
    let work: WorkQueue
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
            let (route, call) = try Route.find(request, caller)
            return try await route.answer(self, call)
        } catch {
            return .refusal(error)
        }
    }

    /// What the caller may see of the lanes: of another's transaction a till sees only that the lane is busy, and of its tap
    /// nothing.
    func laneStatuses(for caller: Caller) async -> [LaneStatus] {
        let profile = profiles.current
        return await runner.laneStatuses().map { status in
            var status = status
            if let reader = status.reader, let needed = profile?.neededFirmware(reader.model, reader.firmware) {
                status.reader?.minimumFirmware = needed.description
                status.notice = ErrorDetail(.readerFirmwareTooOld)
            }
            if let holder = status.holder, !caller.mayKnow(holder.owner, on: status.name) { status.holder = nil }
            if let tap = status.lastTap, !caller.mayKnow(tap.owner, on: status.name) { status.lastTap = nil }
            return status
        }
    }

    func status(for caller: Caller) async -> Status {
        let lanes = await laneStatuses(for: caller)
        let known = profiles.status
        let journal = await journal.status()
        var status = Status(
            mode: settings.snapshot.mode, version: version,
            ready: journal.writable && lanes.contains { $0.state == .ready },
            accepting: await !runner.books.isStopping, terms: known.terms, lanes: lanes,
            queue: await queueStatus(), psp: health.state,
            support: support)
        status.journal = journal
        status.configuration = settings.status
        status.clock = clock.status
        status.profile = known.profile
        status.termsPage = profiles.termsPage
        status.profileError = known.error
        status.networks = profiles.networks
        let terminals = health.terminals
        status.terminals = terminals.isEmpty ? nil : terminals
        status.sendsReceipts = sendsReceipts ? true : nil
        let refused = profiles.refusedKeys
        status.refusedKeys = refused.isEmpty ? nil : refused
        status.blocked = profiles.refusal()
        status.openItems = await queue.openItems()
        status.remote = settings.snapshot.remote == nil ? nil : runner.measures.remote
        return status
    }
}

extension Route {
    static let service: [Route] = [
        Route(.get, "metrics", for: .oneOf([.monitor]), only: [.program]) { api, _ in await api.metrics() },
        Route(.get, "v1/status", for: .any, besides: [.gateway, .remote]) { api, call in
            .message(200, await api.status(for: call.caller))
        },
        Route(.get, "v1/openapi.yaml", for: .any, besides: [.gateway, .remote]) { api, _ in api.contract },
        Route(.get, "v1/help", for: .any, besides: [.gateway, .remote]) { (api, call) throws(ErrorBody) in
            try await api.help(nil, call.request)
        },
        Route(.get, "v1/help/{topic}", for: .any, besides: [.gateway, .remote]) { (api, call) throws(ErrorBody) in
            try await api.help(call.name, call.request)
        },
        Route(.get, "v1/events", ["vocabulary"], for: .any, besides: [.gateway, .remote]) {
            (api, call) throws(ErrorBody) in
            try await api.subscribe(call.request, call.caller)
        },
        Route(.get, "v1/terms", for: .any) { api, _ in api.terms() },
        Route(.post, "v1/terms/acceptance", for: .administrator) { (api, call) throws(ErrorBody) in
            try await api.acceptTerms(call.request, call.caller)
        },
        Route(.post, "v1/refusals", for: .any, only: [.program, .gateway]) { (api, call) throws(ErrorBody) in
            try await api.takeRefusals(call.request, call.caller)
        },
        Route(.post, "v1/displays", for: .any, only: [.program, .gateway]) { (api, call) throws(ErrorBody) in
            try api.takeDisplays(call.request, call.caller)
        },
    ]

    static let lanes: [Route] = [
        Route(.get, "v1/lanes", for: .any, besides: [.gateway, .remote]) { api, call in
            .message(200, LaneList(lanes: await api.laneStatuses(for: call.caller)))
        },
        Route(.get, "v1/lanes/{lane}", for: .any, besides: [.gateway, .remote]) { (api, call) throws(ErrorBody) in
            .message(200, try await api.status(of: call.name, for: call.caller))
        },
        Route(.post, "v1/lanes/{lane}/prepare", for: .cashierOrLoyalty) { (api, call) throws(ErrorBody) in
            try await api.prepare(call.name, call.request, call.caller)
        },
        Route(.post, "v1/lanes/{lane}/card-commands", for: .administrator) { (api, call) throws(ErrorBody) in
            try await api.sendCardCommands(call.name, call.request, call.caller)
        },
        Route(.get, "v1/lanes/{lane}/last", ["type", "settled", "uid"], for: .cashier) {
            (api, call) throws(ErrorBody) in
            try await api.last(call.name, call.request, call.caller)
        },
    ]

    static let transactions: [Route] = [
        Route(.get, "v1/transactions?key", ["limit"], for: .cashierOrLoyalty, besides: [.remote]) {
            (api, call) throws(ErrorBody) in
            try await api.find(call.request.parameter("key") ?? "", call.request, call.caller)
        },
        Route(.get, "v1/transactions", HTTPRequest.listParameters, repeatable: ["state"], for: .cashier) {
            (api, call) throws(ErrorBody) in
            try await api.list(call.request, call.caller)
        },
        Route(.post, "v1/transactions", for: .any, besides: [.remote]) { (api, call) throws(ErrorBody) in
            try await api.create(call.request, call.caller)
        },
        Route(.delete, "v1/transactions", ["key"], for: .cashierOrLoyalty, besides: [.remote]) {
            (api, call) throws(ErrorBody) in
            try await api.cancel(key: call.request.parameter("key") ?? "", call.caller)
        },
        Route(.get, "v1/transactions/{id}", ["wait"], for: .oneOf([.cashier, .loyalty, .machine]), besides: [.remote]) {
            (api, call) throws(ErrorBody) in
            try await api.get(try await api.transaction(of: call), call.request, call.caller)
        },
        Route(.delete, "v1/transactions/{id}", for: .cashierOrLoyalty, besides: [.remote]) {
            (api, call) throws(ErrorBody) in
            try await api.cancel(try await api.transaction(of: call), call.request, call.caller)
        },
        Route(.get, "v1/transactions/{id}/receipt", ["code", "copy", "language", "width"], for: .cashier) {
            (api, call) throws(ErrorBody) in
            try await api.receipt(try call.transaction, call.request, call.caller)
        },
        Route(.post, "v1/transactions/{id}/receipt", for: .cashier) { (api, call) throws(ErrorBody) in
            try await api.sendReceipt(try call.transaction, call.request, call.caller)
        },
        Route(.post, "v1/transactions/{id}/confirmation", for: .cashier, besides: [.remote]) {
            (api, call) throws(ErrorBody) in
            try await api.confirm(try call.transaction, call.request, call.caller)
        },
        Route(.post, "v1/transactions/{id}/reversal", for: .cashier) { (api, call) throws(ErrorBody) in
            try await api.reverse(try call.transaction, call.request, call.caller)
        },
        Route(.post, "v1/transactions/{id}/decline", for: .cashier) { (api, call) throws(ErrorBody) in
            try await api.decline(try call.transaction, call.request, call.caller)
        },
    ]
}

extension PointOfSaleAPI {
    private func queueStatus() async -> Status.Queue {
        let outline = await queue.outline()
        var status = Status.Queue(
            stored: outline.extent?.count, reversals: await runner.books.unfinishedReversals.count)
        status.oldest = outline.extent?.oldest
        status.overdue = outline.isOverdue
        status.error = outline.failure.map { ErrorDetail(ErrorCode($0)) }
        return status
    }
}

extension PointOfSaleAPI {
    /// `GET /v1/events`.
    func subscribe(_ request: HTTPRequest, _ caller: Caller) async throws(ErrorBody) -> HTTPResponse {
        let (vocabulary, cursor) = (try request.vocabulary(), try request.cursor())
        if cursor != nil { await replays.wait(caller.principal) }
        let standing = Set(settings.snapshot.lanes.filter { $0.standing != nil }.map(\.name))
        let view = caller.view(in: vocabulary, for: RequestContext.audience, standing: standing)
        return .events(events.subscribe(after: cursor, view))
    }
}

extension Set<Role> {
    func require(_ role: Role, or other: Role? = nil) throws(ErrorBody) {
        guard contains(role) || other.map({ contains($0) }) ?? false else { throw ErrorBody(.authRoleMissing) }
    }
}

extension HTTPRequest {
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
