// SPDX-License-Identifier: Apache-2.0
import Configuration
import LocalHTTP
import POSAPI
import PaymentValues

/// Who makes a call, and what they may do.
struct Caller: Sendable {
    enum Kind: Sendable {
        /// Speaks for itself.
        case program
        /// Is allowed to speak for tills and speaks for none: it learns what it has to pass on, and has no other power.
        case gateway
        case till
        /// Starts what a backend far away asks for, within `[remote]`.
        case remote
    }

    let kind: Kind
    let principal: Principal
    let roles: Set<Role>
    /// What a gateway and its tills may have at most; `nil` for a program.
    let ceiling: GatewaySettings?
    /// May charge stored cards, and see their tokens: never a till.
    var mayCharge = false
    /// Who may give back what.
    var refunds = RefundSettings()
    /// Backends start payments here, so that names of tills say which are theirs.
    var knowsRemotes = false

    var isTill: Bool { kind == .till || kind == .remote }

    /// Whose transactions it sees in lists and sums; `nil` for all.
    var scope: Principal? { isTill ? principal : nil }

    /// Whether it sees transactions of others.
    var seesAll: Bool { !isTill && roles.contains(.cashier) }

    /// Whether it may know that this principal uses a lane, and with which transaction.
    func mayKnow(_ holder: Principal, on lane: String) -> Bool {
        switch kind {
        case .program: true
        case .gateway: holder.till != nil
        case .till: holder == principal || mayFree([lane], of: holder)
        case .remote: holder == principal
        }
    }

    /// Whether it may end what a backend has begun on lanes of its own before a card is read: whoever sells there needs them.
    func mayFree(_ lanes: [String], of holder: Principal) -> Bool {
        guard knowsRemotes, holder.till?.isRemote == true, roles.contains(.cashier) else { return false }
        switch kind {
        case .program: return true
        case .till: return ceiling?.lanes.map { !$0.isDisjoint(with: lanes) } ?? true
        case .gateway, .remote: return false
        }
    }

    /// A till asks for what its gateway may ask for, and no more.
    func require(_ type: TransactionType) throws(ErrorBody) {
        guard ceiling?.types.contains(type) ?? true else { throw ErrorBody(.authRoleMissing, field: "type") }
    }

    /// What the shop lets this caller give back, before the amount is looked at.
    func require(refund request: TransactionRequest) throws(ErrorBody) {
        if request.of == nil { try require(refunds.unlinked, field: "type") }
        if request.card == .any { try require(refunds.otherCard, field: "card") }
    }

    private func require(_ permission: RefundSettings.Permission, field: String) throws(ErrorBody) {
        switch permission {
        case .never: throw ErrorBody(.refundNotAllowed, field: field)
        case .admin: guard roles.contains(.admin) else { throw ErrorBody(.authAdminRequired, field: field) }
        case .cashier: break
        }
    }

    /// The most that this caller gives back at a time; `nil` for no limit.
    func refundLimit(in currency: Currency) -> Int64? {
        roles.contains(.admin) ? nil : refunds.cashierMaximum[currency]
    }

    func require(lane: String) throws(ErrorBody) {
        guard ceiling?.lanes?.contains(lane) ?? true else { throw ErrorBody(.laneNotYours, field: "lane") }
    }

    /// A till takes back its own sale while the customer is there, and not later: whoever took over a gateway reaches the
    /// sales of some minutes, not of days.
    ///
    /// - Throws: `reversal.too_late`; nothing about what is on its way, or taken back already.
    func requireReversible(_ transaction: Transaction, at now: Timestamp) throws(ErrorBody) {
        guard let minutes = ceiling?.reversalMinutes, transaction.state == .approved,
            let approved = transaction.history.last(where: { $0.state == .approved })
        else { return }
        guard now < approved.at.advanced(bySeconds: Int64(minutes) * 60) else {
            throw ErrorBody(.reversalTooLate, transaction: transaction.id)
        }
    }

    /// What it sees of events.
    ///
    /// - Parameter standing: lanes that stand alone.
    func view(
        in vocabulary: Int, for audience: Audience, standing: Set<String> = []
    ) -> EventSubscriber.View {
        // A gateway passes on what its tills may see.
        let roles = kind == .gateway ? ceiling?.roles ?? [] : roles
        var view = EventSubscriber.View(
            seesResults: !roles.isDisjoint(with: [.cashier, .admin, .machine]),
            seesPasses: !roles.isDisjoint(with: [.cashier, .admin, .loyalty, .machine]), audience: audience,
            vocabulary: vocabulary)
        view.lanes = ceiling?.lanes
        // A machine that is no cashier sees what its lanes have taken, and nothing of any other.
        if kind == .program, roles.contains(.machine), roles.isDisjoint(with: [.cashier, .admin, .loyalty]) {
            view.lanes = standing
        }
        switch kind {
        case .program: view.scope = .all
        case .gateway: view.scope = .tills
        // One that only watches has no transactions of its own, and sees no results of anybody's.
        case .remote: view.scope = .till(principal.till)
        case .till: view.scope = roles.isDisjoint(with: [.cashier, .loyalty]) ? .all : .till(principal.till)
        }
        return view
    }
}

