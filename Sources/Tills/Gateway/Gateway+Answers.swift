// SPDX-License-Identifier: Apache-2.0
import Codes
import Linux
package import LocalHTTP
import Logging
import POSAPI
import PaymentValues
import Synchronization

extension Gateway {
    /// Answers a browser or a program.
    package func answer(_ request: HTTPRequest) async -> HTTPResponse {
        let head = RequestGuard.Head(request.method, request.path, query: request.query, fields: request.fields)
        var response: HTTPResponse
        do throws(RequestGuard.Refusal) {
            response = try await answer(request, head)
        } catch {
            response = refuse(error, head)
        }
        response.fields.set("Date", HTTPDate.text(of: .now))
        response.fields.set("Vary", "Origin")
        response.fields.set("X-Content-Type-Options", "nosniff")
        if !response.fields.contains("Cache-Control") { response.fields.set("Cache-Control", "no-store") }
        // Whoever asks under a name that is not ours reads nothing.
        if let origin = door.sharedOrigin(head), response.status != 421 {
            response.fields.set("Access-Control-Allow-Origin", origin)
            response.fields.set(
                "Access-Control-Expose-Headers", "idempotency-replayed, retry-after, nfc-tap-token-rotate, date")
        }
        return response
    }

    private func answer(_ request: HTTPRequest, _ head: RequestGuard.Head) async throws(RequestGuard.Refusal)
        -> HTTPResponse
    {
        switch try door.admit(head, state.withLock { $0.book }, at: .now) {
        case .preflight: return preflight(head)
        case .redirect(let place): return Pages.redirect(place)
        case .page:
            guard let page = pages.answer(head.path, head.fields) else {
                throw RequestGuard.Refusal(.requestUnknownPath)
            }
            return page
        case .pairing: return try pair(request)
        case .call(let call, let till, let token):
            request.connection.vouch()
            return try await answer(request, call, till, token)
        }
    }

    private func preflight(_ head: RequestGuard.Head) -> HTTPResponse {
        var fields = HTTPFields()
        if door.sharedOrigin(head) != nil {
            fields.set("Access-Control-Allow-Methods", "GET, POST, DELETE")
            fields.set(
                "Access-Control-Allow-Headers",
                "authorization, content-type, idempotency-key, prefer, last-event-id, accept-language")
            fields.set("Access-Control-Max-Age", "600")
        }
        return HTTPResponse(status: 204, fields: fields)
    }

    private func refuse(_ refusal: RequestGuard.Refusal, _ head: RequestGuard.Head) -> HTTPResponse {
        var refusal = refusal
        if refusal.code == .tokenUnknown, state.withLock({ $0.failures.failed(at: MachineClock.awake) }) {
            note(refusal.code, till: refusal.till)
            refusal.code = .rateExceeded
            refusal.seconds = 60
        } else {
            note(refusal.code, till: refusal.till)
        }
        var fields = HTTPFields()
        if refusal.code == .tokenUnknown { fields.set("WWW-Authenticate", "Bearer") }
        if refusal.code.entry.retryable { fields.set("Retry-After", String(refusal.seconds ?? 1)) }
        if !refusal.allowedMethods.isEmpty { fields.set("Allow", refusal.allowedMethods.joined(separator: ", ")) }
        return Self.message(refusal.code.entry.status, refusal.body, head.fields, adding: fields)
    }

    static func message(
        _ status: Int, _ message: some Encodable, _ asked: HTTPFields, adding fields: HTTPFields = HTTPFields()
    ) -> HTTPResponse {
        let audience = Audience(language: Language(accepting: asked.all("Accept-Language").joined(separator: ",")))
        return .json(status, (try? WireJSON.encode(message, for: audience)) ?? [], fields: fields)
    }

    // MARK: - Pairing

    private struct PairingRequest: Decodable {
        var code: String
    }

    /// The till's own name and rights; once, at pairing, with its token.
    private struct OwnTill: Encodable {
        var till: String
        var roles: [TillRole]
        var lanes: [String]
        var types: [TransactionType]
        var token: String?
        /// Decimals of each currency, by ISO 4217: a browser's own table differs.
        var decimals: [String: Int]?
    }

    private struct NewToken: Encodable {
        var token: String
    }

    private func pair(_ request: HTTPRequest) throws(RequestGuard.Refusal) -> HTTPResponse {
        let typed: PairingRequest
        do throws(WireError) { typed = try WireJSON.decode(PairingRequest.self, from: request.body) } catch {
            throw RequestGuard.Refusal(error.code, field: error.field)
        }
        switch state.withLock({ $0.desk.redeem(typed.code, at: .now) }) {
        case .wrong: throw RequestGuard.Refusal(.pairingUnknown, field: "code")
        case .spent: throw RequestGuard.Refusal(.pairingUsed, field: "code")
        case .tooOften(let seconds):
            var refusal = RequestGuard.Refusal(.rateExceeded)
            refusal.seconds = Int(seconds)
            throw refusal
        case .paired(let draft):
            var generator = SystemRandomNumberGenerator()
            let token = TillToken(till: draft.till, using: &generator)
            let isPaired: Bool?
            do throws(GatewayError) {
                isPaired = try changeBook { book in
                    guard book.mayPair(draft.till) else { return nil }
                    book.pair(draft, token, at: .now)
                    return true
                }
            } catch {
                logger.error("till not written down", metadata: ["error": "\(error)"])
                throw RequestGuard.Refusal(.storageFailed)
            }
            guard isPaired == true else { throw RequestGuard.Refusal(.pairingUsed, field: "code") }
            logger.notice("till paired", metadata: ["till": "\(draft.till)"])
            // Whoever has the old token is out.
            fanOut.end(draft.till)
            displays.end(draft.till)
            let own = OwnTill(
                till: draft.till, roles: draft.roles, lanes: draft.lanes, types: draft.types, token: token.text)
            return Self.message(201, own, request.fields)
        }
    }

