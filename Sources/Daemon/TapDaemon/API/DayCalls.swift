// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Configuration
import Crypto
import Journal
import Linux
import LocalHTTP
import POSAPI
import PaymentValues
import Printing
import Profile
import Receipt

/// Totals and ends of day.
extension PointOfSaleAPI {
    /// `GET /v1/totals`.
    func totals(_ request: HTTPRequest, _ caller: Caller) async throws(ErrorBody) -> HTTPResponse {
        let groups = try request.groups()
        let from = try request.time("from")
        let to = try request.time("to")
        if from != nil || to != nil {
            guard request.parameter("day") == nil else { throw ErrorBody(.requestInvalidParameter, field: "day") }
            let begin = from ?? Timestamp(milliseconds: 0)
            let end = to ?? .now
            return .message(
                200,
                try await inJournal { (journal) throws(JournalError) in
                    try journal.totals(from: begin, to: end, by: groups, for: caller.scope)
                })
        }
        let name = request.parameter("day") ?? "current"
        let totals = try await inJournal { (journal) throws(JournalError) -> Totals? in
            let day = name == "current" ? try journal.openDay() : try journal.day(name)
            guard let day else { return nil }
            return try journal.totals(of: day, by: groups, for: caller.scope)
        }
        guard let totals else { throw ErrorBody(.dayUnknown) }
        return .message(200, totals)
    }

    func days(_ request: HTTPRequest, _ caller: Caller) async throws(ErrorBody) -> HTTPResponse {
        let limit = try request.number("limit", in: Limits.page) ?? Limits.pageDefault
        let days = try await inJournal { (journal) throws(JournalError) in
            try journal.days(limit: limit, closedBy: caller.scope)
        }
        return .message(200, DayList(days: days))
    }

    func closeDay(_ request: HTTPRequest, _ caller: Caller) async throws(ErrorBody) -> HTTPResponse {
        let key = try request.idempotencyKey()
        let seconds = try request.preferredWait()
        let demand = try request.message(EndOfDayRequest.self)
        let snapshot = settings.snapshot
        let time = LocalTime(at: Int(Timestamp.now.milliseconds / 1_000))
        let new = NewEndOfDay(
            owner: caller.principal, idempotencyKey: key, requestHash: try demand.meant.digest(),
            label: demand.label ?? time.dateText, blockOn: demand.force == true ? [] : snapshot.day.blockOn,
            merchant: profiles.current.map { Merchant($0.merchant) } ?? snapshot.shop,
            terminal: snapshot.terminal.id,
            reconciliation: reconciler.plan(snapshot.mode, terminal: profiles.currentTerminal().id), at: .now)
        let closing = try await inJournal { (journal) throws(JournalError) in try journal.closeDay(new) }
        switch closing {
        case .closed(let end):
            runner.publish(Event(closing: end))
            return .message(201, try await asked(end, seconds, request.connection))
        case .repeated(let end):
            return .message(
                201, try await asked(end, seconds, request.connection), fields: ["Idempotency-Replayed": "true"])
        case .keyReused: throw ErrorBody(.idempotencyKeyReused)
        case .blocked(let entries): throw ErrorBody(.dayBlocked, transaction: entries.first?.transaction)
        }
    }

    /// The day as it is once the payment service was asked for its figures, or the time is over.
    private func asked(
        _ end: EndOfDay, _ seconds: Int, _ connection: HTTPConnection
    ) async throws(ErrorBody) -> EndOfDay {
        guard end.service?.next != nil else { return end }
        let occasion = await reconciler.begin(end.day.number)
        guard seconds > 0 else { return end }
        // It may have been asked before there was an occasion to wait for.
        guard try await reread(end.day.id).service?.next != nil else { return try await reread(end.day.id) }
        await withTaskGroup { group in
            group.addTask { await occasion.wait(atMost: .seconds(seconds)) }
            group.addTask { await connection.closed() }
            await group.next()
            group.cancelAll()
        }
        return try await reread(end.day.id)
    }

    private func reread(_ name: String) async throws(ErrorBody) -> EndOfDay {
        let now = try await inJournal { (journal) throws(JournalError) -> EndOfDay? in
            guard let day = try journal.day(name) else { return nil }
            return try journal.report(of: day)
        }
        guard let now else { throw ErrorBody(.dayUnknown) }
        return now
    }

