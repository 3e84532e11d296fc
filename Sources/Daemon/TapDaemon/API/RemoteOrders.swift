// SPDX-License-Identifier: Apache-2.0
import Journal
import LocalHTTP
import POSAPI
import PaymentValues
import Transactions

/// What a backend far away begins by its program on this machine, and what the shop does about it.
extension PointOfSaleAPI {
    /// Ends what a backend has begun on a lane of the caller's, as long as no card was read.
    ///
    /// - Returns: `nil` where this is no such transaction, or the caller has more power over it than that.
    func freed(_ id: TransactionID, _ caller: Caller) async throws(ErrorBody) -> CancelAnswer? {
        guard caller.knowsRemotes, !caller.roles.contains(.admin) else { return nil }
        let lanes = await runner.books.lanes.table.lanes.filter { $0.holder?.transaction == id }.map(\.name)
        do throws(JournalError) {
            guard !lanes.isEmpty, let owner = try await runner.owner(of: id), owner != caller.principal,
                caller.mayFree(lanes, of: owner), var answer = try await ClientRequests(runner).free(id)
            else { return nil }
            await trail.note(
                AuditEntry(
                    .administration, subject: id.text,
                    detail: "cancel by \(caller.principal) as \(Role.cashier.rawValue): \(answer.summary)"))
            // What was read of somebody's card meanwhile is the backend's to know.
            (answer.transaction.card, answer.transaction.chip, answer.transaction.result) = (nil, nil, nil)
            return answer
        } catch {
            throw ErrorBody(ErrorCode(error), transaction: id)
        }
    }
}

extension PointOfSaleAPI {
    /// Whoever shows customers their amounts says so: a gateway of its displays, or a program of the shop.
    func takeDisplays(_ request: HTTPRequest, _ caller: Caller) throws(ErrorBody) -> HTTPResponse {
        if caller.kind != .gateway { try caller.roles.require(.cashier) }
        let report = try request.message(DisplayReport.self)
        runner.displays.note(Set(report.lanes), by: caller.principal, at: .now)
        return HTTPResponse(status: 204)
    }

    /// Counts what backends began, and what they were refused.
    func count(_ response: HTTPResponse, of request: HTTPRequest) {
        if response.status == 201 { return runner.measures.startedRemotely() }
        guard response.status >= 400, case .bytes(let bytes) = response.body,
            let body = try? WireJSON.decode(ErrorBody.self, from: bytes)
        else { return }
        runner.measures.refusedRemotely(ErrorCode(rawValue: body.error.code))
    }
}

extension HTTPRequest {
    /// Who has signed the order that a backend's program passes on, and with which key, as that program says it. Other callers have
    /// no orders.
    func orderOrigin(_ caller: Caller) throws(ErrorBody) -> OrderOrigin? {
        guard caller.kind == .remote else { return nil }
        return OrderOrigin(
            signer: try named("NFC-Tap-Order-Issuer", upTo: 256), key: try named("NFC-Tap-Order-Key", upTo: 128))
    }

    private func named(_ field: String, upTo length: Int) throws(ErrorBody) -> String? {
        guard fields.contains(field) else { return nil }
        guard let text = fields.only(field), (1...length).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw ErrorBody(.requestInvalidParameter, field: field) }
        return text
    }
}