    // MARK: - Calls of tills

    private func answer(
        _ request: HTTPRequest, _ call: TillCall, _ till: Till, _ token: TillToken
    ) async throws(RequestGuard.Refusal) -> HTTPResponse {
        if call == .create { try await checkCreation(request, till) }
        let wait = state.withLock {
            $0.limits.wait(of: till.till, isCreating: call == .create, at: MachineClock.awake)
        }
        if let wait {
            var refusal = RequestGuard.Refusal(.rateExceeded)
            refusal.seconds = wait
            throw refusal
        }
        markUse(token, till)
        var response: HTTPResponse
        switch call {
        case .ownTill:
            let decimals = Dictionary(
                uniqueKeysWithValues: CurrencyCode.all.filter(\.isPayable).map { ($0.letters, $0.exponent) })
            let own = OwnTill(
                till: till.till, roles: till.roles, lanes: till.lanes, types: till.types, decimals: decimals)
            response = Self.message(200, own, request.fields)
        case .newToken: response = try renew(till, request)
        case .events: response = try await events(till, request)
        case .display: response = try display(till, request)
        case .displayReceipt: response = try await displayReceipt(till, request)
        case .receiptPicture(let id):
            let picture = HTTPClientRequest(
                .get, "/v1/transactions/\(id.text)/receipt", fields: ["Accept": "image/svg+xml"])
            response = try await passOn(picture, till, request)
        case .create, .passOn: response = try await passOn(Self.upstreamRequest(request), till, request)
        }
        // As it is now: this very call may have been the new token's first.
        let isRotating = state.withLock { $0.book.tills[till.till]?.rotating == true }
        if isRotating, call != .newToken { response.fields.set("NFC-Tap-Token-Rotate", "1") }
        return response
    }

    private func markUse(_ token: TillToken, _ till: Till) {
        let today = String(Timestamp.now.description.prefix(10))
        guard till.lastUsedOn != today || till.next != nil else { return }
        do throws(GatewayError) {
            _ = try changeBook { book in book.used(token, at: .now) ? true : nil }
        } catch {
            logger.warning("use of a token not written down", metadata: ["error": "\(error)"])
        }
    }

    private func renew(_ till: Till, _ request: HTTPRequest) throws(RequestGuard.Refusal) -> HTTPResponse {
        var generator = SystemRandomNumberGenerator()
        let token = TillToken(till: till.till, using: &generator)
        let isDue: Bool?
        do throws(GatewayError) {
            isDue = try changeBook { book in book.renew(token, at: .now) ? true : nil }
        } catch {
            logger.error("new token not written down", metadata: ["error": "\(error)"])
            throw RequestGuard.Refusal(.storageFailed)
        }
        guard isDue == true else { throw RequestGuard.Refusal(.tokenNotDue) }
        return Self.message(201, NewToken(token: token.text), request.fields)
    }

    /// Type and lanes, read by the same rules as the daemon's: it sees nothing else in the body than what is checked here.
    private func checkCreation(_ request: HTTPRequest, _ till: Till) async throws(RequestGuard.Refusal) {
        guard !request.body.isEmpty else { throw RequestGuard.Refusal(.requestBodyMissing) }
        let wanted: TransactionRequest
        do throws(WireError) { wanted = try WireJSON.decode(TransactionRequest.self, from: request.body) } catch {
            throw RequestGuard.Refusal(error.code, field: error.field)
        }
        let needsLanes = wanted.group != nil || (wanted.lane == nil && wanted.lanes == nil && wanted.asksForCard)
        try till.checkRequest(wanted, needsLanes ? try await lanes() : [])
    }

    /// The daemon's lanes, as they were some seconds ago at most.
    func lanes() async throws(RequestGuard.Refusal) -> [KnownLane] {
        let now = MachineClock.awake
        if let lanes = state.withLock({ $0.lanes }), now &- lanes.at < 5_000_000_000 { return lanes.known }
        guard let answer = try? await upstream.ask(HTTPClientRequest(.get, "/v1/lanes")), answer.status == 200,
            let list = try? WireJSON.decode(LaneList.self, from: answer.body)
        else { throw RequestGuard.Refusal(.daemonUnavailable) }
        let known = list.lanes.map { KnownLane(name: $0.name, groups: $0.groups ?? []) }
        state.withLock { $0.lanes = (known, now) }
        return known
    }
}

/// A time as HTTP writes it (RFC 9110 §5.6.7).
enum HTTPDate {
    static func text(of time: Timestamp) -> String {
        let parts = time.components
        let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        // 1970-01-01 was a Thursday.
        let day = days[Int(max(0, time.milliseconds) / 86_400_000 % 7)]
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return
            "\(day), \(two(parts.day)) \(months[parts.month - 1]) \(parts.year) \(two(parts.hour)):\(two(parts.minute)):\(two(parts.second)) GMT"
    }
}