    func resolve(
        _ name: String, _ request: HTTPRequest, _ caller: Caller
    ) async throws(ErrorBody) -> EndOfDay {
        let demand = try request.message(DayResolutionRequest.self)
        let before = try await endOfDay(name, caller)
        return try await administer(
            "resolve day", before.day.id, caller, outcome: { $0.day.state.rawValue }
        ) {
            () async throws(ErrorBody) -> EndOfDay in
            let resolution = DayResolution(at: .now, uid: caller.principal.uid, note: demand.note)
            let isDone = try await inJournal { (journal) throws(JournalError) in
                try journal.resolve(before.day, resolution)
            }
            guard isDone else { throw ErrorBody(.resolutionNotOpen) }
            return try await endOfDay(name, caller)
        }
    }

    /// Its report is of the whole shop: a till gets those that it has closed itself.
    func endOfDay(_ name: String, _ caller: Caller) async throws(ErrorBody) -> EndOfDay {
        let end = try await reread(name)
        guard !caller.isTill || end.day.closedBy == caller.principal else { throw ErrorBody(.sessionNotOwner) }
        return end
    }

    func report(_ end: EndOfDay, _ request: HTTPRequest) throws(ErrorBody) -> HTTPResponse {
        let language = try request.word("language", of: Language.self) ?? request.language
        let width = try request.number("width", in: Receipt.widths) ?? 42
        let isCopy = try request.flag("copy")
        let closed = end.day.closedAt ?? end.day.openedAt
        let offset = LocalTime(at: Int(closed.milliseconds / 1_000)).secondsFromUTC
        let text = EndOfDayReport(end, language: language, isCopy: isCopy).text(width: width, secondsFromUTC: offset)
        var fields: HTTPFields = ["Content-Language": language.rawValue]
        fields.set("Content-Type", "text/plain; charset=utf-8")
        return HTTPResponse(status: 200, fields: fields, body: .bytes(Array(text.utf8)))
    }
}

extension Route {
    static let days: [Route] = [
        Route(.get, "v1/totals", ["day", "from", "to", "by"], for: .cashier) { (api, call) throws(ErrorBody) in
            try await api.totals(call.request, call.caller)
        },
        Route(.get, "v1/days", ["limit"], for: .cashier) { (api, call) throws(ErrorBody) in
            try await api.days(call.request, call.caller)
        },
        Route(.post, "v1/days", for: .cashier) { (api, call) throws(ErrorBody) in
            try await api.closeDay(call.request, call.caller)
        },
        Route(.get, "v1/days/{day}", for: .cashier) { (api, call) throws(ErrorBody) in
            .message(200, try await api.endOfDay(call.name, call.caller))
        },
        Route(.get, "v1/days/{day}/report", ["width", "language", "copy"], for: .cashier) {
            (api, call) throws(ErrorBody) in
            try api.report(try await api.endOfDay(call.name, call.caller), call.request)
        },
        Route(.post, "v1/days/{day}/resolution", for: .administrator) { (api, call) throws(ErrorBody) in
            .message(200, try await api.resolve(call.name, call.request, call.caller))
        },
    ]
}

extension Event {
    init(closing end: EndOfDay) {
        self.init(.dayClosed)
        day = end.day.number
    }
}

extension EndOfDayRequest {
    fileprivate func digest() throws(ErrorBody) -> String {
        do { return Hex.string(SHA256.hash(data: try WireJSON.encode(self))) } catch { throw ErrorBody(error) }
    }
}

extension LocalTime {
    /// `2026-11-22`.
    var dateText: String {
        func pad(_ number: Int, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
        }
        return "\(pad(year, 4))-\(pad(month, 2))-\(pad(day, 2))"
    }
}

extension HTTPRequest {
    /// `by=scheme,type`; by scheme where it is not said.
    fileprivate func groups() throws(ErrorBody) -> Set<TotalsGroup> {
        guard let text = parameter("by") else { return [.scheme] }
        var groups: Set<TotalsGroup> = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) where !text.isEmpty {
            guard let group = TotalsGroup(rawValue: String(word)) else {
                throw ErrorBody(.requestInvalidParameter, field: "by")
            }
            groups.insert(group)
        }
        return groups
    }
}
