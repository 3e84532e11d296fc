// SPDX-License-Identifier: Apache-2.0
/// What an adapter owes, in the order in which it is tried. A rule that builds on another one is not tried where that one fails.
public enum CheckRule: String, CaseIterable, Codable, Sendable {
    case health
    case keys = "keys.usable"
    case saleApproved = "sale.approved"
    case saleAmount = "sale.amount"
    case unknownMembers = "request.unknown-members"
    case keyRepeat = "key.repeat"
    case keyOtherBody = "key.other-body"
    case keyRace = "key.race"
    case query = "query.same-answer"
    case queryUnknown = "query.never-seen"
    case idleConnections = "connections.idle"
    case reversal = "reversal.acknowledged"
    case reversalRepeat = "reversal.repeat"
    case reversalBefore = "reversal.before-sale"
    case replicas = "replicas.one-memory"
    case replicaRace = "replicas.race"
    case restart = "restart.memory"
    case operationUnknown = "operation.never-seen"
    case capture = "operation.capture"
    case operationID = "operation.id"
    case operationAmount = "operation.amount"
    case operationRepeat = "operation.repeat"
    case operationOtherBody = "operation.other-body"
    case operationQuery = "operation.query"
    case captureBounded = "capture.bounded"
    case captureOnce = "capture.final"
    case captureSeveral = "capture.several"
    case adjust = "adjust.total"
    case release = "release.bounded"
    case refund = "refund.approved"
    case refundBounded = "refund.bounded"
    case refundOtherCard = "refund.other-card"
    case refundReversal = "refund.reversal"
    case figures = "reconciliation.figures"
    case figuresRepeat = "reconciliation.repeat"
    case figuresQuery = "reconciliation.query"
    case figuresItems = "reconciliation.items"
    case charge = "charge.approved"
    case chargeRepeat = "charge.repeat"
    case chargeOtherBody = "charge.other-body"
    case unknownToken = "charge.unknown-token"
    case deletion = "deletion.acknowledged"
    case deletionRepeat = "deletion.repeat"
    case deletionEnds = "deletion.ends-charges"
    case pinVerified = "pin.verified"
    case pinContinuation = "pin.continuation"
    case link = "link.opened"
    case linkRepeat = "link.repeat"
    case linkOtherBody = "link.other-body"
    case linkClosed = "link.closed"
    case linkNeverOpened = "link.never-opened"
    case handover = "handover.opened"
    case handoverClosed = "handover.closed"
    case handoverNeverOpened = "handover.never-opened"
    case handoverTerminal = "handover.other-terminal"
    case receipt = "receipt.taken"
    case receiptRepeat = "receipt.repeat"
    case receiptOtherTransaction = "receipt.other-transaction"
    case receiptEnvelope = "receipt.envelope"

