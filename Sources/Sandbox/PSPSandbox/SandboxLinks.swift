// SPDX-License-Identifier: Apache-2.0
import Envelope
import PSPAPI
import PaymentValues

/// A link in the sandbox's books, or a hand-over to a terminal.
struct BookedLink: Codable, Sendable {
    /// `nil` for one that was closed before it came.
    var request: LinkRequest?
    var state: LinkAnswer.State
    /// How often it was looked at.
    var looks = 0
    /// The card whose read it goes on with: nobody taps it again.
    var card: MaskedCard?
}

/// Links: nobody is there who could pay one, so that the amount decides. What a card would be approved for is paid by the time of
/// the second look; anything else stays open until it is closed or its time is over. A hand-over is the same at a terminal, where a card
/// may be declined, too. One that goes on with the read of a card that wanted a PIN is paid with that card.
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
                var known: MaskedCard?
                do throws(EnvelopeFault) { known = try card(of: request, in: sandbox) } catch {
                    return .error(400, .requestInvalidField, field: "read.envelope")
                }
                payment.link = BookedLink(request: request, state: payment.isUnwanted ? .cancelled : .open)
                if known == nil { known = try declinedCard(of: request, in: sandbox) }
                payment.link?.card = known
                // The books have no need of it.
                payment.link?.request?.read = nil
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
                } else if link.looks >= 2, !closing, let end = end(of: request, by: rule, card: link.card),
                    var entry = LedgerEntry(request, card: link.card)
                {
                    link.state = end
                    entry.answered = true
                    payment.link = link
                    let answer = AmountRule.answer(
                        end == .paid ? .approve(responseCode: "00") : rule, to: request.amount)
                    _ = try sandbox.book(&payment, entry, answer, rule)
                } else if closing {
                    link.state = .cancelled
                }
                payment.link = link
                try store.save(payment)
            }
            return SandboxAnswer(200, payment.linkAnswer(link.state))
        }
    }

    /// What the card gave that wanted a PIN, where the daemon has kept it.
    private static func card(
        of request: LinkRequest, in sandbox: isolated Sandbox
    ) throws(EnvelopeFault) -> MaskedCard? {
        guard let read = request.read, sandbox.features.contains(.pinFallback) else { return nil }
        _ = try OpenedRecord(of: read, for: request, with: sandbox.key, at: sandbox.now())
        return read.card
    }

    /// The card of a sale that was declined here, as long as its read is kept.
    private static func declinedCard(
        of request: LinkRequest, in sandbox: isolated Sandbox
    ) throws(StoreError) -> MaskedCard? {
        guard let sale = try request.retryOf.flatMap({ (id) throws(StoreError) in try sandbox.store.payment(id) }),
            let end = sale.answer?.readKeptUntil, sandbox.now() < end, sale.terminal == request.terminal
        else { return nil }
        return sale.entry?.card.withoutToken
    }

    /// - Returns: `nil` where nobody comes.
    private static func end(of request: LinkRequest, by rule: AmountRule, card: MaskedCard?) -> LinkAnswer.State? {
        switch rule {
        case .approve: .paid
        // The customer has given the PIN there.
        case .decline(_, .pinRequired) where card != nil, .decline(_, .useContact) where card != nil: .paid
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
    /// What was paid, or declined: with the card that is known, else with a public test number of Visa's.
    init?(_ request: LinkRequest, card: MaskedCard?) {
        guard let card = card ?? MaskedCard(scheme: "Visa", last4: "1111", masked: "************1111") else {
            return nil
        }
        self.init(id: request.id, amount: request.amount, card: card)
    }
}
