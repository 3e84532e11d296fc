// SPDX-License-Identifier: Apache-2.0
import PSPAPI
import PaymentValues

/// The rules of stored cards.
extension CheckBench {
    /// A card that the adapter has stored.
    private func stored() async throws(Complaint) -> (token: String, agreement: Agreement, reference: String?) {
        let terms = AgreementTerms(.unscheduled, text: "adapter-check", language: "en")
        // SHA-256 of the text above.
        let agreement = Agreement(AgreementID(), terms, hash: Self.hashOfText, agreedAt: .now)
        var request = try sale(.verify, times: 0)
        request.agreement = AgreementProof(agreement)
        let answer = try await settled(request)
        guard answer.outcome == .approved, let token = answer.cardToken else {
            throw Complaint(
                "a card check with an agreement was answered with \(answer.outcome.rawValue), without cardToken")
        }
        return (token, agreement, answer.networkReference)
    }

    private static let hashOfText = "62312cf35ac572b52304cae63a691ec2411b2638574cc821ef01a773e8e5b81a"

    private func charge(
        _ card: (token: String, agreement: Agreement, reference: String?), id: TransactionID = TransactionID()
    ) -> ChargeRequest {
        let wish = ChargeOptions(StoredCardID(), under: card.agreement.id, .merchant, .unscheduled)
        return ChargeRequest(
            id: id, mode: .test, amount: amount, terminal: TestSale.terminal.id, token: card.token,
            under: card.agreement, wish,
            networkReference: card.reference, order: "adapter-check")
    }

    private func send(_ request: ChargeRequest) async throws(Complaint) -> Reply<AuthorizationAnswer> {
        try await post("/v1/charges", Self.encode(request), key: request.id.text, as: AuthorizationAnswer.self)
    }

    private func approvedCharge(
        _ card: (token: String, agreement: Agreement, reference: String?)
    ) async throws(Complaint) -> (request: ChargeRequest, answer: AuthorizationAnswer) {
        let request = charge(card)
        let reply = try await send(request)
        guard reply.status == 200, let answer = reply.message, answer.outcome == .approved else {
            let outcome = reply.message.map { " \($0.outcome.rawValue)" } ?? ""
            throw Complaint("a charge of \(amount) was answered with \(reply.status)\(outcome)")
        }
        guard answer.amountApproved.map({ $0 == request.amount }) ?? true else {
            throw Complaint("\(request.amount) was demanded; amountApproved is another amount")
        }
        return (request, answer)
    }

    func checkCharge() async throws(Complaint) { _ = try await approvedCharge(try await stored()) }

    func checkChargeRepeat() async throws(Complaint) {
        let (request, answer) = try await approvedCharge(try await stored())
        try await demandSame(answer, try await send(request), "the charge sent again")
        try await demandSame(answer, try await status(of: request.id), "GET /v1/authorizations/ID about the charge")
    }

    func checkChargeOtherBody() async throws(Complaint) {
        var (request, _) = try await approvedCharge(try await stored())
        request.order = "another order"
        let status = try await send(request).status
        guard status == 422 else { throw Complaint("another charge under the same key was answered with \(status)") }
    }

    func checkUnknownToken() async throws(Complaint) {
        var card = try await stored()
        card.token = "nobody-\(TransactionID())"
        let reply = try await send(charge(card))
        guard reply.status < 500, reply.message.map({ $0.outcome == .declined }) ?? (reply.status >= 400) else {
            throw Complaint("a charge of a token that was never given was answered with \(reply.status)")
        }
    }

    /// - Returns: whether it says so in a way that a daemon takes for it.
    private func forget(_ request: TokenDeletionRequest) async throws(Complaint) -> Reply<TokenDeletionAnswer> {
        try await post(
            "/v1/token-deletions", Self.encode(request), key: request.id.rawValue, as: TokenDeletionAnswer.self)
    }

    private func forgotten(_ token: String) async throws(Complaint) -> TokenDeletionRequest {
        let request = TokenDeletionRequest(id: StoredCardID(), mode: .test, token: token)
        let reply = try await forget(request)
        guard [200, 202].contains(reply.status), reply.message?.id == request.id else {
            throw Complaint(
                "a deletion was answered with \(reply.status)\(Self.unread(reply)), without its id; a daemon sends it for ever"
            )
        }
        return request
    }

    func checkDeletion() async throws(Complaint) { _ = try await forgotten(try await stored().token) }

    func checkDeletionRepeat() async throws(Complaint) {
        let request = try await forgotten(try await stored().token)
        let reply = try await forget(request)
        guard reply.status == 404 || reply.message?.id == request.id else {
            throw Complaint("the deletion sent again was answered with \(reply.status)")
        }
    }

    func checkDeletionEnds() async throws(Complaint) {
        let card = try await stored()
        _ = try await forgotten(card.token)
        let reply = try await send(charge(card))
        guard reply.status < 500, reply.message.map({ $0.outcome == .declined }) ?? (reply.status >= 400) else {
            throw Complaint("a charge after the deletion was answered with \(reply.status), and not declined")
        }
    }
}
