// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import PSPAPI
import PaymentValues

/// The rules of a day's figures. Whatever the terminal of the check has done before may be in them: only what is done here has to
/// be.
extension CheckBench {
    /// A day with one sale, and the service's figures of it.
    private struct Told {
        let sale: AuthorizationRequest
        let request: ReconciliationRequest
        let answer: ReconciliationAnswer
    }

    private func day(of sale: AuthorizationRequest) -> ReconciliationRequest {
        let line = FigureLine(
            mode: .test, currency: amount.currency, scheme: sale.card.scheme, kind: .captured, count: 1,
            value: sale.amount.value)
        return ReconciliationRequest(
            id: TransactionID().text, mode: .test, terminal: sale.terminal.id, number: 1,
            openedAt: Timestamp.now.advanced(bySeconds: -60), closedAt: Timestamp.now.advanced(bySeconds: 1),
            lines: [line])
    }

    private func tell(_ request: ReconciliationRequest) async throws(Complaint) -> Reply<ReconciliationAnswer> {
        try await post("/v1/reconciliations", Self.encode(request), key: request.id, as: ReconciliationAnswer.self)
    }

    private func figures(of id: String) async throws(Complaint) -> Reply<ReconciliationAnswer> {
        try await get("/v1/reconciliations/\(id)", as: ReconciliationAnswer.self)
    }

    /// Asks until the figures are there; a service that needs hours for them cannot be held against these rules.
    private func told() async throws(Complaint) -> Told {
        let (sale, _) = try await approved()
        let request = day(of: sale)
        var reply = try await tell(request)
        for _ in 0..<Self.questions where reply.status == 202 || reply.message?.status == .later {
            await pause()
            reply = try await figures(of: request.id)
        }
        guard reply.status == 200, let answer = reply.message else {
            throw Complaint("POST /v1/reconciliations was answered with \(reply.status)\(Self.unread(reply))")
        }
        guard answer.id == request.id else { throw Complaint("the answer has another id") }
        guard answer.usable(for: request.id)?.lines != nil else { throw Complaint("the answer has no usable lines") }
        return Told(sale: sale, request: request, answer: answer)
    }

    /// The line that the sale is in.
    private func line(_ told: Told) throws(Complaint) -> FigureLine {
        let line = told.answer.lines?.first {
            $0.kind == .captured && $0.currency == amount.currency && $0.scheme == told.sale.card.scheme
        }
        guard let line, line.count > 0, line.value >= told.sale.amount.value else {
            throw Complaint("no line captured, \(amount.currency), \(told.sale.card.scheme) holds the sale of the day")
        }
        return line
    }

    func checkFigures() async throws(Complaint) { _ = try line(try await told()) }

    func checkFiguresRepeat() async throws(Complaint) {
        let told = try await told()
        let again = try await tell(told.request)
        guard again.status == 202 || again.message == told.answer else {
            throw Complaint("told again: answered with \(again.status) and not with the first answer")
        }
        var other = told.request
        other.lines = []
        let status = try await tell(other).status
        guard status == 422 else { throw Complaint("another body under the same key was answered with \(status)") }
    }

    func checkFiguresQuery() async throws(Complaint) {
        let told = try await told()
        let reply = try await figures(of: told.request.id)
        guard reply.status == 200, reply.message == told.answer else {
            throw Complaint("asked by GET: answered with \(reply.status) and not with the first answer")
        }
        let status = try await figures(of: TransactionID().text).status
        guard status == 404 else { throw Complaint("a day that never came: answered with \(status)") }
    }

    func checkFiguresItems() async throws(Complaint) {
        let told = try await told()
        let line = try line(told)
        var target = "/v1/reconciliations/\(told.request.id)/items?mode=test&currency=\(line.currency)&kind=captured"
        target += "&scheme=\(HTTPClientRequest.percentEncoded(line.scheme ?? ""))"
        var items: [ReconciliationItem] = []
        var after: String?
        repeat {
            let more = after.map { "&after=\(HTTPClientRequest.percentEncoded($0))" } ?? ""
            let reply = try await get(target + more, as: ReconciliationItems.self)
            guard reply.status == 200, let page = reply.message, page.items.count <= Limits.reconciliationPage else {
                throw Complaint("the items of a line were answered with \(reply.status)\(Self.unread(reply))")
            }
            items += page.items
            after = page.next
            if page.items.isEmpty { break }
        } while after != nil && items.count <= line.count
        var sum: Int64 = 0
        for item in items { sum &+= item.value }
        guard items.count == line.count, sum == line.value else {
            throw Complaint("the items of a line do not add up to its figures")
        }
        guard items.contains(where: { $0.id == told.sale.id.text && $0.value == told.sale.amount.value }) else {
            throw Complaint("the items of the day do not name its sale")
        }
    }
}
