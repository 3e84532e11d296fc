// SPDX-License-Identifier: Apache-2.0
import CardSim
import Envelope
import PINDeviceAPI
import PSPAPI
import PaymentValues

/// A continuation in the sandbox's books, never with the PIN.
struct BookedContinuation: Codable, Sendable {
    let id: PINAttemptID
    var answer: AuthorizationAnswer
}

/// The issuer that wants the PIN with its answer: what it says, by the last two digits of the amount, and what becomes of the
/// continuation. One payment stands at most, whatever it was continued with.
enum SandboxContinuations {
    /// Wrong PINs that the test cards' issuer takes, the first one included.
    private static let tries = 3

    /// - Returns: `nil` where the issuer does not ask, or the terminal has not said that it can.
    static func wish(on request: AuthorizationRequest, by features: Set<AdapterFeature>) -> AuthorizationAnswer? {
        guard request.pin == nil, isPossible(request, features), let code = code(request.amount) else { return nil }
        return asking(code)
    }

    /// The answer to a wrong PIN, as far as another one may be tried.
    static func wrongPIN(_ request: AuthorizationRequest, by features: Set<AdapterFeature>) -> AuthorizationAnswer? {
        isPossible(request, features) ? asking("55", left: tries - 1) : nil
    }

    private static func isPossible(_ request: AuthorizationRequest, _ features: Set<AdapterFeature>) -> Bool {
        let isSale = request.type == .sale || request.type == .preauth
        return isSale && features.contains(.singleTap) && request.features?.contains(.singleTap) == true
    }

    private static func asking(_ code: String, left: Int? = nil) -> AuthorizationAnswer {
        var answer = AuthorizationAnswer(outcome: .declined, responseCode: code)
        (answer.action, answer.singleTap, answer.pinAttemptsLeft) = (.pinRequired, true, left)
        return answer
    }

    /// 65 and 70 are what networks say; 71 and 72 go wrong on the continuation's way.
    private static func code(_ amount: Money) -> String? {
        switch amount.value % 100 {
        case 65: "65"
        case 70, 71, 72: "70"
        default: nil
        }
    }

    private static func fault(_ amount: Money) -> AmountRule.Fault? {
        switch amount.value % 100 {
        case 71: .closesMidBody
        case 72: .neverAnswers
        default: nil
        }
    }

    static func proceed(
        _ id: TransactionID, _ request: ContinuationRequest, in sandbox: isolated Sandbox
    ) throws(StoreError) -> SandboxAnswer {
        guard sandbox.features.contains(.singleTap) else { return .error(403, .pspRefused) }
        guard request.authorization.id == id, request.pin.attempt == request.id else {
            return .error(400, .requestInvalidField, field: "authorization.id")
        }
        let store = sandbox.store
        return try store.atomically { () throws(StoreError) in
            guard var payment = try store.payment(id), let entry = payment.entry, let first = payment.answer else {
                return .error(403, .pspRefused)
            }
            let fault = fault(entry.amount)
            if let known = payment.continuations?.first(where: { $0.id == request.id }) {
                return SandboxAnswer(known.answer, to: id, fault: fault)
            }
            let latest = payment.continuations?.last?.answer ?? first
            guard latest.outcome == .declined, latest.singleTap == true, request.authorization.amount == entry.amount
            else { return .error(403, .pspRefused) }
            var answer =
                try store.isFresh(request.pin)
                ? answer(to: request, after: latest, payment, in: sandbox)
                : AuthorizationAnswer(outcome: .declined, responseCode: EnvelopeFault.replayed.responseCode)
            if answer.outcome == .approved {
                answer.cardToken = payment.cardToken
                if request.authorization.agreement != nil, sandbox.features.contains(.charge) {
                    payment.isStored = true
                    answer.networkReference = "NETWORK-\(id.text.prefix(8))"
                }
                var approved = entry
                approved.failedCheck = nil
                answer = try sandbox.book(&payment, approved, answer, .approve(responseCode: "00"))
                // Under the authorisation's own key its first answer stands.
                payment.answer = first
            }
            payment.continuations = (payment.continuations ?? []) + [BookedContinuation(id: request.id, answer: answer)]
            try store.save(payment)
            return SandboxAnswer(answer, to: id, fault: answer.outcome == .approved ? fault : nil)
        }
    }

    private static func answer(
        to request: ContinuationRequest, after latest: AuthorizationAnswer, _ payment: BookedPayment,
        in sandbox: isolated Sandbox
    ) -> AuthorizationAnswer {
        guard !payment.isUnwanted else { return AuthorizationAnswer(outcome: .declined, responseCode: "94") }
        do throws(EnvelopeFault) {
            let record = try OpenedRecord(of: request.authorization, with: sandbox.key, at: sandbox.now())
            try record.check(request.pin)
            return AuthorizationAnswer(outcome: .approved, responseCode: "00")
        } catch {
            let left = (latest.pinAttemptsLeft ?? tries) - 1
            // PIN tries exceeded, where none is left.
            guard error == .wrongPIN, left > 0 else {
                return AuthorizationAnswer(
                    outcome: .declined, responseCode: error == .wrongPIN ? "75" : error.responseCode)
            }
            return asking("55", left: left)
        }
    }

    /// What became of one; `nil` for one that was never seen.
    static func status(
        of attempt: PINAttemptID, on id: TransactionID, in sandbox: isolated Sandbox
    ) throws(StoreError) -> SandboxAnswer? {
        guard let payment = try sandbox.store.payment(id), let entry = payment.entry,
            let known = payment.continuations?.first(where: { $0.id == attempt })
        else { return nil }
        if fault(entry.amount) == .neverAnswers, known.answer.outcome == .approved {
            return SandboxAnswer(200, AuthorizationAnswer(outcome: .pending))
        }
        return SandboxAnswer(known.answer, to: id)
    }
}
