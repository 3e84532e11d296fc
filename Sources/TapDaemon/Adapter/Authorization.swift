import Configuration
import StoreAndForward
import Wire

/// How one authorisation ended, after every repetition.
enum Verdict: Equatable, Sendable {
    case answered(AuthorizationAnswer)
    /// The adapter refused the request; nothing was carried out.
    case refused
    /// Time is over, and whether it was carried out is not known: it must be reversed.
    case unresolved
}

extension AdapterLink {
    /// Resolves an authorisation whose first reply was `reply`: query, and send again under the same key what the adapter
    /// has never seen, until there is an answer or `deadline` has passed.
    func resolve(
        _ request: AuthorizationRequest, after reply: Reply, until deadline: ContinuousClock.Instant, readAt: Timestamp,
        isInDoubt: () async -> Void
    ) async -> Verdict {
        var reply = reply
        var pause = times.pause
        var isAnnounced = false
        while true {
            switch reply {
            case .answered(let answer): return .answered(answer)
            case .refused: return .refused
            case .running, .neverSeen, .unusable: break
            }
            if !isAnnounced, reply == .unusable {
                await isInDoubt()
                isAnnounced = true
            }
            let left = ContinuousClock.now.duration(to: deadline)
            guard left > .zero else { return .unresolved }
            if reply == .neverSeen {
                guard StoredSale.mayBeSent(readAt: readAt, now: .now, life: times.readLife) else { return .unresolved }
                reply = await authorizeAgain(request, within: left)
                if reply != .unusable { continue }
            }
            try? await Task.sleep(for: min(pause, left))
            guard !Task.isCancelled else { return .unresolved }
            pause = min(pause * 2, .seconds(2))
            let rest = ContinuousClock.now.duration(to: deadline)
            guard rest > .zero else { return .unresolved }
            reply = await query(request.id, within: rest)
        }
    }
}

extension PaymentResult {
    /// What the shop gets to see of the adapter's answer.
    init(_ answer: AuthorizationAnswer, mode: Mode) {
        let outcome: Outcome =
            switch answer.outcome {
            case .approved: .approved
            case .partial: .partiallyApproved
            case .declined, .pending: .declined
            }
        self.init(mode: mode, outcome: outcome)
        responseCode = answer.responseCode
        approvalCode = answer.approvalCode
        amountApproved = answer.amountApproved
        pspReference = answer.pspReference
        receiptLines = answer.receiptLines
        receiptURL = answer.receiptURL.flatMap { $0.isReceiptAddress ? $0 : nil }
        guard outcome == .declined else { return }
        reason = answer.responseCode.flatMap(DeclineReason.init(responseCode:))
        next = [.otherCard, .otherMethod, .paymentLink]
        switch answer.action {
        // There is neither a contact slot nor a PIN pad here: never a silent second try.
        case .pinRequired, .useContact:
            action = .useOtherTerminal
            reason = reason ?? .otherInterfaceNeeded
            next = [.otherInterface, .otherCard, .otherMethod]
        case .callIssuer: action = .callIssuer
        case .tryAgain: next = [.retrySameCard, .otherCard, .otherMethod]
        case nil, .some(.none): break
        }
    }

    /// Not charged for the shop, and being taken back in case it was booked.
    static func takenBack(_ reason: DeclineReason, mode: Mode) -> PaymentResult {
        var result = PaymentResult(mode: mode, outcome: .declined, reason: reason)
        result.reversal = .pending
        result.next = [.otherMethod]
        return result
    }
}

extension String {
    /// An address that a customer's phone may be sent to: `https`, visible ASCII, short enough for a QR code that a phone
    /// reads from a till's display.
    fileprivate var isReceiptAddress: Bool {
        hasPrefix("https://") && utf8.count <= 512 && utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
