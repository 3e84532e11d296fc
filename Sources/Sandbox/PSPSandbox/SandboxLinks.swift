// SPDX-License-Identifier: Apache-2.0
import PSPAPI
import PaymentValues

/// A link in the sandbox's books, or a hand-over to a terminal.
struct BookedLink: Codable, Sendable {
    /// `nil` for one that was closed before it came.
    var request: LinkRequest?
    var state: LinkAnswer.State
    /// How often it was looked at.
    var looks = 0
}

/// Links: nobody is there who could pay one, so that the amount decides. What a card would be approved for is paid by the time of
/// the second look; anything else stays open until it is closed or its time is over. A hand-over is the same at a terminal, where a card
/// may be declined, too.
enum SandboxLinks {
    /// There are none; these are the names that it answers to.
    static let terminals = ["sandbox-terminal"]

    static func open(
        _ request: LinkRequest, isOwnKey: Bool, in sandbox: isolated Sandbox
    ) throws(StoreError) -> SandboxAnswer {
        guard isOwnKey else { return .error(400, .idempotencyKeyInvalid, field: "id") }
        if let name = request.to {
            guard sandbox.features.contains(.handover), terminals.contains(name) else {
                return .error(403, .handoverNotAvailable)
            }
        } else if !sandbox.features.contains(.link) {
            return .error(403, .linkNotSupported)
        }
        guard (1...Limits.amount).contains(request.amount.value) else {
            return .error(400, .requestInvalidField, field: "amount.value")
        }
        let store = sandbox.store
        return try store.atomically { () throws(StoreError) in
            var payment = try store.payment(request.id) ?? BookedPayment(id: request.id)
            if payment.link == nil {
                payment.link = BookedLink(request: request, state: payment.isUnwanted ? .cancelled : .open)
                payment.terminal = request.terminal
                try store.save(payment)
            }
            return SandboxAnswer(200, payment.linkAnswer(.open))
        }
    }

    /// What became of one.
    ///
    /// - Parameter closing: it is closed, if it is not paid; also one that has never come, which then cannot be opened any more.
    static func link(
        _ id: TransactionID, closing: Bool, in sandbox: isolated Sandbox
    ) throws(StoreError) -> SandboxAnswer {
        let store = sandbox.store
        return try store.atomically { () throws(StoreError) in
            var payment = try store.payment(id) ?? BookedPayment(id: id)
            guard var link = payment.link else {
                guard closing else { return .error(404, .transactionUnknown) }
                payment.link = BookedLink(state: .cancelled)
                try store.save(payment)
                return SandboxAnswer(200, payment.linkAnswer(.cancelled))
            }
            if link.state == .open, let request = link.request {
                let rule = AmountRule(minorUnits: request.amount.value)
                link.looks += 1
                if sandbox.now() >= request.expiresAt {
                    link.state = .expired
                } else if link.looks >= 2, !closing, let end = end(of: request, by: rule),
                    var entry = LedgerEntry(request)
                {
                    link.state = end
                    entry.answered = true
                    payment.link = link
                    _ = try sandbox.book(&payment, entry, AmountRule.answer(rule, to: request.amount), rule)
                } else if closing {
                    link.state = .cancelled
                }
                payment.link = link
                try store.save(payment)
            }
            return SandboxAnswer(200, payment.linkAnswer(link.state))
        }
    }

    /// - Returns: `nil` where nobody comes.
    private static func end(of request: LinkRequest, by rule: AmountRule) -> LinkAnswer.State? {
        switch rule {
        case .approve: .paid
        // By a link another card is tried.
        case .decline: request.to == nil ? nil : .declined
        case .approveHalf, .fault: nil
        }
    }
}

extension BookedPayment {
    fileprivate func linkAnswer(_ state: LinkAnswer.State) -> LinkAnswer {
        var said = LinkAnswer(id: id, state: link?.state ?? state)
        switch said.state {
        // A name that is reserved for examples (RFC 2606): the link leads nowhere.
        case .open: if link?.request?.to == nil { said.url = "https://pay.example/\(id)" }
        case .paid, .declined: (said.payment, said.card) = (answer, entry?.card)
        case .expired, .cancelled: break
        }
        return said
    }
}

extension LedgerEntry {
    /// What was paid, or declined, with a public test number of Visa's.
    init?(_ request: LinkRequest) {
        guard let card = MaskedCard(scheme: "Visa", last4: "1111", masked: "************1111") else { return nil }
        self.init(id: request.id, amount: request.amount, card: card)
    }
}
