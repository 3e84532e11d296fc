// SPDX-License-Identifier: Apache-2.0
import Journal
import LocalHTTP
import POSAPI
import PaymentValues

/// Lists of transactions, and the last one of a lane.
extension PointOfSaleAPI {
    /// `GET /v1/transactions`.
    func list(_ request: HTTPRequest, _ caller: Caller) async throws(ErrorBody) -> HTTPResponse {
        let filter = try await filter(request)
        // `order` alone has always had a hundred.
        let isOrderAlone = request.query.count == 1 && filter.order != nil
        let limit =
            try request.number("limit", in: Limits.page) ?? (isOrderAlone ? Limits.page.upperBound : Limits.pageDefault)
        let after = request.parameter("after")
        let page: TransactionPage?
        if let change = try request.integer("changedAfter") {
            guard after == nil else { throw ErrorBody(.requestInvalidParameter, field: "after") }
            page = try await inJournal { (journal) throws(JournalError) in
                try journal.changes(after: change, filter, limit: limit, of: caller.scope)
            }
        } else {
            page = try await inJournal { (journal) throws(JournalError) in
                try journal.list(filter, limit: limit, after: after, of: caller.scope)
            }
        }
        guard let page else { throw ErrorBody(.requestInvalidParameter, field: "after") }
        return .message(
            200, TransactionList(transactions: page.transactions, next: page.next, changes: page.changes))
    }

    /// `GET /v1/lanes/{lane}/last`.
    func last(_ lane: String, _ request: HTTPRequest, _ caller: Caller) async throws(ErrorBody) -> HTTPResponse {
        let type = try request.word("type", of: TransactionType.self)
        let isSettled = try request.flag("settled")
        let isOwn = request.parameter("uid") == "self"
        guard isOwn || request.parameter("uid") == nil else {
            throw ErrorBody(.requestInvalidParameter, field: "uid")
        }
        let owner = isOwn ? caller.principal : caller.scope
        let found = try await inJournal { (journal) throws(JournalError) in
            try journal.last(of: lane, type: type, isSettled: isSettled, by: owner)
        }
        guard let found else { throw ErrorBody(.laneNoTransaction) }
        return .message(200, try await known(found.id))
    }

    func inJournal<Result: Sendable>(
        _ body: @Sendable (Journal) throws(JournalError) -> Result
    ) async throws(ErrorBody) -> Result {
        do throws(JournalError) { return try await runner.journal.use(body) } catch {
            throw ErrorBody(ErrorCode(error))
        }
    }

    private func filter(_ request: HTTPRequest) async throws(ErrorBody) -> TransactionFilter {
        var filter = TransactionFilter()
        filter.from = try request.time("from")
        filter.to = try request.time("to")
        for item in request.query where item.name == "state" {
            guard let state = TransactionState(rawValue: item.value) else {
                throw ErrorBody(.requestInvalidParameter, field: "state")
            }
            filter.states.append(state)
        }
        filter.type = try request.word("type", of: TransactionType.self)
        if let order = request.parameter("order") {
            guard order.isOrder else { throw ErrorBody(.requestInvalidParameter, field: "order") }
            filter.order = order
        }
        filter.lane = try request.reference("lane", upTo: Limits.orderLength)
        filter.cashier = try request.reference("cashier", upTo: Limits.orderLength)
        filter.till = try request.till()
        filter.token = try request.reference("token", upTo: 128)
        filter.number = try request.integer("number")
        if let text = request.parameter("of") {
            guard let id = TransactionID(text) else { throw ErrorBody(.requestInvalidParameter, field: "of") }
            filter.of = id
        }
        try request.readAmounts(into: &filter)
        if let day = request.parameter("day") { filter.day = try await number(of: day) }
        filter.isOpen = try request.flag("open")
        return filter
    }

    /// - Returns: 0 for the open day.
    private func number(of day: String) async throws(ErrorBody) -> Int64 {
        if day == "current" { return 0 }
        let found = try await inJournal { (journal) throws(JournalError) in try journal.day(day) }
        guard let found else { throw ErrorBody(.dayUnknown) }
        return found.state == .open ? 0 : found.number
    }
}

extension HTTPRequest {
    static let listParameters: Set<String> = [
        "from", "to", "state", "type", "order", "lane", "cashier", "till", "token", "number", "of", "amount",
        "minAmount",
        "maxAmount", "currency", "day", "open", "changedAfter", "limit", "after",
    ]

    func parameter(_ name: String) -> String? { query.first { $0.name == name }?.value }

    func integer(_ name: String) throws(ErrorBody) -> Int64? {
        guard let text = parameter(name) else { return nil }
        guard let number = Int64(text), number >= 0 else { throw ErrorBody(.requestInvalidParameter, field: name) }
        return number
    }

    func number(_ name: String, in range: ClosedRange<Int>) throws(ErrorBody) -> Int? {
        guard let text = parameter(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw ErrorBody(.requestInvalidParameter, field: name)
        }
        return number
    }

    func time(_ name: String) throws(ErrorBody) -> Timestamp? {
        guard let text = parameter(name) else { return nil }
        guard let time = Timestamp(text) else { throw ErrorBody(.requestInvalidParameter, field: name) }
        return time
    }

    func flag(_ name: String) throws(ErrorBody) -> Bool {
        guard let text = parameter(name) else { return false }
        guard let flag = Bool(text) else { throw ErrorBody(.requestInvalidParameter, field: name) }
        return flag
    }

    func word<Word: RawRepresentable<String>>(_ name: String, of type: Word.Type) throws(ErrorBody) -> Word? {
        guard let text = parameter(name) else { return nil }
        guard let word = Word(rawValue: text) else { throw ErrorBody(.requestInvalidParameter, field: name) }
        return word
    }

    fileprivate func reference(_ name: String, upTo length: Int) throws(ErrorBody) -> String? {
        guard let text = parameter(name) else { return nil }
        guard text.isReference(upTo: length) else { throw ErrorBody(.requestInvalidParameter, field: name) }
        return text
    }

    fileprivate func till() throws(ErrorBody) -> TillName? {
        guard let text = parameter("till") else { return nil }
        guard let till = TillName(text) else { throw ErrorBody(.requestInvalidParameter, field: "till") }
        return till
    }

    /// An amount means nothing without its currency.
    fileprivate func readAmounts(into filter: inout TransactionFilter) throws(ErrorBody) {
        if let text = parameter("currency") {
            guard let currency = Currency(text) else { throw ErrorBody(.requestInvalidParameter, field: "currency") }
            filter.currency = currency
        }
        let amount = try integer("amount")
        filter.minimumAmount = try integer("minAmount") ?? amount
        filter.maximumAmount = try integer("maxAmount") ?? amount
        guard filter.minimumAmount == nil && filter.maximumAmount == nil || filter.currency != nil else {
            throw ErrorBody(.requestInvalidParameter, field: "currency")
        }
        guard amount == nil || parameter("minAmount") == nil && parameter("maxAmount") == nil else {
            throw ErrorBody(.requestInvalidParameter, field: "amount")
        }
    }
}