    /// The rule, as a sentence.
    public var text: String {
        switch self {
        case .health: "GET /v1/health answers 200 with status, protocolVersions (v1) and supports"
        case .keys: "GET /v1/keys, where it is answered, has public keys that tills seal to, and no others"
        case .saleApproved: "A sale over the amount of the check is approved"
        case .saleAmount: "An approval is over the amount and the currency that were demanded"
        case .unknownMembers: "Unknown members of a request are ignored"
        case .keyRepeat: "The same key and body get the same answer"
        case .keyOtherBody: "The same key with another body gets 422"
        case .keyRace: "The same request on two connections at once is carried out once"
        case .query: "GET /v1/authorizations/ID tells what the POST was answered"
        case .queryUnknown: "GET /v1/authorizations/ID answers 404 about a sale that never came"
        case .idleConnections: "Connections without a request do not delay a sale"
        case .reversal: "A reversal is answered with 200 or 202 and a status"
        case .reversalRepeat: "A reversal that is sent again is answered with 200 or 202 and a status"
        case .reversalBefore: "A reversal before its sale is acknowledged, and the sale is declined if it still comes"
        case .replicas: "What one replica knows the others know: answers, keys and reversals"
        case .replicaRace: "The same request at two replicas at once is carried out once"
        case .restart: "Keys, answers and reversals outlive a restart"
        case .operationUnknown: "GET /v1/operations/ID answers 404 about an operation that never came"
        case .capture: "A capture of a part of what is held is carried out"
        case .operationID: "The answer to an operation has the operation's id"
        case .operationAmount: "An operation is carried out over the whole amount that was asked for"
        case .operationRepeat: "An operation with the same key and body gets the same answer, and is carried out once"
        case .operationOtherBody: "An operation with the same key and another body gets 422"
        case .operationQuery: "GET /v1/operations/ID tells what the POST was answered"
        case .captureBounded: "A capture above what is held is not carried out"
        case .captureOnce: "A final capture leaves nothing for another one"
        case .captureSeveral: "Captures that are not final leave the rest, and no more"
        case .adjust: "An adjustment names the sum to be held, not the difference"
        case .release: "A release gives up what it names, and never more than is held"
        case .refund: "A linked refund of a part is carried out"
        case .refundBounded: "Linked refunds never give back more than was captured"
        case .refundOtherCard:
            "A linked refund with another card than the payment's is declined before anything is booked"
        case .refundReversal: "A linked refund can be taken back at its own id"
        case .figures: "A day that is told of is answered with figures of what was booked, or with later"
        case .figuresRepeat: "A day with the same key and body is told once; with another body it gets 422"
        case .figuresQuery:
            "GET /v1/reconciliations/ID tells what the POST was answered, and 404 of a day that never came"
        case .figuresItems: "The items of a line add up to its figures and name each sale of the day"
        case .charge: "A card that is checked with an agreement is stored, and a charge of it is approved"
        case .chargeRepeat:
            "A charge with the same key and body gets the same answer, and so does the question about it"
        case .chargeOtherBody: "A charge with the same key and another body gets 422"
        case .unknownToken: "A charge of a token that was never given is declined"
        case .deletion: "A deletion is answered with 200 or 202 and its id"
        case .deletionRepeat: "A deletion that is sent again is answered with 200, 202 or 404"
        case .deletionEnds: "After a deletion no charge of the token is approved"
        case .pinVerified: "A sale that promises a PIN is not approved without one that opens"
        case .pinContinuation: "Nothing continues with a PIN but a sale that was declined for want of one"
        case .link: "A link is opened with an address, and GET /v1/links/ID tells the same"
        case .linkRepeat: "A link with the same key and body gets the same address"
        case .linkOtherBody: "A link with the same key and another body gets 422"
        case .linkClosed: "A link that is closed stays so, and each DELETE of it says how it ended"
        case .linkNeverOpened: "A link that is closed before it comes is never opened"
        case .handover:
            "A hand-over goes to a terminal that GET /v1/health names, and GET /v1/handovers/ID tells the same"
        case .handoverClosed: "A hand-over that is closed stays so, and each DELETE of it says how it ended"
        case .handoverNeverOpened: "A hand-over that is closed before it comes never reaches the terminal"
        case .handoverTerminal: "A hand-over to a terminal that there is not is refused"
        case .receipt: "A receipt of an approved sale is answered with 200 or 202 and its id"
        case .receiptRepeat: "A receipt with the same key and body gets the same answer, and is sent once"
        case .receiptOtherTransaction: "A receipt with the same key for another transaction gets 422"
        case .receiptEnvelope: "A receipt whose envelope cannot be opened is refused"
        }
    }

