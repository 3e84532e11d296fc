// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
public import POSAPI
public import PaymentValues

/// Lists, totals and ends of day.
extension TapClient {
    /// A page of the transactions that a filter leaves, newest first.
    ///
    /// - Parameter after: `next` of the page before.
    /// - Throws: `request.invalid_parameter` where `after` is of another filter.
    public func transactions(
        _ filter: TransactionFilter = TransactionFilter(), limit: Int = Limits.pageDefault, after: String? = nil
    ) async throws(TapClientError) -> TransactionList {
        let more = after.map { [(name: "after", value: $0)] } ?? []
        return try await call(
            HTTPClientRequest(
                .get,
                "/v1/transactions" + Self.query(filter.parameters + [(name: "limit", value: "\(limit)")] + more)))
    }

    /// Transactions that have changed since, by the order of their newest change, each once: for programs that copy all.
    ///
    /// - Parameter change: `changes` of the answer before; 0 to begin.
    public func changes(
        after change: Int64, limit: Int = Limits.pageDefault
    ) async throws(TapClientError) -> TransactionList {
        try await call(HTTPClientRequest(.get, "/v1/transactions?changedAfter=\(change)&limit=\(limit)"))
    }

    /// The newest transaction of a lane. Compare amount and time before you believe that it is yours.
    ///
    /// - Parameter isSettled: leaves out the one that runs now.
    /// - Throws: `lane.no_transaction`.
    public func last(
        of lane: String, type: TransactionType? = nil, isSettled: Bool = false
    ) async throws(TapClientError) -> Transaction {
        var parameters: [(name: String, value: String)] = []
        if let type { parameters.append(("type", type.rawValue)) }
        if isSettled { parameters.append(("settled", "true")) }
        return try await call(
            HTTPClientRequest(
                .get, "/v1/lanes/\(HTTPClientRequest.percentEncoded(lane))/last" + Self.query(parameters)))
    }

    /// Sums of a business day.
    ///
    /// - Parameter day: its number or id; the open one without it.
    public func totals(
        day: String? = nil, by groups: [TotalsGroup] = [.scheme]
    ) async throws(TapClientError) -> Totals {
        let by = groups.map(\.rawValue).joined(separator: ",")
        return try await call(
            HTTPClientRequest(.get, "/v1/totals" + Self.query([("day", day ?? "current"), ("by", by)])))
    }

    /// Closes the business day.
    ///
    /// - Parameters:
    ///   - key: the same for a repetition, which closes nothing again.
    ///   - isForced: closes although something is open that the configuration holds a day open for.
    ///   - seconds: for the payment service to be asked for its figures; 0 asks for none.
    /// - Throws: `day.blocked`.
    public func closeDay(
        key: String, label: String? = nil, isForced: Bool = false, waiting seconds: Int = 0
    ) async throws(TapClientError) -> EndOfDay {
        var fields: HTTPFields = ["Content-Type": "application/json", "Idempotency-Key": key]
        if seconds > 0 { fields.set("Prefer", "wait=\(seconds)") }
        let body = try Self.encode(EndOfDayRequest(label: label, force: isForced ? true : nil))
        return try await call(
            HTTPClientRequest(.post, "/v1/days", fields: fields, body: body),
            answerWithin: answerTime + .seconds(seconds))
    }

    /// Business days, newest first.
    public func days() async throws(TapClientError) -> [BusinessDay] {
        let list: DayList = try await call(HTTPClientRequest(.get, "/v1/days"))
        return list.days
    }

    /// A day as it was closed.
    /// - Throws: `day.unknown`.
    public func endOfDay(_ day: String) async throws(TapClientError) -> EndOfDay {
        try await call(HTTPClientRequest(.get, "/v1/days/\(HTTPClientRequest.percentEncoded(day))"))
    }

    /// Settles a day whose figures differ from the payment service's, or whose figures the service never gave. For administrators.
    ///
    /// - Parameter note: what was found out, for whoever asks later.
    /// - Throws: `resolution.not_open` for every other day.
    public func resolveDay(_ day: String, note: String) async throws(TapClientError) -> EndOfDay {
        let path = "/v1/days/\(HTTPClientRequest.percentEncoded(day))/resolution"
        let body = try Self.encode(DayResolutionRequest(note: note))
        return try await call(
            HTTPClientRequest(.post, path, fields: ["Content-Type": "application/json"], body: body))
    }

    /// The report of a closed day, for a printer.
    public func endOfDayReport(
        _ day: String, width: Int = 42, language: Language? = nil, isCopy: Bool = false
    ) async throws(TapClientError) -> String {
        var parameters: [(name: String, value: String)] = [("width", "\(width)")]
        if let language { parameters.append(("language", language.rawValue)) }
        if isCopy { parameters.append(("copy", "true")) }
        let path = "/v1/days/\(HTTPClientRequest.percentEncoded(day))/report" + Self.query(parameters)
        return String(decoding: try await bytes(HTTPClientRequest(.get, path)), as: UTF8.self)
    }

    private static func query(_ parameters: [(name: String, value: String)]) -> String {
        parameters.isEmpty
            ? ""
            : "?"
                + parameters.map { "\($0.name)=\(HTTPClientRequest.percentEncoded($0.value))" }.joined(separator: "&")
    }
}
