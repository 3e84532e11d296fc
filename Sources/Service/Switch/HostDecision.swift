// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ISO8583
import PSPAPI
import PaymentValues

/// What the acquirer's answer means for the till: without I/O, and the same whichever replica works it out.
struct HostDecision: Equatable, Sendable {
    enum Kind: Equatable, Sendable {
        case approved
        /// For less than was asked for, in minor units.
        case partial(Int64)
        case declined
        /// No answer that can be believed: it is being taken back.
        case unknown
    }

    var kind: Kind
    var code: String
    var approval: String?
    var issuer: AuthorizationAnswer.IssuerData?
    /// Field 15: the day to which the host counts it, MMDD.
    var settlement: String?
    /// Why the answer's field 55 does not reach the card.
    var issuerFault: ChipDataError?

    init(_ kind: Kind, _ code: String) {
        self.kind = kind
        self.code = code
    }

    init(_ outcome: HostOutcome) {
        switch outcome {
        case .approved(let message):
            self.init(.approved, message.text(39) ?? "00")
            read(message)
        case .partial(let message):
            // The link lets no part through that is nothing, or not less than what was asked for.
            guard let value = message.text(4).flatMap({ Int64($0) }) else {
                self.init(.unknown, "91")
                return
            }
            self.init(.partial(value), message.text(39) ?? "10")
            read(message)
        case .declined(let verdict): self.init(.declined, verdict.code)
        case .unknown: self.init(.unknown, "91")
        case .notSent(let refusal):
            switch refusal {
            case .notSignedOn, .tooMany, .idInUse: self.init(.declined, "91")
            case .wrongType, .pinData, .unpackable, .notReversible: self.init(.declined, "30")
            }
        }
    }

    private mutating func read(_ message: ISOMessage) {
        let text = message.text(38)?.filter { $0 != " " }
        approval = text.flatMap { $0.isEmpty ? nil : $0 }
        settlement = message.text(15).flatMap(Self.monthAndDay)
        guard let field = message[55] else { return }
        let answer: IssuerAnswer
        do throws(ChipDataError) { answer = try IssuerAnswer(field) } catch {
            issuerFault = error
            return
        }
        issuer = AuthorizationAnswer.IssuerData(
            authenticationData: answer.authenticationData.map(Hex.string),
            scripts: answer.scripts.isEmpty ? nil : answer.scripts.map(Hex.string))
    }

    /// `nil` for what is no month and day.
    static func monthAndDay(_ text: String) -> String? {
        text.utf8.count == 4 && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? text : nil
    }

    /// What the till's operator can do (data element 39 of ISO 8583:1987).
    static func action(_ code: String) -> AuthorizationAnswer.Action {
        switch code {
        case "01", "02": .callIssuer
        case "65", "1A": .useContact
        case "70": .pinRequired
        case "68", "91", "92", "96": .tryAgain
        default: .none
        }
    }

    /// - Parameter reference: the payment service's own name for the payment.
    func answer(
        to asked: Money, _ kind: AuthorizationRequest.Kind, reference: String?, token: String?, holdUntil: Timestamp
    ) -> AuthorizationAnswer {
        var answer: AuthorizationAnswer
        switch self.kind {
        case .approved, .partial:
            answer = AuthorizationAnswer(outcome: .approved, responseCode: code)
            answer.approvalCode = approval
            answer.issuerData = issuer
            var value = asked.value
            if case .partial(let part) = self.kind {
                answer.outcome = .partial
                answer.amountApproved = Money(value: part, currency: asked.currency)
                value = part
            }
            if kind == .preauth {
                answer.captureBefore = holdUntil
                answer.account = PaymentFigures.approved(kind, value).0.account(asked.currency)
            }
        case .declined, .unknown:
            answer = AuthorizationAnswer(outcome: .declined, responseCode: code)
            answer.action = Self.action(code)
        }
        answer.pspReference = reference
        answer.cardToken = token
        return answer
    }

    func operationAnswer(
        _ id: OperationID, _ asked: Money, reference: String?, _ account: ServiceAccount
    ) -> AdapterOperationAnswer {
        var answer = AdapterOperationAnswer(id: id, outcome: .declined, responseCode: code)
        switch kind {
        case .approved:
            answer.outcome = .approved
            answer.amountDone = asked
        // Half of an operation is not what was asked for; whoever made the message takes it back.
        case .partial, .declined, .unknown: answer.reason = .issuer
        }
        answer.pspReference = reference
        answer.account = account
        return answer
    }
}

extension HostVerdict {
    var code: String {
        switch self {
        case .approved: "00"
        case .partial: "10"
        case .declined(let code), .later(let code), .doubtful(let code): code
        }
    }
}
