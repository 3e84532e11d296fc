// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import Logging
import POSAPI
import PaymentValues

/// What goes to the daemon and comes back: bytes and status as they are.
extension Gateway {
    private static let passedOn = [
        "Idempotency-Key", "Prefer", "Accept", "Accept-Language", "Last-Event-ID", "Content-Type",
    ]
    /// Of the daemon's answer: what is between it and the gateway only.
    private static let keptBack: Set<String> = [
        "connection", "content-length", "cache-control", "vary", "date", "keep-alive", "transfer-encoding",
    ]

    static func upstreamRequest(_ request: HTTPRequest) -> HTTPClientRequest {
        var target = request.path.map { "/" + HTTPClientRequest.percentEncoded($0) }.joined()
        let query = request.query.map {
            HTTPClientRequest.percentEncoded($0.name) + "=" + HTTPClientRequest.percentEncoded($0.value)
        }
        if !query.isEmpty { target += "?" + query.joined(separator: "&") }
        var fields = HTTPFields()
        for name in passedOn { for value in request.fields.all(name) { fields.append(name, value) } }
        return HTTPClientRequest(request.method, target, fields: fields, body: request.body)
    }

    func passOn(
        _ wanted: HTTPClientRequest, _ till: Till, _ request: HTTPRequest
    ) async throws(RequestGuard.Refusal) -> HTTPResponse {
        await upstream.enter(till.till)
        let presence = Presence(upstream, till.till)
        let upstream = upstream
        let sending = Task { () -> Result<HTTPClientAnswer, HTTPClientError> in
            do throws(HTTPClientError) { return .success(try await upstream.send(wanted, for: till)) } catch {
                return .failure(error)
            }
        }
        // A client that has gone is not there, however long its answer takes; and nobody waits for it any more.
        let closed = request.connection.onClose {
            presence.end()
            if wanted.waits { sending.cancel() }
        }
        defer {
            closed.cancel()
            presence.end()
        }
        let answer: HTTPClientAnswer
        do throws(HTTPClientError) { answer = try await sending.value.get() } catch {
            logger.debug("no answer of the daemon", metadata: ["error": "\(error)", "till": "\(till.till)"])
            throw RequestGuard.Refusal(.daemonUnavailable)
        }
        if answer.status == 403, let body = try? WireJSON.decode(ErrorBody.self, from: answer.body),
            let code = ErrorCode(rawValue: body.error.code)
        {
            note(code, till: till.till)
        }
        var fields = HTTPFields()
        for field in answer.fields.fields where !Self.keptBack.contains(field.name.lowercased()) {
            fields.append(field.name, field.value)
        }
        return HTTPResponse(status: answer.status, fields: fields, body: .bytes(answer.body))
    }

    // MARK: - Streams

    func events(_ till: Till, _ request: HTTPRequest) async throws(RequestGuard.Refusal) -> HTTPResponse {
        var cursor: UInt64?
        if request.fields.contains("Last-Event-ID") {
            guard let text = request.fields.only("Last-Event-ID"), let number = UInt64(text) else {
                throw RequestGuard.Refusal(.requestInvalidParameter, field: "Last-Event-ID")
            }
            cursor = number
        }
        let language = Language(accepting: request.fields.all("Accept-Language").joined(separator: ","))
        do throws(EventFanOut.Refusal) {
            let queue = try fanOut.subscribe(till, language, after: cursor)
            await upstream.enter(till.till)
            let presence = Presence(upstream, till.till)
            queue.onEnd { presence.end() }
            return .events(queue)
        } catch {
            throw RequestGuard.Refusal(error == .daemonAway ? .daemonUnavailable : .requestTooManyStreams)
        }
    }

    private func lane(of till: Till, _ request: HTTPRequest) throws(RequestGuard.Refusal) -> String {
        let wanted = request.query.first { $0.name == "lane" }?.value
        guard let lane = wanted ?? till.lanes.first else { throw RequestGuard.Refusal(.laneNotYours, field: "lane") }
        return lane
    }

    /// An address that a customer has typed goes on to the daemon, and stays nowhere here.
    func displayReceipt(_ till: Till, _ request: HTTPRequest) async throws(RequestGuard.Refusal) -> HTTPResponse {
        let lane = try lane(of: till, request)
        let wish: DisplayReceipt
        do throws(WireError) { wish = try WireJSON.decode(DisplayReceipt.self, from: request.body) } catch {
            throw RequestGuard.Refusal(error.code, field: error.field)
        }
        if let code = await displays.sendReceipt(wish, on: lane) { throw RequestGuard.Refusal(code) }
        return HTTPResponse(status: 204)
    }

    func display(_ till: Till, _ request: HTTPRequest) throws(RequestGuard.Refusal) -> HTTPResponse {
        let lane = try lane(of: till, request)
        guard let queue = displays.subscribe(till, lane: lane) else {
            throw RequestGuard.Refusal(.requestTooManyStreams)
        }
        return .events(queue)
    }
}
