// SPDX-License-Identifier: Apache-2.0
import Codes
import Configuration
import LocalHTTP
import PINDeviceAPI
import PSPAPI
import PaymentValues
import StoreAndForward
import Synchronization
import Transactions

/// The way to the payment service: the adapter's socket, with the daemon as its client. It belongs to a snapshot of the
/// configuration, and stays the same for whoever holds it.
struct AdapterLink: Sendable {
    let client: HTTPClient
    let times: AdapterTimes

    init(path: String, times: AdapterTimes = AdapterTimes()) {
        var client = HTTPClient(path: path)
        client.connectTime = times.connect
        (self.client, self.times) = (client, times)
    }

    /// A connection on which an authorisation can be sent at once.
    ///
    /// - Throws: where there is none: nothing has been sent then.
    func connect() async throws(AdapterUnreachable) -> HTTPClientConnection {
        do { return try await client.connect() } catch { throw AdapterUnreachable() }
    }

    /// An authorisation as it is sent; `nil` where it cannot be written.
    func message(_ request: AuthorizationRequest) -> HTTPClientRequest? {
        guard let body = try? WireJSON.encode(request) else { return nil }
        return post("/v1/authorizations", request.id.text, body)
    }

    /// Sends an authorisation on a connection that stands.
    func authorize(
        _ request: AuthorizationRequest, over connection: HTTPClientConnection, within time: Duration
    ) async -> Reply {
        guard let message = message(request) else { return .refused }
        return await reply(to: begin(message, over: connection, within: time))
    }

    /// Sends it now; the answer is for `reply(to:)`.
    func begin(
        _ message: HTTPClientRequest, over connection: HTTPClientConnection, within time: Duration
    ) -> Result<PendingAnswer, HTTPClientError> {
        Result { () throws(HTTPClientError) in try connection.begin(message, answerWithin: time) }
    }

    /// What comes back to an authorisation that was sent, or could not be.
    func reply(to sent: Result<PendingAnswer, HTTPClientError>) async -> Reply {
        do throws(HTTPClientError) {
            return reply(to: try await sent.get().answer())
        } catch {
            // The connection had been closed before a byte was written: nothing has to be asked.
            return error.isSafeToRepeat ? .neverSeen : .unusable
        }
    }

    /// The same over a new connection: sent again with the same key, it is carried out once.
    func authorizeAgain(_ request: AuthorizationRequest, within time: Duration) async -> Reply {
        do throws(HTTPClientError) {
            let reply = await authorize(request, over: try await client.connect(), within: time)
            // An adapter that accepts connections only to close them is asked at intervals.
            return reply == .neverSeen ? .unusable : reply
        } catch {
            return .unusable
        }
    }

    /// Goes on with an authorisation whose issuer wants the PIN, over a connection of its own.
    func proceed(
        _ id: TransactionID, _ request: ContinuationRequest, isAgain: Bool, within time: Duration
    ) async -> Reply {
        guard let body = try? WireJSON.encode(request) else { return .refused }
        let connection: HTTPClientConnection
        do throws(HTTPClientError) {
            connection = try await client.connect()
        } catch {
            // Nobody has the first one where nobody is there; of one that was sent before that says nothing.
            return isAgain ? .unusable : .notDelivered
        }
        let message = post("/v1/authorizations/\(id.text)/continuations", request.id.text, body)
        let reply = await reply(to: begin(message, over: connection, within: time))
        // An adapter that accepts connections only to close them is asked at intervals.
        return isAgain && reply == .neverSeen ? .unusable : reply
    }

    /// Asks what became of an authorisation, or of its continuation.
    func query(_ id: TransactionID, _ continuation: PINAttemptID? = nil, within time: Duration) async -> Reply {
        let target = "/v1/authorizations/\(id.text)" + (continuation.map { "/continuations/\($0.text)" } ?? "")
        do throws(HTTPClientError) {
            let answer = try await client.send(
                HTTPClientRequest(.get, target), answerWithin: min(time, times.query))
            if answer.status == 404 { return .neverSeen }
            let reply = reply(to: answer)
            // A question that is refused, or reaches nobody, says nothing about what it asked for.
            return reply == .refused || reply == .notDelivered ? .unusable : reply
        } catch {
            return .unusable
        }
    }

    func reverse(_ id: TransactionID, _ request: ReversalRequest) async -> Acknowledgement {
        guard let body = try? WireJSON.encode(request) else { return .none }
        do throws(HTTPClientError) {
            let answer = try await client.send(
                post("/v1/authorizations/\(id.text)/reversals", id.text, body), answerWithin: times.query)
            switch answer.status {
            // Only a body that says so: a proxy answers 200, too.
            case 200, 202:
                return (try? WireJSON.decode(ReversalAnswer.self, from: answer.body)) == nil ? .none : .acknowledged
            case 404: return .neverSeen
            default: return .none
            }
        } catch {
            return .none
        }
    }

    /// What the adapter says of itself; `nil` where it does not answer, or says that it is down.
    func health() async -> AdapterHealth? {
        do throws(HTTPClientError) {
            let answer = try await client.send(HTTPClientRequest(.get, "/v1/health"), answerWithin: times.query)
            guard answer.status == 200 else { return nil }
            let health = try? WireJSON.decode(AdapterHealth.self, from: answer.body)
            return health?.status == .down ? nil : health
        } catch {
            return nil
        }
    }

    /// - Parameter key: of the call, which is the id of what it carries out.
    func post(_ target: String, _ key: String, _ body: [UInt8]) -> HTTPClientRequest {
        var fields = HTTPFields()
        fields.set("Content-Type", "application/json")
        fields.set("Idempotency-Key", key)
        fields.set("User-Agent", "nfc-tapd/\(Version.text)")
        return HTTPClientRequest(.post, target, fields: fields, body: body)
    }

    private func reply(to answer: HTTPClientAnswer) -> Reply {
        switch answer.status {
        case 200:
            guard let answer = try? WireJSON.decode(AuthorizationAnswer.self, from: answer.body) else {
                return .unusable
            }
            return answer.outcome == .pending ? .running : .answered(answer)
        case 202, 409: return .running
        // Too many requests and a time-out on the adapter's side say nothing about what becomes of this one, and that a
        // request was never seen is no answer to the request.
        case 404, 408, 425, 429: return .unusable
        // Misdirected: whatever stands before the adapter has certainly not passed it on (RFC 9110, 15.5.20).
        case 421: return .notDelivered
        case 400...499: return .refused
        default: return .unusable
        }
    }
}

extension AdapterHealth {
    /// Names that a till can show, and no more of them than it has buttons.
    var usableTerminals: [String] {
        guard supports(.handover) else { return [] }
        let names = (terminals ?? []).filter { $0.isReference(upTo: Limits.terminalNameLength) }
        return Array(names.prefix(Limits.handoverTerminals))
    }

    /// How long the service keeps keys; at most a year, whatever it says.
    var keyLifetime: Duration { .seconds(max(0, min(keyLife ?? AdapterHealth.defaultKeyLife, 31_622_400))) }
}

/// No adapter accepts connections.
struct AdapterUnreachable: Error {}

extension ConfigurationSnapshot {
    /// The way to the adapter that it names.
    var adapter: AdapterLink {
        AdapterLink(path: configuration.file.adapter.socket, times: configuration.file.adapter.times)
    }
}
