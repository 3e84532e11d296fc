// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocalHTTP
import POSAPI
import PaymentValues
import ReaderVirtual
import Synchronization
import TestSupport
import Testing

@testable import TapDaemon

/// A payment service with books of its own in a few lines: what it holds, has taken and given back, by the id of the payment.
/// It reads and writes JSON by itself, and shares nothing with the daemon's ledger. A fault befalls each new operation once.
final class OperationService: Sendable {
    enum Fault: Sendable {
        /// The request is lost before it is carried out, or its answer afterwards.
        case lostBefore, lostAfter
        case pending
        case decline
        case otherAmount
        case otherFigures
        case unavailable
        /// Never seen, also when asked.
        case unseen
    }

    struct Account: Sendable {
        var authorised: Int
        var hold: Int
        var captured = 0
        var released = 0
        var refunded = 0
    }

    struct State: Sendable {
        var accounts: [String: Account] = [:]
        /// What each id was answered with.
        var answers: [String: String] = [:]
        var pending: Set<String> = []
        var faults: [Fault] = []
        var carriedOut: [String] = []
        var posts = 0
    }

    let state = Mutex(State())

    func fail(_ faults: Fault...) { state.withLock { $0.faults = faults } }

    var carriedOut: Int { state.withLock { $0.carriedOut.count } }

    func account(_ id: String) -> Account? { state.withLock { $0.accounts[id] } }

    static let health =
        #"{"status":"ok","protocolVersions":["v1"],"supports":["sale","preauth","capture","multicapture","overcapture","adjust","extend","release","refundLinked"]}"#

    func answer(_ seen: ScriptedAdapter.Seen) -> HTTPResponse {
        let body = (try? JSONSerialization.jsonObject(with: Data(seen.body))) as? [String: Any] ?? [:]
        return state.withLock { state in
            switch (seen.method, seen.path.last ?? "") {
            case (.post, "authorizations"): return authorize(body, &state)
            case (.post, "reversals"): return .text(200, #"{"status":"done"}"#)
            case (.get, _) where seen.path.contains("operations"): return tell(seen.path.last ?? "", &state)
            case (.post, let call):
                state.posts += 1
                return operate(call, seen.path.dropLast().last ?? "", body, &state)
            default: return .text(404, "{}")
            }
        }
    }

    private func authorize(_ body: [String: Any], _ state: inout State) -> HTTPResponse {
        let id = body["id"] as? String ?? ""
        let value = (body["amount"] as? [String: Any])?["value"] as? Int ?? 0
        let isHeld = body["type"] as? String == "preauth"
        state.accounts[id] = Account(authorised: value, hold: isHeld ? value : 0, captured: isHeld ? 0 : value)
        let more =
            value == 4_000
            ? #","maximumCapture":{"value":9000,"currency":"EUR"}"#
            : value == 3_300 ? #","captureBefore":"2099-01-01T00:00:00.000Z""# : ""
        return .text(200, #"{"outcome":"approved","responseCode":"00","approvalCode":"123456"\#(more)}"#)
    }

    private func tell(_ id: String, _ state: inout State) -> HTTPResponse {
        if state.pending.remove(id) != nil { return .text(202, "{}") }
        return state.answers[id].map { .text(200, $0) } ?? .text(404, "{}")
    }

    private func operate(
        _ call: String, _ payment: String, _ body: [String: Any], _ state: inout State
    ) -> HTTPResponse {
        let id = body["id"] as? String ?? ""
        if let known = state.answers[id] { return .text(200, known) }
        let fault = state.faults.isEmpty ? nil : state.faults.removeFirst()
        switch fault {
        case .lostBefore, .unavailable: return .text(503, "{}")
        case .unseen: return .text(404, "{}")
        case .decline:
            let answer = #"{"id":"\#(id)","outcome":"declined","responseCode":"51"}"#
            state.answers[id] = answer
            return .text(200, answer)
        case .lostAfter, .pending, .otherAmount, .otherFigures, nil: break
        }
        guard var account = state.accounts[payment] else { return .text(404, "{}") }
        let value = ((body["amount"] ?? body["total"]) as? [String: Any])?["value"] as? Int ?? 0
        switch call {
        case "captures":
            let taken = min(value, account.hold)
            account.captured += value
            account.hold -= taken
            if body["final"] as? Bool == true {
                (account.released, account.hold) = (account.released + account.hold, 0)
            }
        case "adjustments" where body["extend"] == nil:
            account.authorised += value - account.hold
            account.hold = value
        case "releases": (account.released, account.hold) = (account.released + value, account.hold - value)
        case "refunds": account.refunded += value
        default: break
        }
        state.accounts[payment] = account
        state.carriedOut.append(id)
        let released = fault == .otherFigures ? 999_999 : account.released
        let answer =
            #"{"id":"\#(id)","outcome":"approved","responseCode":"00","pspReference":"S-\#(state.carriedOut.count)","#
            + #""account":{"currency":"EUR","authorised":\#(account.authorised),"captured":\#(account.captured),"#
            + #""released":\#(released),"refunded":\#(account.refunded)}}"#
        state.answers[id] = answer
        switch fault {
        case .pending:
            state.pending.insert(id)
            return .text(202, "{}")
        case .lostAfter: return .text(502, "{}")
        case .otherAmount:
            return .text(
                200, #"{"id":"\#(id)","outcome":"approved","amountDone":{"value":\#(value + 1),"currency":"EUR"}}"#)
        default: return .text(200, answer)
        }
    }
}

/// A shop whose payment service is an `OperationService`, which has said what it can.
func withOperations(_ body: (Shop, OperationService) async throws -> Void) async throws {
    let (folder, service) = (try TestFolder(), OperationService())
    try await withAdapter(in: folder, health: OperationService.health) {
        service.answer($0)
    } _: { _ in
        try await Shop.open(in: folder) { shop in
            _ = try await eventually("the service has said what it can") { shop.daemon.health.supports }
            try await body(shop, service)
        }
    }
}

extension Shop {
    /// A sale, or a sum that is held, of a Visa card.
    func approved(_ value: Int64, held: Bool) async throws -> Transaction {
        try reader.obey("present visa")
        let more = held ? #","amountStatus":"preauthorized""# : ""
        let transaction = try await post(purchase(value, order: UUID().uuidString, more: more), wait: 20).transaction()
        try reader.obey("remove")
        try #require(transaction.state == .approved)
        return transaction
    }
}
