// SPDX-License-Identifier: Apache-2.0
import Journal
import LocalHTTP
import POSAPI
import PaymentValues
import Transactions

extension PointOfSaleAPI {
    /// Cancels what the caller's own key has begun, or sees to it that it begins nothing. The journal decides in one step which
    /// of the two it is: a start with the key that is on its way comes before that step, or not at all.
    func cancel(key: String, _ caller: Caller) async throws(ErrorBody) -> HTTPResponse {
        let own = try caller.own(key: key)
        do throws(JournalError) {
            let known = try await runner.journal.use { (journal) throws(JournalError) in
                try journal.request(owner: own.owner, idempotencyKey: own.key)
            }
            // Each key that never came leaves a row for months.
            if known == nil, await !runner.change({ $0.pace.take(own.owner, at: .now) }) {
                return .refusal(ErrorBody(.requestTooOften))
            }
            let outcome = try await own.bar(as: .cancelled, in: runner.journal)
            guard case .recorded(let id) = outcome else { return answer(outcome) }
            guard let answer = try await ClientRequests(runner).cancel(id, by: .client) else {
                throw JournalError.unknownTransaction
            }
            return .message(200, KeyCancelAnswer(answer))
        } catch {
            throw ErrorBody(ErrorCode(error))
        }
    }

    private func answer(_ outcome: BarOutcome) -> HTTPResponse {
        outcome == .erased ? .refusal(ErrorBody(.transactionErased)) : .message(200, KeyCancelAnswer.nothingBegan)
    }
}

extension PrincipalKey {
    /// Makes it one that can begin nothing, unless it has begun something.
    ///
    /// - Throws: what keeps the journal from being written.
    func bar(as reason: KeyBar, in journal: JournalThread) async throws(JournalError) -> BarOutcome {
        try await journal.write { (journal) throws(JournalError) in
            try journal.bar(owner: owner, idempotencyKey: key, as: reason, at: .now)
        }
    }
}

extension Caller {
    /// A key of its own, as a parameter names it.
    func own(key: String) throws(ErrorBody) -> PrincipalKey {
        guard Limits.idempotencyKeyLength.contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw ErrorBody(.requestInvalidParameter, field: "key") }
        return PrincipalKey(principal, key: key)
    }
}
