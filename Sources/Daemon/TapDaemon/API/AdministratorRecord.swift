// SPDX-License-Identifier: Apache-2.0
import Journal
import POSAPI
import PaymentValues

/// What an administrator does to others' payments, and to the queue as a whole, is in the audit chain: who, what, and
/// what came of it, refusals included.
extension PointOfSaleAPI {
    /// Carries out what somebody asks for about a transaction; written down where it is not their own.
    func carryOut<Answer>(
        _ action: String, on transaction: Transaction, _ caller: Caller, outcome: (Answer) -> String,
        _ body: () async throws(ErrorBody) -> Answer
    ) async throws(ErrorBody) -> Answer {
        let id = transaction.id
        guard try await !isOwner(caller.principal, of: id) else { return try await body() }
        return try await administer(action, id.text, caller, outcome: outcome, body)
    }

    /// Carries out what only an administrator may ask for.
    ///
    /// - Parameters:
    ///   - action: one word.
    ///   - subject: a transaction or a batch; empty where it is the queue.
    ///   - outcome: of what came of it: names, states and numbers only.
    func administer<Answer>(
        _ action: String, _ subject: String, _ caller: Caller, outcome: (Answer) -> String,
        _ body: () async throws(ErrorBody) -> Answer
    ) async throws(ErrorBody) -> Answer {
        do throws(ErrorBody) {
            let answer = try await body()
            await note(action, subject, caller, outcome(answer))
            return answer
        } catch {
            await note(action, subject, caller, "refused with \(error.error.code)")
            throw error
        }
    }

    private func note(_ action: String, _ subject: String, _ caller: Caller, _ outcome: String) async {
        let detail = "\(action) by \(caller.principal) as \(Role.admin.rawValue): \(outcome)"
        await trail.note(AuditEntry(.administration, subject: subject, detail: detail))
    }
}