extension Access {
    static let tillField = "NFC-Tap-On-Behalf-Of"
    static let rolesField = "NFC-Tap-Roles"

    /// Who makes a call: a peer by the kernel's word or, where it is a gateway and names one, a till.
    ///
    /// - Throws: `auth.delegation_refused` for whoever names a till and is no gateway, whatever the call: a name that was
    ///   passed over would make one till act as all.
    func caller(of request: HTTPRequest) throws(ErrorBody) -> Caller {
        let settings = gateway.flatMap { request.peer.isMember(ofGroup: $0.group) ? $0 : nil }
        let named = [Access.tillField, Access.rolesField].first { request.fields.contains($0) }
        var caller: Caller
        if let remote = remoteCaller(request) {
            caller = try remote.get()
        } else if let named {
            guard let settings else { throw ErrorBody(.authDelegationRefused, field: named) }
            caller = try till(request, settings)
        } else {
            let roles = roles(of: request.peer)
            let isGateway = roles.isEmpty && settings != nil
            caller = Caller(
                kind: isGateway ? .gateway : .program, principal: Principal(uid: request.peer.userID), roles: roles,
                ceiling: isGateway ? settings : nil, mayCharge: mayCharge(request.peer))
        }
        caller.refunds = refunds
        caller.knowsRemotes = remote != nil
        // A transaction belongs to its client's connections, so that a connection belongs to one client.
        guard request.connection.belongs(to: caller.principal.description) else {
            throw ErrorBody(.requestInvalidParameter, field: Access.tillField)
        }
        return caller
    }

    /// Whoever speaks for a backend; `nil` for everybody else.
    private func remoteCaller(_ request: HTTPRequest) -> Result<Caller, ErrorBody>? {
        guard let remote else { return nil }
        let name = request.fields.only(Access.tillField).flatMap(TillName.init)
        let isNamed = name?.isRemote == true && request.peer.isMember(ofGroup: remote.group)
        guard isNamed || remoteOnly(request.peer) != nil else { return nil }
        return Result { () throws(ErrorBody) in
            guard let name, name.isRemote else { throw ErrorBody(.authDelegationRefused, field: Access.tillField) }
            var roles: Set<Role> = [.cashier, .monitor]
            if remote.types.contains(.loyalty) { roles.insert(.loyalty) }
            if request.fields.contains(Access.rolesField) { roles.formIntersection(try request.namedRoles()) }
            var ceiling = GatewaySettings(group: remote.group)
            (ceiling.roles, ceiling.lanes, ceiling.types, ceiling.reversalMinutes) = (
                roles, remote.lanes, remote.types, 0
            )
            return Caller(
                kind: .remote, principal: Principal(uid: request.peer.userID, till: name), roles: roles,
                ceiling: ceiling)
        }
    }

    private func till(_ request: HTTPRequest, _ settings: GatewaySettings) throws(ErrorBody) -> Caller {
        guard let text = request.fields.only(Access.tillField), let name = TillName(text) else {
            throw ErrorBody(.requestInvalidParameter, field: Access.tillField)
        }
        // A name that says it is a backend's would be taken for one.
        guard remote == nil || !name.isRemote else { throw ErrorBody(.authDelegationRefused, field: Access.tillField) }
        var roles = try request.namedRoles().intersection(settings.roles)
        // Whoever takes a payment sees how the lanes are.
        if !roles.isEmpty { roles.insert(.monitor) }
        return Caller(
            kind: .till, principal: Principal(uid: request.peer.userID, till: name), roles: roles, ceiling: settings)
    }
}

extension HTTPRequest {
    /// Roles that a gateway gives its till; `monitor` where it says nothing.
    fileprivate func namedRoles() throws(ErrorBody) -> Set<Role> {
        guard fields.contains(Access.rolesField) else { return [.monitor] }
        let invalid = ErrorBody(.requestInvalidParameter, field: Access.rolesField)
        guard let text = fields.only(Access.rolesField) else { throw invalid }
        var roles: Set<Role> = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let role = Role(rawValue: word.filter { $0 != " " && $0 != "\t" }) else { throw invalid }
            roles.insert(role)
        }
        guard roles.isDisjoint(with: [.admin, .machine]) else {
            throw ErrorBody(.authDelegationRefused, field: Access.rolesField)
        }
        return roles
    }
}
