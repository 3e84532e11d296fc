// SPDX-License-Identifier: Apache-2.0
import Configuration
import LocalHTTP
import POSAPI
import PSPAPI
import PaymentValues

/// What came back to a question about a day's figures.
enum FiguresReply: Equatable, Sendable {
    case figures(ReconciliationAnswer)
    /// The payment service has none yet, or nothing usable came.
    case later
    case neverSeen
    /// The service has taken another request for this one.
    case otherBody
}

/// What the payment service is asked about a closed day.
extension AdapterLink {
    /// Tells it of the day: carried out once, by the day's id.
    func reconcile(_ day: String, _ body: String) async -> FiguresReply {
        var fields = HTTPFields()
        fields.set("Content-Type", "application/json")
        fields.set("Idempotency-Key", day)
        let reply = await ask(
            HTTPClientRequest(.post, "/v1/reconciliations", fields: fields, body: Array(body.utf8)), day)
        // That the day was never seen is no answer to being told of it.
        return reply == .neverSeen ? .later : reply
    }

    /// Asks what has become of it.
    func figures(of day: String) async -> FiguresReply {
        await ask(HTTPClientRequest(.get, "/v1/reconciliations/\(day)"), day)
    }

    private func ask(_ request: HTTPClientRequest, _ day: String) async -> FiguresReply {
        do throws(HTTPClientError) {
            let answer = try await client.send(request, answerWithin: times.answer)
            switch answer.status {
            case 200, 202:
                guard let message = try? WireJSON.decode(ReconciliationAnswer.self, from: answer.body),
                    let usable = message.usable(for: day), usable.status != .later, answer.status == 200
                else { return .later }
                return .figures(usable)
            case 404: return .neverSeen
            case 422: return .otherBody
            default: return .later
            }
        } catch {
            return .later
        }
    }

    /// What the service's figure in a line is of, page by page.
    ///
    /// - Returns: `nil` where it does not say so, or says more than its figure.
    func items(of day: String, in line: DayDifference) async -> [ReconciliationItem]? {
        guard line.theirs.count > 0 else { return [] }
        var target = "/v1/reconciliations/\(day)/items?mode=\(line.mode.rawValue)&currency=\(line.currency.code)"
        target += "&kind=\(line.kind.rawValue)"
        if let scheme = line.scheme { target += "&scheme=\(HTTPClientRequest.percentEncoded(scheme))" }
        var items: [ReconciliationItem] = []
        var after: String?
        repeat {
            let more = after.map { "&after=\(HTTPClientRequest.percentEncoded($0))" } ?? ""
            guard let page = await page(target + more) else { return nil }
            items += page.items
            after = page.items.isEmpty ? nil : page.next
            // More than it has counted: its pages have no end, or its figures are wrong. What there is shows it.
        } while after != nil && items.count <= min(line.theirs.count, Limits.reconciliationItems)
        return items
    }

    private func page(_ target: String) async -> ReconciliationItems? {
        do throws(HTTPClientError) {
            let answer = try await client.send(HTTPClientRequest(.get, target), answerWithin: times.answer)
            guard answer.status == 200 else { return nil }
            return (try? WireJSON.decode(ReconciliationItems.self, from: answer.body))?.usable
        } catch {
            return nil
        }
    }
}
