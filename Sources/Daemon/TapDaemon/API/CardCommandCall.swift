// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Configuration
import Journal
import LocalHTTP
import POSAPI
import PaymentValues

/// `POST /v1/lanes/{lane}/card-commands`: an administrator's alone, in test mode, where the configuration allows it.
extension PointOfSaleAPI {
    func sendCardCommands(
        _ lane: String, _ request: HTTPRequest, _ caller: Caller
    ) async throws(ErrorBody) -> HTTPResponse {
        let snapshot = settings.snapshot
        // No live configuration can say so. A live card's number does not depend on one check.
        guard snapshot.diagnostics.cardCommands, snapshot.mode == .test else {
            throw ErrorBody(.cardCommandsNotAllowed)
        }
        let demand = try request.message(CardCommandsRequest.self)
        let conversation = CardConversation(
            try demand.parsed(), deadline: demand.deadline ?? Limits.defaultCardCommandDeadlineSeconds)
        try await begin(conversation, on: lane, caller)
        let hasGone = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await conversation.ended.wait(atMost: conversation.longest)
                return false
            }
            group.addTask {
                await request.connection.closed()
                return true
            }
            defer { group.cancelAll() }
            return await group.next() ?? true
        }
        guard conversation.ended.hasFired else {
            // The lane is free once its thread has come back.
            conversation.cancel()
            guard !hasGone else { throw ErrorBody(.interrupted) }
            await runner.change { $0.lanes.notReady(lane, .readerFaulty) }
            throw ErrorBody(.readerFaulty)
        }
        return try answer(conversation.outcome, lane)
    }

    /// Takes the lane and writes down what is about to be sent, before it is. Refused, it leaves the lane as it was.
    private func begin(
        _ conversation: CardConversation, on name: String, _ caller: Caller
    ) async throws(ErrorBody) {
        let lane = try await runner.change { $0.lend(name, to: conversation) }.get()
        let entry = { @Sendable (told: String) in
            let detail = "card-commands by \(caller.principal) as \(Role.admin.rawValue): \(told)"
            return AuditEntry(.administration, subject: name, detail: detail)
        }
        do throws(JournalError) {
            try await trail.journal.audit(entry("\(conversation.commands.count) to be sent: \(conversation.headers)"))
        } catch {
            await runner.change { $0.withdraw(name, after: nil) }
            throw ErrorBody(ErrorCode(error))
        }
        let isTaken = work.add { [runner, trail] in
            await lane.converse(conversation)
            let outcome = conversation.outcome
            await runner.change { $0.withdraw(name, after: outcome.code) }
            let end = outcome.code.map { ", then \($0.rawValue)" } ?? ""
            await trail.note(entry("\(outcome.answers.count) answered\(end)"))
            conversation.ended.fire()
        }
        guard isTaken else {
            await runner.change { $0.withdraw(name, after: nil) }
            throw ErrorBody(.daemonUnavailable)
        }
    }

    private func answer(_ outcome: CardConversation.Outcome, _ lane: String) throws(ErrorBody) -> HTTPResponse {
        if let code = outcome.code, !outcome.hadCard { throw ErrorBody(code) }
        var secrets = SecretTexts()
        let answers = outcome.answers.map { secrets.mark($0, as: .hexadecimal) }
        let answer = CardCommandsAnswer(lane: lane, answers: answers, error: outcome.code.map { ErrorDetail($0) })
        return .message(200, answer, secrets, fields: HTTPFields())
    }
}

extension CardCommandsRequest {
    fileprivate func parsed() throws(ErrorBody) -> [CommandAPDU] {
        var parsed: [CommandAPDU] = []
        for (index, text) in commands.enumerated() {
            guard let bytes = try? Hex.bytes(text), let command = try? CommandAPDU(bytes) else {
                throw ErrorBody(.requestInvalidField, field: "commands[\(index)]")
            }
            parsed.append(command)
        }
        return parsed
    }
}
