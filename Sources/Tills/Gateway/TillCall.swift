// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import POSAPI
import PaymentValues

/// A call of a till, and what the till needs for it.
enum TillCall: Equatable, Sendable {
    /// The till about itself.
    case ownTill
    case newToken
    case events
    case display
    /// A customer at the display wants the receipt at an address.
    case displayReceipt
    /// The receipt's QR code as a picture.
    case receiptPicture(TransactionID)
    case create
    /// Goes to the daemon as it is.
    case passOn

    /// - Returns: `nil` for the one call without a token.
    init?(_ head: RequestGuard.Head) throws(RequestGuard.Refusal) {
        let path = Array(head.path.dropFirst())
        let route = TillCall.route(path)
        guard let route else {
            throw RequestGuard.Refusal(.requestUnknownPath, field: FormerPath.remedy(path.first))
        }
        guard route.methods.contains(head.method) else {
            var refusal = RequestGuard.Refusal(.requestMethodNotAllowed)
            refusal.allowedMethods = route.methods.map(\.rawValue)
            throw refusal
        }
        switch (path.first, path.count) {
        case ("pairings", _): return nil
        case ("till", 1): self = .ownTill
        case ("till", _): self = .newToken
        case ("events", _): self = .events
        case ("display", 1): self = .display
        case ("display", _): self = .displayReceipt
        case ("transactions", 3) where path[2] == "receipt.svg":
            guard let id = TransactionID(path[1]) else { throw RequestGuard.Refusal(.transactionUnknown) }
            self = .receiptPicture(id)
        case ("transactions", 1) where head.method == .post: self = .create
        default: self = .passOn
        }
    }

    /// What the daemon's contract has and a browser may reach: terms, batches and metrics are not among it.
    private static func route(_ path: [String]) -> (methods: [HTTPMethod], Void)? {
        switch (path.first, path.count) {
        case ("pairings", 1): ([.post], ())
        case ("till", 1), ("events", 1), ("display", 1): ([.get], ())
        case ("till", 2) where path[1] == "token": ([.post], ())
        case ("display", 2) where path[1] == "receipt": ([.post], ())
        case ("status", 1), ("lanes", 1), ("lanes", 2), ("openapi.yaml", 1), ("help", 1), ("help", 2), ("terms", 1),
            ("queue", 1), ("totals", 1), ("days", 2), ("open-items", 1):
            ([.get], ())
        case ("lanes", 3) where path[2] == "last": ([.get], ())
        case ("lanes", 3) where path[2] == "prepare": ([.post], ())
        // With `key`, for what the till itself has begun, or will not begin.
        case ("transactions", 1): ([.get, .post, .delete], ())
        case ("days", 1): ([.get, .post], ())
        case ("transactions", 2), ("operations", 2): ([.get, .delete], ())
        case ("transactions", 3):
            switch path[2] {
            case "receipt": ([.get, .post], ())
            case "receipt.svg", "operations": ([.get], ())
            case "confirmation", "reversal", "decline", "captures", "adjustments", "releases": ([.post], ())
            default: nil
            }
        case ("queue", 2) where path[1] == "flush": ([.post], ())
        case ("days", 3) where path[2] == "report": ([.get], ())
        default: nil
        }
    }

    /// Roles and lanes as the head names them; `checkRequest` looks at the body of a new transaction.
    func checkRights(of till: Till, _ head: RequestGuard.Head) throws(RequestGuard.Refusal) {
        switch self {
        case .ownTill, .newToken: return
        case .display, .displayReceipt:
            try require(till, [.display])
            return try checkLane(head.query.first { $0.name == "lane" }?.value, till)
        case .events: try require(till, [.cashier, .loyalty, .monitor])
        case .create: try require(till, [.cashier, .loyalty])
        case .receiptPicture: try require(till, [.cashier])
        case .passOn:
            try require(till, Self.roles(for: Array(head.path.dropFirst()), head.method))
            if head.path.count >= 3, head.path[1] == "lanes" { try checkLane(head.path[2], till) }
            for item in head.query where item.name == "lane" { try checkLane(item.value, till) }
        }
    }

    private static func roles(for path: [String], _ method: HTTPMethod) -> Set<TillRole> {
        switch path.first {
        // The day is the whole shop's.
        case "days" where method == .post: [.manager]
        case "status", "openapi.yaml", "help", "terms": [.cashier, .loyalty, .monitor]
        case "lanes" where path.count < 3: [.cashier, .loyalty, .monitor]
        case "lanes" where path.last == "prepare": [.cashier, .loyalty]
        case "transactions" where path.count <= 2: [.cashier, .loyalty]
        default: [.cashier]
        }
    }

    private func require(_ till: Till, _ roles: Set<TillRole>) throws(RequestGuard.Refusal) {
        guard roles.isDisjoint(with: till.powers) else { return }
        throw refusal(.authRoleMissing, till)
    }

    private func checkLane(_ lane: String?, _ till: Till) throws(RequestGuard.Refusal) {
        guard let lane, !till.lanes.contains(lane) else { return }
        throw refusal(.laneNotYours, till, field: "lane")
    }

    private func refusal(_ code: ErrorCode, _ till: Till, field: String? = nil) -> RequestGuard.Refusal {
        var refusal = RequestGuard.Refusal(code, field: field)
        refusal.till = till.till
        return refusal
    }
}

/// A lane of the daemon, as far as it decides where a request without a lane would go.
struct KnownLane: Equatable, Sendable {
    var name: String
    var groups: [String]
}

extension Till {
    /// Type and lanes of a new transaction.
    ///
    /// - Parameter lanes: the daemon's, in its order: a request without a lane goes to the first that is free.
    func checkRequest(_ request: TransactionRequest, _ known: [KnownLane]) throws(RequestGuard.Refusal) {
        func refusal(_ code: ErrorCode, _ field: String) -> RequestGuard.Refusal {
            var refusal = RequestGuard.Refusal(code, field: field)
            refusal.till = till
            return refusal
        }
        guard types.contains(request.type) else { throw refusal(.authRoleMissing, "type") }
        // Money that goes to whatever card is held is given back by few.
        if request.type == .refund, request.of == nil, !powers.contains(.manager) {
            throw refusal(.authRoleMissing, "of")
        }
        // A refund of a payment without its card needs no lane.
        guard request.asksForCard else { return }
        if let group = request.group {
            let members = known.filter { $0.groups.contains(group) }
            guard !members.isEmpty, members.allSatisfy({ lanes.contains($0.name) }) else {
                throw refusal(.laneNotYours, "group")
            }
        } else if let named = request.lanes {
            guard named.allSatisfy({ lanes.contains($0) }) else { throw refusal(.laneNotYours, "lanes") }
        } else if let lane = request.lane {
            guard lanes.contains(lane) else { throw refusal(.laneNotYours, "lane") }
        } else if known.first?.name != lanes.first || known.contains(where: { !lanes.contains($0.name) }) {
            // The daemon would take its first free lane, and the customer would stand at the wrong reader.
            throw refusal(.requestMissingField, "lane")
        }
    }
}