    /// Where the rule is written down.
    public var clause: String {
        switch self {
        case .health: "docs/openapi-psp.yaml, GET /v1/health"
        case .keys: "docs/openapi-psp.yaml, GET /v1/keys"
        case .saleApproved, .saleAmount: "docs/openapi-psp.yaml, POST /v1/authorizations"
        case .unknownMembers: "docs/integrating/adapters.md#versions"
        case .keyRepeat, .keyOtherBody, .keyRace, .replicas, .replicaRace, .restart:
            "docs/integrating/adapters.md#exactly-once"
        case .query, .queryUnknown: "docs/openapi-psp.yaml, GET /v1/authorizations/{id}"
        case .idleConnections: "docs/integrating/adapters.md#connections"
        case .reversal, .reversalRepeat, .reversalBefore: "docs/integrating/adapters.md#reversals"
        case .operationUnknown, .operationQuery: "docs/openapi-psp.yaml, GET /v1/operations/{id}"
        case .operationID, .operationAmount, .operationRepeat, .operationOtherBody:
            "docs/integrating/adapters.md#operations"
        case .capture, .captureBounded, .captureOnce, .captureSeveral:
            "docs/openapi-psp.yaml, POST /v1/authorizations/{id}/captures"
        case .adjust: "docs/openapi-psp.yaml, POST /v1/authorizations/{id}/adjustments"
        case .release: "docs/openapi-psp.yaml, POST /v1/authorizations/{id}/releases"
        case .charge, .chargeRepeat, .chargeOtherBody, .unknownToken: "docs/openapi-psp.yaml, POST /v1/charges"
        case .deletion, .deletionRepeat, .deletionEnds: "docs/openapi-psp.yaml, POST /v1/token-deletions"
        case .pinVerified, .pinContinuation: "docs/integrating/adapters.md#pin"
        case .refund, .refundBounded, .refundReversal, .refundOtherCard:
            "docs/openapi-psp.yaml, POST /v1/authorizations/{id}/refunds"
        case .link, .linkRepeat, .linkOtherBody, .linkClosed, .linkNeverOpened: "docs/integrating/adapters.md#links"
        case .handover, .handoverClosed, .handoverNeverOpened, .handoverTerminal:
            "docs/integrating/adapters.md#hand-overs"
        case .receipt, .receiptRepeat, .receiptOtherTransaction, .receiptEnvelope:
            "docs/openapi-psp.yaml, POST /v1/receipts"
        case .figures, .figuresRepeat, .figuresQuery, .figuresItems: "docs/integrating/adapters.md#figures-of-a-day"
        }
    }

    /// What has to hold before this can be tried.
    var needs: [CheckRule] {
        switch self {
        case .health: []
        case .keys, .queryUnknown, .saleApproved: [.health]
        case .saleAmount, .unknownMembers, .keyRepeat, .keyOtherBody, .query, .idleConnections, .reversal,
            .reversalBefore, .operationUnknown:
            [.saleApproved]
        case .keyRace: [.keyRepeat]
        case .reversalRepeat: [.reversal]
        case .replicas: [.keyRepeat, .keyOtherBody, .query, .reversalBefore]
        case .replicaRace: [.keyRace, .replicas]
        case .restart: [.keyRepeat, .query, .reversalBefore]
        case .capture, .refund: [.saleApproved]
        case .operationID, .operationAmount, .operationRepeat, .operationOtherBody, .operationQuery, .captureBounded,
            .captureOnce, .captureSeveral:
            [.capture]
        case .adjust, .release: [.captureBounded]
        case .refundBounded, .refundReversal, .refundOtherCard: [.refund]
        case .figures: [.saleApproved]
        case .figuresRepeat, .figuresQuery, .figuresItems: [.figures]
        case .charge: [.saleApproved, .saleAmount]
        case .chargeRepeat: [.charge, .query]
        case .chargeOtherBody, .unknownToken, .deletion: [.charge]
        case .deletionRepeat, .deletionEnds: [.deletion]
        case .pinVerified: [.saleApproved]
        case .pinContinuation: [.query, .reversal]
        case .link: [.health]
        case .linkRepeat, .linkOtherBody, .linkClosed: [.link]
        case .linkNeverOpened: [.linkClosed]
        case .handover: [.health]
        case .handoverClosed, .handoverTerminal: [.handover]
        case .handoverNeverOpened: [.handoverClosed]
        case .receipt: [.saleApproved]
        case .receiptRepeat, .receiptOtherTransaction, .receiptEnvelope: [.receipt]
        }
    }
}

/// What came of one rule.
public struct CheckFinding: Codable, Equatable, Sendable {
    public enum Verdict: String, Codable, Sendable {
        case pass, fail
        /// `supports` of the health answer does not name it.
        case notSupported
        /// A rule that it builds on has failed, or the caller has not given what it needs.
        case notTried
    }

    public var rule: CheckRule
    public var verdict: Verdict
    public var text: String
    public var clause: String
    /// What was seen, where it failed; what keeps it from being tried.
    public var note: String?

    init(_ rule: CheckRule, _ verdict: Verdict, _ note: String? = nil) {
        self.rule = rule
        self.verdict = verdict
        text = rule.text
        clause = rule.clause
        self.note = note
    }
}
