// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocalHTTP
import Synchronization

/// A payment service that keeps cards, in a few lines of its own: it reads and writes JSON by itself, and shares nothing with
/// the daemon. What is wrong with it befalls each request once, in order.
final class StoredCardService: Sendable {
    enum Fault: Sendable {
        /// No name for the card, or one that could be its number.
        case noToken, cardNumber
        /// Booked, and the answer lost; booked, and never heard of when asked.
        case lostAfter, forgotten
        case decline(String, retry: String)
        case unavailable, otherAmount
        /// A deletion that is answered with 202, about another card, or by nobody.
        case later, otherCard, noPath
    }

    struct State: Sendable {
        var faults: [Fault] = []
        var tokens: Set<String> = []
        /// Charges that were carried out, by the id of the transaction; what was taken back is gone.
        var charged: [String: Int] = [:]
        var answers: [String: String] = [:]
        var hidden: Set<String> = []
        var bodies: [String] = []
        var deletions = 0
        var reversals = 0
    }

    let state = Mutex(State())

    static let health =
        #"{"status":"ok","protocolVersions":["v1"],"supports":["sale","verify","refundLinked","charge","tokenDeletion"]}"#

    func fail(_ faults: Fault...) { state.withLock { $0.faults = faults } }

    var charged: [String: Int] { state.withLock { $0.charged } }
    var tokens: Set<String> { state.withLock { $0.tokens } }
    var deletions: Int { state.withLock { $0.deletions } }
    var reversals: Int { state.withLock { $0.reversals } }

    /// The latest body of a call, as the service reads it.
    func body(_ call: String) -> [String: Any] {
        let text = state.withLock { $0.bodies.last { $0.hasPrefix(call + " ") } }?.dropFirst(call.count + 1) ?? "{}"
        return (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:]
    }

    func answer(_ seen: ScriptedAdapter.Seen) -> HTTPResponse {
        let body = (try? JSONSerialization.jsonObject(with: Data(seen.body))) as? [String: Any] ?? [:]
        let id = body["id"] as? String ?? ""
        return state.withLock { state in
            if seen.method == .get {
                let name = seen.path.last ?? ""
                if state.hidden.contains(name) { return .text(404, "{}") }
                return state.answers[name].map { .text(200, $0) } ?? .text(404, "{}")
            }
            state.bodies.append("\(seen.path.last ?? "") \(seen.text)")
            switch seen.path.last {
            case "reversals":
                state.reversals += 1
                state.charged[seen.path.dropLast().last ?? ""] = nil
                return .text(200, #"{"status":"done"}"#)
            case "refunds":
                return .text(200, #"{"id":"\#(id)","outcome":"approved","responseCode":"00"}"#)
            case "token-deletions": return forget(id, body["token"] as? String ?? "", &state)
            default: break
            }
            if let known = state.answers[id] { return .text(200, known) }
            let fault = state.faults.isEmpty ? nil : state.faults.removeFirst()
            return seen.path.last == "charges" ? charge(id, body, fault, &state) : check(id, fault, &state)
        }
    }

    private func check(_ id: String, _ fault: Fault?, _ state: inout State) -> HTTPResponse {
        var more = #","cardToken":"tok_9f/=?","cardExpires":"2031-04","networkReference":"NET-1""#
        switch fault {
        case .noToken: more = ""
        case .cardNumber: more = #","cardToken":"4761739001010010""#
        default: state.tokens.insert("tok_9f/=?")
        }
        let answer = #"{"outcome":"approved","responseCode":"00"\#(more)}"#
        state.answers[id] = answer
        return .text(200, answer)
    }

    private func charge(
        _ id: String, _ body: [String: Any], _ fault: Fault?, _ state: inout State
    ) -> HTTPResponse {
        let value = (body["amount"] as? [String: Any])?["value"] as? Int ?? 0
        if case .unavailable = fault { return .text(503, "{}") }
        if case .decline(let code, let retry) = fault {
            state.answers[id] = #"{"outcome":"declined","responseCode":"\#(code)","retry":"\#(retry)"}"#
            return .text(200, state.answers[id] ?? "")
        }
        guard state.tokens.contains(body["token"] as? String ?? "") else {
            state.answers[id] = #"{"outcome":"declined","responseCode":"14"}"#
            return .text(200, state.answers[id] ?? "")
        }
        state.charged[id] = value
        var answer = #"{"outcome":"approved","responseCode":"00","approvalCode":"654321","pspReference":"C-1"}"#
        if case .otherAmount = fault {
            answer =
                #"{"outcome":"approved","responseCode":"00","amountApproved":{"value":\#(value + 1),"currency":"EUR"}}"#
        }
        state.answers[id] = answer
        if case .forgotten = fault {
            state.hidden.insert(id)
            state.answers[id] = #"{"outcome":"declined","responseCode":"05"}"#
            return .text(502, "{}")
        }
        if case .lostAfter = fault { return .text(502, "{}") }
        return .text(200, answer)
    }

    private func forget(_ id: String, _ token: String, _ state: inout State) -> HTTPResponse {
        state.deletions += 1
        switch state.faults.isEmpty ? nil : state.faults.removeFirst() {
        case .unavailable: return .text(503, "{}")
        case .later: return .text(202, #"{"id":"\#(id)"}"#)
        case .otherCard: return .text(200, #"{"id":"00000000-0000-4000-8000-000000000000"}"#)
        case .noPath: return .text(404, "{}")
        default:
            state.tokens.remove(token)
            return .text(200, #"{"id":"\#(id)"}"#)
        }
    }
}
